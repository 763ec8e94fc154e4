"""The one engine of all preparations: raw files in, a folder that fairseq trains on out.

Steps: check the destination and what a recipe needs; write down what decides the folder's content;
read every file once; cut the input into chunks; let several processes work on them; write the
binary streams, split by split; write the manifest, last. Finished chunks are kept until the end, so
that a preparation that was killed goes on where it was, and the folder's bytes do not depend on the
number of workers. A `Recipe` says what one kind of preparation does in each step.
"""

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from tqdm import tqdm

from ..data.manifest import Manifest
from ..data.manifests import read_manifest
from .chunks import Chunk, EncodedChunk, write_rows
from .shards import WorkLayout, carry_out, is_settled
from .split_writer import SplitWriter, report_unknown
from .workers import run_jobs
from .workspace import check_destination, finish

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChunkInput:
    """The input of one chunk; all parts of one split come one after another."""

    split: str
    count: int  # of lines, examples or questions
    rows: Iterable[Any] | None = None  # what a worker reads, as JSON
    source: Any = None  # where a worker reads it, in place of rows


@dataclass(frozen=True)
class ChunkStep:
    """Work of several processes on all chunks."""

    title: str  # of the progress bar
    # makes a chunk's file; a function of a module, with what it needs bound to it
    work: Callable[[Chunk], None]
    made: Callable[[Chunk], Path]  # chunk -> that file


class Recipe(Protocol):
    """What differs between kinds of preparation."""

    options: Any  # with ``destdir``, ``workers``, ``overwrite``, ``shard`` and ``merge``
    unit: str  # what the parts of a split are counted in
    unknown: str  # what stands for what a dictionary lacks
    remedy: str  # what may help where it lacks much
    encodes_apart: bool  # whether a chunk can be finished before all others are begun

    def inputs(self) -> Iterable[Path]:
        """Return the files that are read; none of them may be written over."""

    def describe(self) -> Manifest:
        """Check options and load tools; write down what decides the folder's content."""

    def scan(self, manifest: Any) -> Any:
        """Read every file once, refuse what cannot be used; return the manifest with its result."""
        return manifest

    def parts(self) -> Iterator[ChunkInput]:
        """Yield the input of every chunk."""

    def steps(self, chunks: list[Chunk], layout: WorkLayout) -> Iterator[ChunkStep]:
        """Yield what workers do, one after the other; work between them is done here."""

    def begin(self, chunks: list[Chunk], manifest: Any, folder: Path) -> Any:
        """Write the folder's own files, such as dictionaries; return the manifest with theirs."""

    def sizes(self, split: str) -> Mapping[str, int]:
        """Return the streams of a split, each with the number of its ids."""

    def load(self, chunk: Chunk) -> EncodedChunk:
        """Read what a worker made of a chunk, in the streams of its split."""

    def summarize(self, split: str, writer: SplitWriter) -> dict[str, Any]:
        """Return what the manifest says of a split that is written."""

    def end(self, chunks: list[Chunk], manifest: Manifest, folder: Path) -> None:
        """Write what follows from all splits, and check it, if there is anything."""
        return

    def describe_split(self, counts: Mapping[str, Any]) -> str:
        """Say what a split holds, for the log."""

    def warn(self, manifest: Manifest, folder: Path) -> None:
        """Log what the user should look at in a finished folder."""


def prepare(recipe: Recipe) -> Manifest:
    """Prepare a folder; return its manifest (at once, when it is already finished)."""
    folder = Path(recipe.options.destdir)
    check_destination(folder, recipe.inputs())
    manifest = recipe.describe()
    if is_settled(recipe.options, manifest):
        return read_manifest(folder, type(manifest))
    manifest = recipe.scan(manifest)
    return carry_out(recipe.options, manifest, partial(make, recipe, manifest))


def make(recipe: Recipe, manifest: Manifest, layout: WorkLayout) -> None:
    """Do the work in a folder that is ours, and save the complete manifest; see `carry_out`."""
    chunks = list(plan(recipe, layout))
    for step in recipe.steps(chunks, layout):
        carry(step, chunks, recipe)
    if layout.is_part:
        return
    manifest = binarize(recipe, chunks, manifest, layout.folder)
    finish(layout.folder, manifest)
    report(recipe, manifest, layout.folder)


def plan(recipe: Recipe, layout: WorkLayout) -> Iterator[Chunk]:
    """Yield the chunks that are of this part of the preparation; write their rows."""
    numbers: Counter[str] = Counter()
    for place, part in enumerate(recipe.parts()):
        name = f"{part.split}.{numbers[part.split]:06d}"
        numbers[part.split] += 1
        if not layout.owns(place):
            continue
        stem = layout.place(place) / name
        encoded = (stem.parent if recipe.encodes_apart else layout.work) / f"{name}.safetensors"
        chunk = Chunk(part.split, part.count, stem, encoded, part.source)
        if part.rows is not None and not chunk.file().is_file():
            write_rows(chunk.file(), part.rows)
        yield chunk


def carry(step: ChunkStep, chunks: list[Chunk], recipe: Recipe) -> None:
    """Let workers make what is not there yet."""
    todo = [chunk for chunk in chunks if not step.made(chunk).is_file()]
    jobs = run_jobs(
        step.work,
        todo,
        recipe.options.workers,
        title=step.title,
        sizes=[chunk.count for chunk in todo],
        unit=recipe.unit,
    )
    deque(jobs, maxlen=0)


def binarize(recipe: Recipe, chunks: list[Chunk], manifest: Manifest, folder: Path) -> Manifest:
    """Write the folder's files; return the manifest with what they hold."""
    manifest = recipe.begin(chunks, manifest, folder)
    splits, alignment = {}, {}
    with tqdm(total=len(chunks), desc="binarise", unit=" chunks") as bar:
        for split, some in groupby(chunks, key=lambda chunk: chunk.split):
            prefix = folder / manifest.prefix(split)
            writer = SplitWriter(prefix, recipe.sizes(split), manifest.split_texts(split))
            for chunk in some:
                writer.add(recipe.load(chunk))
                bar.update(1)
            writer.close()
            splits[split] = recipe.summarize(split, writer)
            alignment[split] = dict(sorted(writer.notes.items()))
    manifest = replace(manifest, splits=splits, alignment=alignment)
    recipe.end(chunks, manifest, folder)
    return manifest


def report(recipe: Recipe, manifest: Manifest, folder: Path) -> None:
    """Log what the folder holds, and what was dropped, repaired or is unknown."""
    for split, counts in manifest.splits.items():
        notes = {name: count for name, count in manifest.alignment[split].items() if count}
        described = recipe.describe_split(counts)
        logger.info("%s: %s%s", split, described, f"; {notes}" if notes else "")
        report_unknown(split, counts["unknown"], recipe.unknown, recipe.remedy)
    recipe.warn(manifest, folder)

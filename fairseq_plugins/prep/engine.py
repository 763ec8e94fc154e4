"""The engine of all preparations: from raw files to a folder for fairseq training.

Steps: check the destination and the recipe's needs; describe all that decides the folder's content;
read every file once; cut the input into chunks; encode them in several processes; write the binary
streams, split by split; write the manifest, last. Finished chunks stay until the end, so a killed
preparation continues where it stopped, and the folder's bytes do not depend on the number of
workers. A `Recipe` defines each step for one kind of preparation.
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

from ..data.manifest import M, Manifest
from ..data.manifests import read_manifest
from .chunks import Chunk, EncodedChunk, write_rows
from .shards import WorkLayout, carry_out, is_settled
from .split_writer import SplitWriter, report_unknown
from .workers import run_jobs
from .workspace import check_destination, finish

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChunkInput:
    """The input of one chunk; all parts of one split are consecutive."""

    split: str
    count: int  # of lines, examples or questions
    rows: Iterable[Any] | None = None  # input of a worker, as JSON
    source: Any = None  # source of the input, in place of rows


@dataclass(frozen=True)
class ChunkStep:
    """Work of several processes on all chunks."""

    title: str  # of the progress bar
    # makes a chunk's file; a module-level function with bound arguments
    work: Callable[[Chunk], None]
    made: Callable[[Chunk], Path]  # chunk -> its file


class Recipe(Protocol):
    """The parts that differ between kinds of preparation."""

    options: Any  # with ``destdir``, ``workers``, ``overwrite``, ``shard`` and ``merge``
    unit: str  # what a split's size counts
    unknown: str  # symbol of entries that a dictionary lacks
    remedy: str  # advice if a dictionary lacks many
    encodes_apart: bool  # whether a chunk can be finished before all others begin

    def inputs(self) -> Iterable[Path]:
        """Return the input files, which must not be overwritten."""

    def describe(self) -> Manifest:
        """Check options, load tools, and return a manifest of what decides the content."""

    def scan(self, manifest: Any) -> Any:
        """Read every file once, refuse unusable ones; return the manifest with the result."""
        return manifest

    def parts(self) -> Iterator[ChunkInput]:
        """Yield the input of every chunk."""

    def steps(self, chunks: list[Chunk], layout: WorkLayout) -> Iterator[ChunkStep]:
        """Yield the workers' steps in order; code between them runs in this process."""

    def begin(self, chunks: list[Chunk], manifest: Any, folder: Path) -> Any:
        """Write the folder's own files, such as dictionaries; return the new manifest."""

    def sizes(self, split: str) -> Mapping[str, int]:
        """Return the streams of a split, each with the number of its ids."""

    def load(self, chunk: Chunk) -> EncodedChunk:
        """Read a worker's result for a chunk, in the streams of its split."""

    def summarize(self, split: str, writer: SplitWriter) -> dict[str, Any]:
        """Return the manifest's entry of a written split."""

    def end(self, chunks: list[Chunk], manifest: Any, folder: Path) -> None:
        """Write and check files that depend on all splits, if any."""
        return

    def add_folders(self, chunks: list[Chunk], manifest: Any, layout: WorkLayout) -> None:
        """Write further folders into the folder, if any."""
        return

    def describe_split(self, counts: Mapping[str, Any]) -> str:
        """Describe a split for the log."""

    def warn(self, manifest: Any, folder: Path) -> None:
        """Log warnings about a finished folder."""


def prepare(recipe: Recipe) -> Manifest:
    """Prepare a folder; return its manifest (at once, if the folder is finished)."""
    folder = Path(recipe.options.destdir)
    check_destination(folder, recipe.inputs())
    manifest = recipe.describe()
    if is_settled(recipe.options, manifest):
        return read_manifest(folder, type(manifest))
    manifest = recipe.scan(manifest)
    return carry_out(recipe.options, manifest, partial(make, recipe, manifest))


def make(recipe: Recipe, manifest: Manifest, layout: WorkLayout) -> None:
    """Do the work in a locked folder, and save the complete manifest; see `carry_out`."""
    chunks = list(plan(recipe, layout))
    for step in recipe.steps(chunks, layout):
        carry(step, chunks, recipe)
    if layout.is_part:
        return
    manifest = binarize(recipe, chunks, manifest, layout.folder)
    recipe.add_folders(chunks, manifest, layout)
    finish(layout.folder, manifest)
    report(recipe, manifest, layout.folder)


def plan(recipe: Recipe, layout: WorkLayout) -> Iterator[Chunk]:
    """Yield the chunks of this part of the preparation; write their rows."""
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
    """Run a step for chunks without its result."""
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
    """Write the folder's files; return the manifest with their content."""
    manifest = recipe.begin(chunks, manifest, folder)
    manifest = write_splits(recipe, chunks, manifest, folder)
    recipe.end(chunks, manifest, folder)
    return manifest


def write_splits(recipe: Recipe, chunks: list[Chunk], manifest: M, folder: Path) -> M:
    """Write the splits of chunks; return the manifest with their content."""
    splits, alignment = dict(manifest.splits), dict(manifest.alignment)
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
    return replace(manifest, splits=splits, alignment=alignment)


def report(recipe: Recipe, manifest: Manifest, folder: Path) -> None:
    """Log the folder's content, and what was dropped, repaired or is unknown."""
    for split, counts in manifest.splits.items():
        notes = {name: count for name, count in manifest.alignment[split].items() if count}
        described = recipe.describe_split(counts)
        logger.info("%s: %s%s", split, described, f"; {notes}" if notes else "")
        report_unknown(split, counts["unknown"], recipe.unknown, recipe.remedy)
    recipe.warn(manifest, folder)

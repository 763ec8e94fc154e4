"""Prepare SQuAD files for question answering: JSON in, a prepared folder out.

Steps: check options, vocabulary and files; read every file once, and refuse what cannot be used;
write the paragraphs in chunks; annotate and cut the chunks, place the answers (several processes);
write binary streams, texts and the list of answers that could not be placed exactly; write the
manifest, last. Finished chunks are kept until the end, so a preparation that was killed goes on
where it was, and the folder's bytes do not depend on the number of workers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial
from itertools import count, groupby
from pathlib import Path

from tqdm import tqdm

from ...corpora.own_files import log_unread
from ...corpora.squad import Paragraph, read
from ...data.manifest import tool_versions
from ...data.text_manifest import MISALIGNED, SPANS, TARGETS, VOCABULARY, WINDOWS, TextManifest
from ...files import sha256
from ...messages import quoted
from ...pretrained.directory import resolve_directory
from ...text.annotators import load_annotator
from ...text.squad_encoder import check_visible
from ...text.wordpiece import WordPieces
from .. import squad_chunks
from ..shards import Layout, carry_out, is_settled
from ..squad_binarize import SquadSplitWriter
from ..squad_chunks import SquadChunk, encode_chunk, start_encoding
from ..squad_options import OFFICIAL, SquadOptions
from ..text_binarize import TextWriter
from ..workers import run_jobs
from ..workspace import check_destination, finish
from .text import TOOLS, Tools, load_tools, report

logger = logging.getLogger(__name__)

DATASET, METRIC = "squad", "f1"


def prepare(options: SquadOptions) -> TextManifest:
    """Prepare a folder; return its manifest (at once, when it is already finished).

    Raises:
        FileNotFoundError, ValueError: bad input or options; nothing finished-looking is left.
        OSError: the folder cannot be written.
    """
    folder, files = Path(options.destdir), options.input_files()
    vocabulary = resolve_directory(options.pretrained) / VOCABULARY
    check_destination(folder, [*files.values(), *([vocabulary] if vocabulary.is_file() else [])])
    log_unread(options.raw_dir, OFFICIAL, files)
    manifest, tools = describe(options, files)
    if files.keys() == {"train"}:
        logger.warning("%s: no validation split: give --valid-file", folder)
    if is_settled(options, manifest):
        return TextManifest.load(folder)
    found = scan(options, files, tools.encoder.wordpieces)
    return carry_out(options, manifest, partial(make, options, found, manifest, tools))


def describe(options: SquadOptions, files: dict[str, Path]) -> tuple[TextManifest, Tools]:
    """Load the tools, and write down what decides the folder's content, before the work."""
    names, tokenize = options.annotation_names, options.tokenize
    annotator = load_annotator(names, options.spacy_model, tokenize)
    tools, settings, vocabulary = load_tools(options.pretrained, tokenize, names, annotator)
    inputs = {split: {"file": str(path), "sha256": sha256(path)} for split, path in files.items()}
    manifest = TextManifest(
        *(DATASET, TARGETS[SPANS], SPANS, [], "", METRIC, 2),
        tokenizer=settings,
        tokenize=tokenize,
        annotations=list(names),
        annotator=annotator.identity() if annotator is not None else {},
        inputs=inputs | {"vocabulary": vocabulary},
        options=options.recorded(),
        versions=tool_versions(TOOLS),
        windows={name: getattr(options, name) for name in WINDOWS},
    )
    return manifest, tools


def scan(
    options: SquadOptions, files: dict[str, Path], pieces: WordPieces
) -> dict[str, tuple[Paragraph, ...]]:
    """Read every file, and refuse what the options do not allow.

    Raises:
        ValueError: see `squad.read` and `check_visible`; an answer that does not stand at its
            start, or a question that is too long, where the options say so.
    """
    found = {}
    for split, path in tqdm(files.items(), desc="check", unit=" files"):
        found[split] = read(path).paragraphs
        for paragraph in found[split]:
            check_visible(pieces, paragraph)
            if options.on_misalignment == "error":
                check_starts(paragraph)
            if options.long_questions == "error":
                check_lengths(paragraph, pieces, options.max_query_length)
    return found


def check_starts(paragraph: Paragraph) -> None:
    """Refuse answers that do not stand where they should.

    Raises:
        ValueError: with place, id, and what stands there.
    """
    for place, question in paragraph.named():
        for number, answer in enumerate(question.answers or ()):
            if not answer.stands_in(paragraph.context):
                start = max(answer.start, 0)
                there = paragraph.context[start : start + len(answer.text)]
                raise ValueError(
                    f"{place}: answers[{number}] is {quoted(answer.text)}, but at "
                    f"answer_start {answer.start} the context says {quoted(there)}; "
                    "--on-misalignment repair takes the nearest occurrence, skip passes over it"
                )


def check_lengths(paragraph: Paragraph, pieces: WordPieces, longest: int) -> None:
    """Refuse questions of too many wordpieces.

    Raises:
        ValueError: with place, id and length.
    """
    for place, question in paragraph.named():
        count = len(pieces.encode_text(question.text)[0])
        if count > longest:
            raise ValueError(
                f"{place} has {count} wordpieces, and --max-query-length is {longest}; "
                "--long-questions truncate cuts such questions"
            )


def make(
    options: SquadOptions,
    found: dict[str, tuple[Paragraph, ...]],
    manifest: TextManifest,
    tools: Tools,
    layout: Layout,
) -> None:
    """Do the work in a folder that is ours, and complete and save the manifest; see `carry_out`."""
    folder = layout.folder
    jobs = list(write_chunks(found, layout))
    encode(options, jobs, tools)
    if layout.is_part:
        return
    tools.vocabulary.save(folder / VOCABULARY)
    misaligned, pieces = TextWriter(folder / MISALIGNED), len(tools.vocabulary)
    with tqdm(total=len(jobs), desc="binarise", unit=" chunks") as bar:
        for split, chunks in groupby(jobs, key=lambda job: job.split):
            writer = SquadSplitWriter(folder, split, manifest, misaligned=misaligned, pieces=pieces)
            for chunk in chunks:
                writer.add(chunk)
                bar.update(1)
            writer.close()
    misaligned.close()
    check_not_empty(manifest, folder)
    finish(folder, manifest)
    report(manifest, folder)
    listed = (folder / MISALIGNED).read_bytes().count(b"\n")
    if listed:
        logger.info("%s lists %d remarks on answers, by id", folder / MISALIGNED, listed)


def write_chunks(found: dict[str, tuple[Paragraph, ...]], layout: Layout) -> Iterator[SquadChunk]:
    """Write every split's paragraphs in chunks, as far as they are of this part."""
    size, overall = squad_chunks.CHUNK_PARAGRAPHS, count()
    for split, paragraphs in found.items():
        for number, begin in enumerate(range(0, len(paragraphs), size)):
            if layout.owns(place := next(overall)):
                some = paragraphs[begin : begin + size]
                yield SquadChunk.at(layout.place(place), split, number, some)


def encode(options: SquadOptions, jobs: list[SquadChunk], tools: Tools) -> None:
    """Annotate, cut and place all chunks that are not there yet."""
    todo = [job for job in jobs if not job.encoded.is_file()]
    repair = options.on_misalignment == "repair"
    start = partial(start_encoding, tools.encoder, options.limits, repair)
    sizes = [job.count for job in todo]
    for _ in run_jobs(
        encode_chunk, todo, options.workers, start, title="encode", sizes=sizes, unit="questions"
    ):
        pass


def check_not_empty(manifest: TextManifest, folder: Path) -> None:
    """Refuse a split of which nothing is left.

    Raises:
        ValueError: all its questions were left out.
    """
    for split, counts in manifest.splits.items():
        if not counts["examples"]:
            raise ValueError(
                f"{folder}: no question of split {split!r} is left: none of its answers could be "
                "placed in its context"
            )

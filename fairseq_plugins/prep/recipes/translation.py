"""Prepare parallel text for translation: raw lines in, a folder that fairseq trains on out.

Steps: check models and files; annotate chunks of lines (several processes); learn the subword
model; cut chunks into subwords with features (several processes); build dictionaries; write binary
streams; write the manifest, last. Finished chunks are kept until the end, so a preparation that
was killed goes on where it was, and the folder's bytes do not depend on the number of workers.
"""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ...corpora.parallel_text import CHUNK_LINES, Scan, check_parallel, scan_conllu, scan_text
from ...data.manifest import Manifest, tool_versions
from ...files import sha256
from ...text import annotators
from .. import chunks as chunk_steps
from .. import unknown
from ..binarize import binarize
from ..chunks import Chunk
from ..like import check_given_folders
from ..options import TranslationOptions
from ..shards import Layout, carry_out, is_settled
from ..subword_models import SubwordModels, check_given
from ..workers import START_METHOD, run_jobs
from ..workspace import check_destination, finish

logger = logging.getLogger(__name__)

TOOLS = ("sacremoses", "subword-nmt", "sentencepiece", "spacy", "numpy")
ESCAPED_SHARE = 0.01
FAILED_SHARE = 0.1  # of lines whose annotation is of other characters: more is no accident


def prepare(options: TranslationOptions) -> Manifest:
    """Prepare a folder; return its manifest (at once, when it is already finished).

    Raises:
        FileNotFoundError, ValueError: bad input or options; nothing finished-looking is left.
        OSError: the folder cannot be written.
    """
    folder = Path(options.destdir)
    files = options.input_files()
    given = options.given_models()
    texts = [path for sides in files.values() for path in sides.values()]
    check_destination(folder, [*texts, *given.values()])
    check_given(options)
    annotator = load_annotator(options)
    check_given_folders(options, describe(options, {}, annotator).annotator_id)
    scans = scan_inputs(options, files)
    manifest = describe(options, scans, annotator)
    if is_settled(options, manifest):
        return Manifest.load(folder)
    return carry_out(options, manifest, partial(make, options, scans, annotator, manifest))


def make(
    options: TranslationOptions,
    scans: dict[str, dict[str, Scan]],
    annotator: Any,
    manifest: Manifest,
    layout: Layout,
) -> None:
    """Do the work in a folder that is ours, and complete and save the manifest; see `carry_out`."""
    folder = layout.folder
    jobs = plan(options, scans, layout)
    annotate(options, jobs, annotator)
    if layout.is_part and not options.cuts_at_once:
        return
    models = SubwordModels.obtain(options, jobs, layout.work, folder)
    encode(options, jobs, models)
    if layout.is_part:
        return
    binarize(options, jobs, models, manifest, folder)
    finish(folder, manifest)
    report(manifest, folder)


def load_annotator(options: TranslationOptions) -> Any:
    """Load what tags and parses the source, or None where nothing does.

    A pipeline beside given annotations is for raw text later on: that it is there is seen now.
    """
    if not (options.needs_spacy or (options.annotated and options.spacy_model)):
        return None
    found = annotators.load_annotator(options.layers, options.spacy_model)
    return found if options.needs_spacy else None


def scan_inputs(
    options: TranslationOptions, files: dict[str, dict[str, Path]]
) -> dict[str, dict[str, Scan]]:
    """Check the content of every input file; return split -> side -> scan."""
    total = sum(path.stat().st_size for sides in files.values() for path in sides.values())
    with tqdm(total=total, desc="check", unit=" bytes", unit_scale=True) as bar:
        scans = {
            split: {
                side: scan_conllu(path, bar.update)
                if side == "conllu"
                else scan_text(path, options.max_characters, bar.update)
                for side, path in sides.items()
            }
            for split, sides in files.items()
        }
    for split, sides in scans.items():
        _check_split(split, sides, options)
    return scans


def _check_split(split: str, sides: dict[str, Scan], options: TranslationOptions) -> None:
    """Refuse unequal or empty files, and valid or test lines that are too long."""
    for side, scan in sides.items():
        if options.tokenizer == "moses" and scan.escaped > ESCAPED_SHARE * scan.lines:
            logger.warning(
                "%s: %d of %d lines hold Moses entities (&apos; …): was it tokenised before? Then "
                "give --tokenizer pretokenized",
                *(scan.path, scan.escaped, scan.lines),
            )
        check_parallel(sides["source"], scan, "sentences" if side == "conllu" else "lines")
        if scan.overlong and not split.startswith("train"):
            number, length = scan.overlong
            raise ValueError(
                f"{scan.path}:{number}: {length} characters, more than --max-characters "
                f"{options.max_characters}; {split} lines are never dropped: split the line"
            )


def describe(
    options: TranslationOptions, scans: dict[str, dict[str, Scan]], annotator: Any
) -> Manifest:
    """Write down what decides the folder's content, before the work."""
    identity: dict[str, str] = {}
    if annotator is not None:
        identity = annotator.identity()
    elif options.annotated:
        identity = {"name": "conllu", "version": "-"}
        if model := options.spacy_model:  # for raw text
            from ...text.annotate import recorded_name

            identity["model"] = recorded_name(model)
    inputs: dict[str, dict[str, Any]] = {
        f"{split}.{side}": {"file": str(scan.path), "sha256": scan.sha256, "lines": scan.lines}
        for split, sides in scans.items()
        for side, scan in sides.items()
    }
    for name, path in options.given_models().items():
        inputs[name] = {"file": str(path), "sha256": sha256(path)}
    return Manifest(
        source_lang=options.source_lang,
        target_lang=options.target_lang,
        features=list(options.feature_names),
        segmentation={},
        annotator=identity,
        inputs=inputs,
        options=options.recorded(),
        versions=tool_versions(TOOLS),
        heads=options.parse,
    )


def plan(
    options: TranslationOptions, scans: dict[str, dict[str, Scan]], layout: Layout
) -> list[Chunk]:
    """Cut every split into chunks; return those that are of this part."""
    numbered = [
        (split, number)
        for split, sides in scans.items()
        for number in range(len(sides["source"].offsets))
    ]
    return [
        chunk_of(options, split, number, scans[split], (layout.place(place), layout.work))
        for place, (split, number) in enumerate(numbered)
        if layout.owns(place)
    ]


def chunk_of(
    options: TranslationOptions,
    split: str,
    number: int,
    sides: dict[str, Scan],
    folders: tuple[Path, Path],
) -> Chunk:
    """Describe a split's ``number``-th chunk.

    Args:
        options: of the preparation.
        split, number: which chunk.
        sides: the split's files.
        folders: of chunks that are made on their own, and of those that need all others first.
    """
    places = {
        side: (scan.path, scan.offsets[number], scan.line_numbers[number])
        for side, scan in sides.items()
    }
    first, stem = number * CHUNK_LINES, f"{split}.{number:06d}"
    return Chunk(
        *(split, number, first, min(CHUNK_LINES, sides["source"].lines - first)),
        *(places["source"], places.get("target"), places.get("conllu")),
        annotated=folders[0] / f"{stem}.annotated.jsonl",
        encoded=folders[0 if options.cuts_at_once else 1] / f"{stem}.encoded.npz",
    )


def annotate(options: TranslationOptions, jobs: list[Chunk], annotator: Any) -> None:
    """Tag all chunks that are not there yet."""
    shared = annotator if START_METHOD == "fork" else None
    start = partial(chunk_steps.start_annotating, options, shared)
    _run(chunk_steps.annotate_chunk, jobs, "annotated", options, start, "annotate")


def encode(options: TranslationOptions, jobs: list[Chunk], models: SubwordModels) -> None:
    """Cut all chunks that are not cut yet."""
    start = partial(chunk_steps.start_encoding, options, models.segmenters)
    _run(chunk_steps.encode_chunk, jobs, "encoded", options, start, "subwords")


def _run(function: Any, jobs: list[Chunk], made: str, options, start, title: str) -> None:
    open_jobs = [job for job in jobs if not getattr(job, made).is_file()]
    sizes = [job.count for job in open_jobs]
    for _ in run_jobs(function, open_jobs, options.workers, start, title=title, sizes=sizes):
        pass


def report(manifest: Manifest, folder: Path) -> None:
    """Log what was kept, dropped and repaired."""
    for split, counts in manifest.splits.items():
        notes = {k: v for k, v in manifest.alignment.get(split, {}).items() if v}
        logger.info(
            "%s: %d of %d lines; %s%s",
            split,
            counts["lines"],
            counts["read"],
            ", ".join(f"{n} {stream} tokens" for stream, n in counts["tokens"].items()),
            f"; {notes}" if notes else "",
        )
        unknown.report(split, counts["unknown"], "<unk>")
        if notes.get("failed_lines", 0) > FAILED_SHARE * counts["lines"]:
            logger.warning(
                "%s: THE ANNOTATION OF %d LINES OUT OF %d IS OF OTHER CHARACTERS: is line i that "
                "of line i? --on-misalignment error names the first",
                *(split, notes["failed_lines"], counts["lines"]),
            )
    logger.info("prepared %s", folder)

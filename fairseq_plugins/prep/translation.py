"""Prepare parallel text for translation: raw lines in, a folder that fairseq trains on out.

Steps: check the files; annotate chunks of lines (several processes); learn the subword model;
cut chunks into subwords with features (several processes); build dictionaries; write binary
streams; write the manifest, last. Finished chunks are kept until the end, so a preparation that
was killed goes on where it was, and the folder's bytes do not depend on the number of workers.
"""

from __future__ import annotations

import importlib.metadata
import json
import logging
import shutil
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from . import chunks as chunk_steps
from .binarize import binarize
from .chunks import Chunk
from .corpus import CHUNK_LINES, Scan, check_parallel, scan_conllu, scan_text
from .manifest import FILE_NAME, Manifest, sha256, write_text
from .options import TranslationOptions
from .subword_models import SubwordModels
from .workers import run_jobs

logger = logging.getLogger(__name__)

WORK = ".preparing"
TOOLS = ("fairseq-fixed", "sacremoses", "subword-nmt", "sentencepiece", "spacy", "numpy")


def prepare(options: TranslationOptions) -> Manifest:
    """Prepare a folder; return its manifest (at once, when it is already finished).

    Raises:
        FileNotFoundError, ValueError: bad input or options; nothing finished-looking is left.
    """
    folder = Path(options.destdir)
    scans = scan_inputs(options)
    manifest = describe(options, scans)
    if (folder / FILE_NAME).is_file():
        if _same(Manifest.load(folder), manifest) and not options.overwrite:
            logger.info("%s is already prepared from the same input and options", folder)
            return Manifest.load(folder)
        if not options.overwrite:
            raise ValueError(
                f"{folder} holds another preparation (other input, options or versions); "
                "name another --destdir or give --overwrite"
            )
        (folder / FILE_NAME).unlink()
    work = open_work(folder, manifest)
    jobs = plan(options, scans, work)
    annotate(options, jobs)
    models = SubwordModels.obtain(options, jobs, work, folder)
    encode(options, jobs, models)
    binarize(options, jobs, models, manifest, folder)
    manifest.save(folder)
    shutil.rmtree(work)
    report(manifest, folder)
    return manifest


def scan_inputs(options: TranslationOptions) -> dict[str, dict[str, Scan]]:
    """Check every input file; return split -> side -> scan, sides source, target, conllu."""
    paths: dict[str, dict[str, Path]] = {}
    for split, prefix in options.prefixes().items():
        sides = {"source": Path(f"{prefix}.{options.source_lang}")}
        if not options.only_source:
            sides["target"] = Path(f"{prefix}.{options.target_lang}")
        if options.conllu:
            sides["conllu"] = Path(f"{prefix}.{options.source_lang}.conllu")
        paths[split] = sides
    files = [path for sides in paths.values() for path in sides.values()]
    for path in files:
        if not path.is_file():
            raise FileNotFoundError(f"no file {str(path)!r}")
    total = sum(path.stat().st_size for path in files)
    with tqdm(total=total, desc="check", unit=" bytes", unit_scale=True) as bar:
        scans = {
            split: {
                side: scan_conllu(path, bar.update)
                if side == "conllu"
                else scan_text(path, options.max_characters, bar.update)
                for side, path in sides.items()
            }
            for split, sides in paths.items()
        }
    for split, sides in scans.items():
        _check_split(split, sides, options)
    return scans


def _check_split(split: str, sides: dict[str, Scan], options: TranslationOptions) -> None:
    """Refuse unequal or empty files, and valid or test lines that are too long."""
    for side, scan in sides.items():
        check_parallel(sides["source"], scan, "sentences" if side == "conllu" else "lines")
        if scan.overlong and not split.startswith("train"):
            number, length = scan.overlong
            raise ValueError(
                f"{scan.path}:{number}: {length} characters, more than --max-characters "
                f"{options.max_characters}; {split} lines are never dropped: split the line"
            )


def describe(options: TranslationOptions, scans: dict[str, dict[str, Scan]]) -> Manifest:
    """Write down what decides the folder's content, before the work."""
    annotator: dict[str, str] = {}
    if options.needs_spacy:
        from .annotate import BUNDLED, Annotator

        chunk_steps.Context.annotator = Annotator(options.spacy_model or BUNDLED)
        annotator = chunk_steps.Context.annotator.identity()
    elif "pos" in options.feature_names:
        annotator = {"name": "conllu", "version": "-"}
    return Manifest(
        source_lang=options.source_lang,
        target_lang=options.target_lang,
        features=list(options.feature_names),
        segmentation={},
        annotator=annotator,
        inputs={
            **{
                f"{split}.{side}": {"file": str(s.path), "sha256": s.sha256, "lines": s.lines}
                for split, sides in scans.items()
                for side, s in sides.items()
            },
            **{
                name: {"file": str(path), "sha256": sha256(path)}
                for name, path in options.given_models().items()
            },
        },
        options=options.recorded(),
        versions={tool: importlib.metadata.version(tool) for tool in TOOLS},
    )


def _same(old: Manifest, new: Manifest) -> bool:
    return _fingerprint(old) == _fingerprint(new)


def _fingerprint(manifest: Manifest) -> str:
    parts = (manifest.annotator, manifest.inputs, manifest.options, manifest.versions)
    return json.dumps(parts, sort_keys=True)


def open_work(folder: Path, manifest: Manifest) -> Path:
    """Open the folder of unfinished work; throw away what another preparation left there."""
    work, mark = folder / WORK, folder / WORK / "fingerprint.json"
    if work.is_dir():
        if mark.is_file() and mark.read_text(encoding="utf-8") == _fingerprint(manifest):
            logger.info("going on with the unfinished preparation in %s", folder)
            return work
        shutil.rmtree(work)
    work.mkdir(parents=True)
    write_text(mark, _fingerprint(manifest))
    return work


def plan(options: TranslationOptions, scans: dict[str, dict[str, Scan]], work: Path) -> list[Chunk]:
    """Cut every split into chunks."""
    jobs = []
    for split, sides in scans.items():
        lines = sides["source"].lines
        for number in range(len(sides["source"].offsets)):
            places = {
                side: (scan.path, scan.offsets[number], scan.line_numbers[number])
                for side, scan in sides.items()
            }
            first = number * CHUNK_LINES
            stem = f"{split}.{number:06d}"
            jobs.append(
                Chunk(
                    split,
                    number,
                    first,
                    min(CHUNK_LINES, lines - first),
                    places["source"],
                    places.get("target"),
                    places.get("conllu"),
                    work / f"{stem}.annotated.jsonl",
                    work / f"{stem}.encoded.jsonl",
                )
            )
    return jobs


def annotate(options: TranslationOptions, jobs: list[Chunk]) -> None:
    """Tag all chunks that are not there yet."""
    start = partial(chunk_steps.start_annotating, options, chunk_steps.Context.annotator)
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
    logger.info("prepared %s", folder)

"""Encoded chunks -> dictionaries and binary streams, in one pass per split."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ..data.dictionaries import build_dictionary, load_dictionary, token_ids
from ..data.streams import StreamWriter, stream_prefix
from ..syntax.labels import FEATURES, SPECIAL, SPECIAL_ID
from .chunks import Chunk, read_header, read_rows
from .manifest import Manifest
from .options import TranslationOptions
from .subword_models import SubwordModels

logger = logging.getLogger(__name__)

POSITIONS = 1024  # fairseq's default --max-source-positions


def binarize(
    options: TranslationOptions,
    jobs: list[Chunk],
    models: SubwordModels,
    manifest: Manifest,
    folder: Path,
) -> None:
    """Write dictionaries, inventories and all streams; fill the manifest's counts."""
    dictionaries = write_dictionaries(options, jobs, folder)
    manifest.segmentation = models.settings
    labels: dict[str, Counter[str]] = {name: Counter() for name in options.feature_names}
    with tqdm(total=len(jobs), desc="binarise", unit=" chunks") as bar:
        for split, group in groupby(jobs, key=lambda job: job.split):
            chunks = list(group)
            manifest.splits[split] = write_split(
                options, split, chunks, dictionaries, labels, folder, bar
            )
            manifest.alignment[split] = _outcomes(chunks, manifest.splits[split])
    for name, counts in labels.items():
        FEATURES[name].save(folder / f"dict.{options.source_lang}.{name}.txt", counts)


def write_dictionaries(
    options: TranslationOptions, jobs: list[Chunk], folder: Path
) -> tuple[Any, Any]:
    """Load or build both dictionaries and save them (the target's is None without target)."""
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for job in jobs:
        if job.split.startswith("train"):
            for total, part in zip(counts, read_header(job.encoded)["subwords"]):
                total.update(part)
    given = [options.srcdict, options.tgtdict]
    if options.joined_dictionary:
        given = [options.srcdict or options.tgtdict] * 2
        counts = (counts[0] + counts[1],) * 2
    limits = (
        (options.thresholdsrc, options.nwordssrc),
        (options.thresholdtgt, options.nwordstgt),
    )
    if options.joined_dictionary:
        limits = (limits[0], limits[0])
    made = []
    for i, lang in enumerate((options.source_lang, options.target_lang)):
        if i == 1 and options.only_source and not given[1]:
            made.append(None)
            continue
        found = load_dictionary(given[i]) if given[i] else build_dictionary(counts[i], *limits[i])
        found.save(str(folder / f"dict.{lang}.txt"))
        made.append(found)
    return made[0], made[1]


def write_split(
    options: TranslationOptions,
    split: str,
    chunks: list[Chunk],
    dictionaries: tuple[Any, Any],
    labels: dict[str, Counter[str]],
    folder: Path,
    bar: tqdm,
) -> dict[str, Any]:
    """Write the streams of one split; return its line and token counts."""
    names = [options.source_lang, options.target_lang]
    names += [f"{options.source_lang}.{name}" for name in options.feature_names]
    sizes = [len(d) if d else 0 for d in dictionaries]
    sizes += [len(FEATURES[name]) for name in options.feature_names]
    writers = {
        name: StreamWriter(stream_prefix(folder, split, options.pair, name), size)
        for name, size in zip(names, sizes)
        if not (name == options.target_lang and options.only_source)
    }
    longest = (0, 0)
    for chunk in chunks:
        for row in read_rows(chunk.encoded):
            length = _add_row(row, names, writers, dictionaries, options.feature_names, labels)
            longest = max(longest, (length, writers[names[0]].lines))
        bar.update(1)
    for writer in writers.values():
        writer.close()
    if longest[0] > POSITIONS and not split.startswith("train"):
        logger.warning(
            "%s: sentence %d has %d source tokens; fairseq's default limit is %d: "
            "give --max-source-positions or --truncate-source",
            split,
            longest[1],
            longest[0],
            POSITIONS,
        )
    return {
        "lines": writers[names[0]].lines,
        "read": sum(chunk.count for chunk in chunks),
        "tokens": {name: writer.ids for name, writer in writers.items()},
    }


def _add_row(
    row: Sequence[str],
    names: Sequence[str],
    writers: dict[str, StreamWriter],
    dictionaries: tuple[Any, Any],
    features: Sequence[str],
    labels: dict[str, Counter[str]],
) -> int:
    """Write one line to every stream; return its source length in tokens."""
    source = token_ids(dictionaries[0], row[0].split())
    writers[names[0]].add(source)
    if names[1] in writers:
        writers[names[1]].add(token_ids(dictionaries[1], row[1].split()))
    for name, stream, text in zip(features, names[2:], row[2:]):
        values = text.split()
        labels[name].update(values)
        labels[name][SPECIAL] += 1
        writers[stream].add([*FEATURES[name].ids(values), SPECIAL_ID])
    return len(source)


def _outcomes(chunks: list[Chunk], split: dict[str, Any]) -> dict[str, int]:
    """Sum what the two steps dropped and repaired; the counts must explain every line."""
    total: Counter[str] = Counter()
    for chunk in chunks:
        total.update(read_header(chunk.annotated))
        total.update(read_header(chunk.encoded)["counts"])
    total.pop("read", None)
    dropped = ("overlong", "empty", "too_short", "too_long", "ratio", "skipped_lines")
    missing = split["read"] - split["lines"] - sum(total[name] for name in dropped)
    if missing:
        raise RuntimeError(f"{chunks[0].split}: {missing} lines are unaccounted for")
    return dict(sorted(total.items()))

"""Encoded chunks -> dictionaries and binary streams, in one pass per split."""

from __future__ import annotations

import logging
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from ..data.dictionaries import build_dictionary, load_dictionary, token_ids
from ..data.manifest import Manifest
from ..data.streams import StreamWriter, stream_prefix
from ..files import replacing
from ..syntax.labels import SPECIAL
from ..syntax.layers import FEATURES, TREE, layers_of
from ..syntax.subword_tree import NO_WORD
from .chunks import Chunk, read_header
from .encoded import EncodedChunk, EncodedSide, closed_rows
from .options import TranslationOptions
from .subword_models import SubwordModels
from .unknown import summary

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
            outcomes: Counter[str] = Counter()
            manifest.splits[split] = write_split(
                options, split, chunks, dictionaries, labels, outcomes, folder, bar
            )
            manifest.alignment[split] = _explained(chunks, manifest.splits[split], outcomes)
    for name, counts in labels.items():
        FEATURES[name].inventory.save(folder / f"dict.{options.source_lang}.{name}.txt", counts)


def write_dictionaries(
    options: TranslationOptions, jobs: list[Chunk], folder: Path
) -> tuple[Any, Any]:
    """Load or build both dictionaries and save them (the target's is None without target)."""
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for job in jobs:
        if job.split.startswith("train"):
            chunk = EncodedChunk.load(job.encoded)
            counts[0].update(chunk.source.counts())
            counts[1].update(chunk.target.counts())
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
        with replacing(folder / f"dict.{lang}.txt", "w") as stream:
            found.save(stream)
        made.append(found)
    return made[0], made[1]


def write_split(
    options: TranslationOptions,
    split: str,
    chunks: list[Chunk],
    dictionaries: tuple[Any, Any],
    labels: dict[str, Counter[str]],
    outcomes: Counter[str],
    folder: Path,
    bar: tqdm,
) -> dict[str, Any]:
    """Write a split's streams, add to labels and outcomes; return its line and token counts."""
    writers = _open_writers(options, split, dictionaries, folder)
    longest = (0, 0)
    unknown = {name: Counter() for name in dictionary_streams(options)}
    for chunk in chunks:
        encoded, done = EncodedChunk.load(chunk.encoded), writers[options.source_lang].lines
        for name, rows in _streams(options, encoded, dictionaries).items():
            for row in rows:
                writers[name].add(row)
        for name, found in zip(unknown, zip((encoded.source, encoded.target), dictionaries)):
            unknown[name].update(_unknown(*found))
        _count_labels(encoded, labels)
        outcomes.update(encoded.outcomes)
        lengths = encoded.source.sizes
        if len(lengths) and lengths.max() >= longest[0]:
            longest = (int(lengths.max()) + 1, done + int(lengths.argmax()) + 1)
        bar.update(1)
    for writer in writers.values():
        writer.close()
    _warn_of_length(split, *longest)
    return {
        "lines": writers[options.source_lang].lines,
        "read": sum(chunk.count for chunk in chunks),
        "tokens": {name: writer.ids for name, writer in writers.items()},
        "unknown": {
            name: summary(found, writers[name].ids - writers[name].lines)  # </s> apart
            for name, found in unknown.items()
        },
    }


def dictionary_streams(options: TranslationOptions) -> list[str]:
    """Name the streams that have a dictionary: source, target."""
    return [options.source_lang, *([] if options.only_source else [options.target_lang])]


def _unknown(side: EncodedSide, dictionary: Any) -> Counter[str]:
    """Count the subwords that a dictionary lacks."""
    *ids, _ = token_ids(dictionary, side.symbols)
    lacking = {symbol for symbol, i in zip(side.symbols, ids) if i == dictionary.unk()}
    return (
        Counter({k: n for k, n in side.counts().items() if k in lacking}) if lacking else Counter()
    )


def _open_writers(
    options: TranslationOptions, split: str, dictionaries: tuple[Any, Any], folder: Path
) -> dict[str, StreamWriter]:
    """Open the streams of a split: source, target, features, tree."""
    sizes = {options.source_lang: len(dictionaries[0])}
    if not options.only_source:
        sizes[options.target_lang] = len(dictionaries[1])
    for layer in layers_of(options.layers):
        numbers = layer.enters == TREE
        size = word_numbers(options.max_characters) if numbers else len(layer.inventory)
        sizes |= {f"{options.source_lang}.{name}": size for name in layer.columns}
    return {
        name: StreamWriter(stream_prefix(folder, split, options.pair, name), size)
        for name, size in sizes.items()
    }


def _streams(
    options: TranslationOptions, chunk: EncodedChunk, dictionaries: tuple[Any, Any]
) -> dict[str, list[np.ndarray]]:
    """Return each stream's rows of ids, ``</s>`` included."""
    rows = {}
    for lang, side, dictionary in (
        (options.source_lang, chunk.source, dictionaries[0]),
        (options.target_lang, chunk.target, dictionaries[1]),
    ):
        if not (lang == options.target_lang and options.only_source):
            *ids, end = token_ids(dictionary, side.symbols)
            rows[lang] = side.rows(ids, end)
    found = chunk.labels | chunk.tree
    for layer in layers_of(options.layers):
        for name in layer.columns:
            ids = closed_rows(found[name], chunk.source.sizes, layer.end)
            rows[f"{options.source_lang}.{name}"] = ids
    return rows


def word_numbers(max_characters: int) -> int:
    """Return the size of the id space of words, in lines of at most so many characters."""
    return NO_WORD + 1 + max_characters


def _count_labels(chunk: EncodedChunk, labels: dict[str, Counter[str]]) -> None:
    for name, ids in chunk.labels.items():
        symbols = FEATURES[name].inventory.symbols
        found = np.bincount(ids, minlength=len(symbols)).tolist()
        labels[name].update(dict(zip(symbols, found)))
        labels[name][SPECIAL] += len(chunk.source.sizes)


def _warn_of_length(split: str, tokens: int, sentence: int) -> None:
    if tokens > POSITIONS and not split.startswith("train"):
        logger.warning(
            "%s: sentence %d has %d source tokens; fairseq's default limit is %d: "
            "give --max-source-positions or --truncate-source",
            split,
            sentence,
            tokens,
            POSITIONS,
        )


def _explained(
    chunks: list[Chunk], split: dict[str, Any], encoding: Counter[str]
) -> dict[str, int]:
    """Sum what the two steps dropped and repaired; the counts must explain every line."""
    total = Counter(encoding)
    for chunk in chunks:
        total.update(read_header(chunk.annotated))
    total.pop("read", None)
    dropped = ("overlong", "empty", "too_short", "too_long", "ratio", "skipped_lines")
    missing = split["read"] - split["lines"] - sum(total[name] for name in dropped)
    if missing:
        raise RuntimeError(f"{chunks[0].split}: {missing} lines are unaccounted for")
    if not split["lines"]:
        raise ValueError(
            f"{chunks[0].split}: every line was dropped: {dict(sorted(total.items()))}"
        )
    return dict(sorted(total.items()))

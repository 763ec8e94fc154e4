"""The dictionaries of parallel text: given or counted, and encoded chunks looked up in them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ...data.dictionaries import build_dictionary, load_dictionary, token_ids
from ...data.streams import Rows
from ...files import replacing
from ..chunks import Chunk, EncodedChunk
from .translation_chunks import SOURCE, TARGET
from .translation_options import TranslationOptions

SIDES = (SOURCE, TARGET)


def write_dictionaries(
    options: TranslationOptions, chunks: list[Chunk], folder: Path
) -> dict[str, Any]:
    """Load or build the dictionaries of both sides (of the source alone without target); save them.

    Returns:
        Side -> dictionary.
    """
    counts: dict[str, Counter[str]] = {side: Counter() for side in SIDES}
    for chunk in chunks:
        if chunk.split.startswith("train"):
            encoded = EncodedChunk.load(chunk.encoded, dict.fromkeys(SIDES, 0))
            for side in SIDES:
                counts[side].update(symbol_counts(encoded, side))
    given = {SOURCE: options.srcdict, TARGET: options.tgtdict}
    limits = {
        SOURCE: (options.thresholdsrc, options.nwordssrc),
        TARGET: (options.thresholdtgt, options.nwordstgt),
    }
    if options.joined_dictionary:
        given = dict.fromkeys(SIDES, options.srcdict or options.tgtdict)
        counts = dict.fromkeys(SIDES, counts[SOURCE] + counts[TARGET])
        limits[TARGET] = limits[SOURCE]
    made = {}
    for side, lang in zip(SIDES, (options.source_lang, options.target_lang)):
        if side == TARGET and options.only_source and not given[side]:
            continue
        path = given[side]
        made[side] = (
            load_dictionary(path) if path else build_dictionary(counts[side], *limits[side])
        )
        with replacing(folder / f"dict.{lang}.txt", "w") as stream:
            made[side].save(stream)
    return made


def symbol_counts(chunk: EncodedChunk, side: str) -> Counter[str]:
    """Count the subwords of a side of a chunk."""
    symbols = chunk.symbols[side]
    found = np.bincount(chunk.streams[side].values, minlength=len(symbols)).tolist()
    return Counter(dict(zip(symbols, found)))


def look_up(chunk: EncodedChunk, side: str, dictionary: Any) -> tuple[Rows, Counter[str]]:
    """Return the ids of a side of a chunk, ``</s>`` included, and what the dictionary lacks."""
    symbols = chunk.symbols[side]
    *ids, end = token_ids(dictionary, symbols)
    lacking = {symbol for symbol, i in zip(symbols, ids) if i == dictionary.unk()}
    counts = symbol_counts(chunk, side) if lacking else {}
    rows = chunk.streams[side]
    found = Rows(np.array(ids, np.int64)[rows.values], rows.lengths)
    return closed(found, end), Counter({k: n for k, n in counts.items() if k in lacking})


def closed(rows: Rows, end: int) -> Rows:
    """Put ``end`` after each of the rows."""
    values = np.insert(rows.values.astype(np.int64), rows.ends, end)
    return Rows(values, rows.lengths + 1)

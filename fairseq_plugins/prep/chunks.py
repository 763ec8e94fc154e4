"""What worker processes do: annotate a chunk of lines, then cut it into subwords.

An annotated chunk is a JSON-lines file: a header with counts, then one row a kept line. Chunk
files appear under their names only when complete, so an interrupted preparation goes on where it
was.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from ..corpora.conllu import parse_block, read_blocks
from ..corpora.parallel_text import read_chunk
from ..files import write_text
from ..syntax.layers import FEATURES, layers_of
from ..syntax.subwords import joined_spans
from ..text.annotators import load_annotator
from ..text.raw_text import line_reader, overlong_words, unescape
from ..text.segment import Segmenter
from ..text.source_encoder import AnnotatedLine, annotate_lines, encode_line
from ..text_reading import numbered_lines
from .encoded import EncodedChunk, EncodedSide
from .options import TranslationOptions


@dataclass(frozen=True)
class Chunk:
    """One job: lines ``first`` … ``first + count - 1`` (from 0) of a split.

    Args:
        split: name of the split.
        number: index of the chunk in it.
        first, count: which lines.
        source, target, conllu: (path, byte offset, file line) of each input, or None.
        annotated, encoded: the files that the two steps write.
    """

    split: str
    number: int
    first: int
    count: int
    source: tuple[Path, int, int]
    target: tuple[Path, int, int] | None
    conllu: tuple[Path, int, int] | None
    annotated: Path
    encoded: Path

    def place(self, row: int) -> str:
        """``file:line`` of the chunk's ``row``-th source line."""
        return f"{self.source[0]}:{self.first + row + 1}"


class Context:
    """What a process needs beside its jobs; filled by `start_annotating`, `start_encoding`."""

    options: TranslationOptions
    annotator: Any = None
    segmenters: tuple[Segmenter, Segmenter]


def start_annotating(options: TranslationOptions, annotator: Any = None) -> None:
    """Set the tagger of this process, its parent's if that was inherited, or load it."""
    Context.options, Context.annotator = options, annotator
    if options.needs_spacy and annotator is None:
        Context.annotator = load_annotator(options.layers, options.spacy_model)


def start_encoding(options: TranslationOptions, segmenters: tuple[Segmenter, Segmenter]) -> None:
    """Set the source's and the target's segmenter."""
    Context.options, Context.segmenters = options, segmenters


def annotate_chunk(chunk: Chunk) -> None:
    """Clean, tokenise, tag and parse the chunk's lines; write the annotated rows."""
    if chunk.annotated.is_file():
        return
    options, counts = Context.options, Counter()
    texts, targets = _read(chunk)
    kept = [
        i
        for i in range(chunk.count)
        if _keep(chunk, texts[i], targets[i] if targets else None, counts)
    ]
    given = _given(chunk)
    annotated = annotate_lines(
        [texts[i] for i in kept],
        options.tokenizer,
        Context.annotator,
        [given[i] for i in kept] if given else None,
    )
    if long := sum(overlong_words(texts[i]) for i in kept):
        counts["overlong_words"] = long
    rows = []
    for i, line in zip(kept, annotated):
        if _accept(chunk, i, line.repaired, "words", line.failed, counts):
            rows.append(_pack(line, i, targets[i] if targets else ""))
    _write(chunk.annotated, dict(counts), rows)


def encode_chunk(chunk: Chunk) -> None:
    """Cut the annotated rows into subwords with features; write both."""
    if chunk.encoded.is_file():
        return
    source, target = Context.segmenters
    names = Context.options.layers
    counts: Counter[str] = Counter()
    lines, goals = [], []
    for row in read_rows(chunk.annotated):
        line = encode_line(_unpack(row), source, names)
        if _accept(chunk, row["n"], line.misaligned, "subwords", False, counts):
            lines.append(line)
            goals.append(target.segment(row["y"])[0])
    labels, tree = {}, {}
    for layer in layers_of(names):
        for column in layer.columns:
            found, kind = (labels, "u1") if layer.name in FEATURES else (tree, "i4")
            rows = (line.columns[column] for line in lines)
            found[column] = np.fromiter(chain.from_iterable(rows), kind)
    sides = EncodedSide.of([line.subwords for line in lines]), EncodedSide.of(goals)
    EncodedChunk(dict(counts), *sides, labels, tree).save(chunk.encoded)


def read_header(path: Path) -> dict[str, Any]:
    """Read the first record of a chunk file."""
    with open(path, encoding="utf-8", newline="\n") as stream:
        return json.loads(stream.readline())


def read_rows(path: Path) -> Iterator[Any]:
    """Yield the rows of a chunk file."""
    with open(path, encoding="utf-8", newline="\n") as stream:
        for line in islice(stream, 1, None):
            yield json.loads(line)


def _write(path: Path, header: dict[str, Any], rows: list[Any]) -> None:
    write_text(path, "".join(json.dumps(record) + "\n" for record in (header, *rows)))


def _read(chunk: Chunk) -> tuple[list[str], list[str] | None]:
    """Read and tokenise the chunk's source and target lines."""
    options = Context.options
    sides = []
    for place, lang in ((chunk.source, options.source_lang), (chunk.target, options.target_lang)):
        if place is None:
            sides.append(None)
            continue
        read = line_reader(options.tokenizer, options.normalizer, lang)
        raw = read_chunk(*place, chunk.count)
        sides.append([read(line) if len(line) <= options.max_characters else None for line in raw])
    return sides[0], sides[1]


def _keep(chunk: Chunk, source: str | None, target: str | None, counts: Counter[str]) -> bool:
    """Decide whether a pair stays; only training pairs are ever dropped."""
    counts["read"] += 1
    if not chunk.split.startswith("train"):
        return True
    options = Context.options
    if source is None or (chunk.target and target is None):
        counts["overlong"] += 1
        return False
    sizes = [len(text.split()) for text in (source, target) if text is not None]
    low, high = min(sizes), max(sizes)
    reason = ""
    if low == 0:
        reason = "empty"
    elif low < options.min_words:
        reason = "too_short"
    elif high > options.max_words:
        reason = "too_long"
    elif options.max_ratio and high > options.max_ratio * low:
        reason = "ratio"
    if reason:
        counts[reason] += 1
    return not reason


def _given(chunk: Chunk) -> list[Any] | None:
    """Read the chunk's ready annotations."""
    if chunk.conllu is None:
        return None
    path, offset, number = chunk.conllu
    blocks = read_blocks(numbered_lines(path, offset, number))
    names = Context.options.layers
    return [parse_block(block, path, names) for block in islice(blocks, chunk.count)]


def _accept(
    chunk: Chunk, row: int, amiss: int, unit: str, failed: bool, counts: Counter[str]
) -> bool:
    """Apply ``--on-misalignment``; valid and test lines are always repaired, never dropped."""
    if not amiss:
        return True
    policy = Context.options.on_misalignment
    if policy == "error":
        raise ValueError(
            f"{chunk.place(row)}: {amiss} {unit} do not match the annotation"
            + (" (its characters are not those of the text)" if failed else "")
            + "; --on-misalignment repair assigns them by character offsets, skip drops the pair"
        )
    if policy == "skip" and chunk.split.startswith("train"):
        counts["skipped_lines"] += 1
        return False
    counts["failed_lines" if failed else "repaired_lines"] += 1
    counts[f"repaired_{unit}"] += amiss
    return True


def _pack(line: AnnotatedLine, number: int, target: str) -> dict[str, Any]:
    """Turn an annotated line into a row; words are kept only where the text does not give them."""
    row = {
        "n": number,
        "t": line.text,
        "l": line.layers,
        "y": target,
    }
    if Context.options.tokenizer == "none":
        row |= {"w": line.words, "s": line.spans}
    return row


def _unpack(row: dict[str, Any]) -> AnnotatedLine:
    if "w" in row:
        return AnnotatedLine(row["t"], row["w"], [tuple(s) for s in row["s"]], row["l"])
    words = row["t"].split()
    return AnnotatedLine(row["t"], [unescape(w) for w in words], joined_spans(words), row["l"])

"""Work on parallel text: annotate a chunk of lines, then split them into subwords.

An annotated chunk is a file of rows: counts first, then one row per kept line.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from ...corpora.conllu import parse_block, read_blocks
from ...corpora.parallel_text import read_chunk
from ...data.text_columns import WORDS
from ...data.translation_manifest import PROTECTED
from ...errors import InputError
from ...syntax.annotation import Annotation
from ...syntax.casing import MIXED
from ...syntax.labels import plain_label
from ...syntax.layers import OF_TARGETS, Layer, layers_of
from ...syntax.rows import Rows
from ...syntax.sentence import EncodedSentence
from ...syntax.subwords import joined_spans
from ...text.protected import ProtectedSegmenter, Taken, numbers_in, reader, words_of
from ...text.raw_text import overlong_words
from ...text.sampled import Sampled
from ...text.segment import Segmenter
from ...text.source_encoder import AnnotatedLine, annotate_lines, encode_line, reduced
from ...text.word_layers import carried, match_alike, match_words
from ...text_reading import numbered_lines
from ..chunks import Chunk, EncodedChunk, add_layers, numbered, read_rows, write_rows
from .translation_options import TARGET_CONLLU, TranslationOptions

ANNOTATED = "annotated.jsonl"
SOURCE, TARGET = "source", "target"
Cutter = Segmenter | Sampled


@dataclass(frozen=True)
class Lines:
    """The place of a chunk's lines."""

    first: int  # number of the first line, from 0
    # side (source, target, conllu) -> path, byte offset and line of the file
    places: Mapping[str, tuple[Path, int, int]]

    def place(self, row: int) -> str:
        """``file:line`` of the ``row``-th source line."""
        return f"{self.places[SOURCE][0]}:{self.first + row + 1}"


def annotate_chunk(
    options: TranslationOptions, annotators: Mapping[str, Any], chunk: Chunk
) -> None:
    """Clean, tokenise, tag and parse the chunk's lines; write the annotated rows."""
    counts: Counter[str] = Counter()
    texts: Any = _read(options, chunk, SOURCE, options.source_lang)
    targets: Any = _read(options, chunk, TARGET, options.target_lang, texts)
    kept = range(chunk.count)
    sides = [side for side in (texts, targets) if side]
    if chunk.split.startswith("train"):
        kept = [i for i in kept if _keep(options, [side[i] for side in sides], counts)]
    if options.protect:
        _count_protected(sides, kept, counts)
    annotated = _annotated(options, annotators[SOURCE], chunk, SOURCE, texts, kept)
    goals: Sequence[AnnotatedLine | None] = [None] * len(kept)
    if options.target_names:
        goals = _annotated(options, annotators[TARGET], chunk, TARGET, targets, kept)
    for name in value_sides(chunk.source.places):
        annotated = _with_values(chunk, name, list(kept), annotated)
    if long := sum(overlong_words(texts[i].text) for i in kept):
        counts["overlong_words"] = long
    rows = []
    for i, line, goal in zip(kept, annotated, goals):
        if _fits(options, chunk, i, (line, goal), counts):
            row = {"n": i, **_pack(options, line)}
            if goal is None:
                rows.append(row | {"y": targets[i].text if targets else ""})
            else:
                layers = layers_of(options.target_names)
                rows.append(row | {"y": reduced(goal.text, layers), "g": _pack(options, goal)})
    write_rows(chunk.file(ANNOTATED), [dict(counts), *rows])


def encode_chunk(
    options: TranslationOptions, segmenters: tuple[Cutter, Cutter], chunk: Chunk
) -> None:
    """Split the annotated rows into subwords with features; write both."""
    source, target = (protecting(options, segmenter) for segmenter in segmenters)
    header, *rows = read_rows(chunk.file(ANNOTATED))
    notes: Counter[str] = Counter(header)
    lines: list[EncodedSentence] = []
    goals: list[EncodedSentence] = []
    layers, target_layers = layers_of(options.layer_names), layers_of(options.target_names)
    for row in rows:
        line = encode_line(_unpack(row), source, layers)
        if _accept(options, chunk, row["n"], (line.misaligned, "subwords", False), notes):
            lines.append(line)
            goals.append(_goal(row, target, target_layers))
    found = EncodedChunk({}, {"lines": len(lines), "read": chunk.count})
    sides = (SOURCE, options.source_lang, lines, layers)
    for side, lang, own, held in (sides, (TARGET, options.target_lang, goals, target_layers)):
        found.streams[side], found.symbols[side] = numbered(line.tokens for line in own)
        if side == SOURCE and options.protect:
            codes = ([*map(ord, "\n".join(line.protected))] for line in own)
            found.streams[f"{lang}.{PROTECTED}"] = Rows.of(codes)
        if held:
            numbers = ([word + 1 for word in line.word_of] for line in own)
            found.streams[f"{lang}.{WORDS}"] = Rows.of(numbers)
        add_layers(found, own, layer_streams(lang, held))
    for layer in target_layers:
        if layer.name in OF_TARGETS:
            (lost,) = layer.ids([MIXED])
            lost_in = (goal.layers[layer.name].count(lost) for goal in goals)
            notes[f"{layer.name}_{MIXED}"] = sum(lost_in)
    replace(found, notes=dict(notes)).save(chunk.encoded)


def protecting(options: TranslationOptions, segmenter: Cutter) -> Any:
    marks = options.subwords == "sentencepiece"
    return ProtectedSegmenter(segmenter, marks=marks) if options.protect else segmenter


def layer_streams(lang: str, layers: Iterable[Layer]) -> dict[str, Layer]:
    """Return the streams of the layers of a side, in a chunk and in the folder."""
    return {f"{lang}.{layer.name}": layer for layer in layers if layer.sides(1)}


def _goal(row: dict[str, Any], target: Cutter, layers: Sequence[Layer]) -> EncodedSentence:
    """Split the target text of a row, with its layers if any."""
    if layers:
        return encode_line(_unpack(row["g"]), target, layers)
    return EncodedSentence(target.segment(row["y"])[0], [], [], {})


def annotated_rows(chunk: Chunk) -> Iterator[dict[str, Any]]:
    """Yield the rows of an annotated chunk: ``t`` is the source text, ``y`` the target's."""
    return islice(read_rows(chunk.file(ANNOTATED)), 1, None)


def _read(
    options: TranslationOptions, chunk: Chunk, side: str, lang: str, source: Any = None
) -> list[Taken | None] | None:
    """Read and tokenise the chunk's lines of a side, if present; None for overlong lines.

    Args:
        source: for a target, the lines of its source.
    """
    if side not in chunk.source.places:
        return None
    read = reader(vars(options), lang, options.protection)
    path, first, number = chunk.source.places[side]
    found: list[Taken | None] = []
    for row, line in enumerate(read_chunk(path, first, number, count=chunk.count)):
        known = source and source[row]
        try:
            fits = len(line) <= options.max_characters
            found.append(read(line, known and known.spans) if fits else None)
        except InputError as error:
            raise InputError(f"{path}:{number + row}: {error}") from None
    return found


def _count_protected(
    sides: Sequence[Sequence[Any]], kept: Iterable[int], counts: Counter[str]
) -> None:
    """Count protected spans of kept lines, and those that remained text or have no partner."""
    for source, *target in ([side[i] for side in sides] for i in kept):
        counts["protected"] += len(source.spans)
        counts["protected_left_as_text"] += source.left
        for one in target:
            counts["protected_target_left_as_text"] += one.left
            counts["protected_without_target"] += len(source.spans) - len(numbers_in(one.text))


def _keep(options: TranslationOptions, pair: Sequence[Any], counts: Counter[str]) -> bool:
    """Decide whether a training pair stays; others are never dropped."""
    if None in pair:
        counts["overlong"] += 1
        return False
    sizes = [len(line.text.split()) for line in pair]
    low, high = min(sizes), max(sizes)
    reasons = {
        "empty": low == 0,
        "too_short": low < options.min_words,
        "too_long": high > options.max_words,
        "ratio": options.max_ratio and high > options.max_ratio * low,
    }
    reason = next((name for name, holds in reasons.items() if holds), "")
    if reason:
        counts[reason] += 1
    return not reason


def _annotated(
    options: TranslationOptions,
    annotator: Any,
    chunk: Chunk,
    side: str,
    texts: Sequence[Any],
    kept: Iterable[int],
) -> list[AnnotatedLine]:
    """Annotate the kept lines of a side."""
    given = _given(options, chunk, side)
    return annotate_lines(
        [texts[i] for i in kept],
        options.tokenizer,
        annotator,
        [given[i] for i in kept] if given else None,
        sequences=options.sequences,
    )


def _given(options: TranslationOptions, chunk: Chunk, side: str) -> list[Any] | None:
    source = side == SOURCE
    place = "conllu" if source else TARGET_CONLLU
    if place not in chunk.source.places:
        return None
    path, offset, number = chunk.source.places[place]
    blocks = islice(read_blocks(numbered_lines(path, offset, number)), chunk.count)
    asked = options.layer_names if source else options.target_names
    names = [name for name in asked if name not in chunk.source.places]
    return [parse_block(block, path, names) for block in blocks]


def value_sides(sides: Iterable[str]) -> list[str]:
    """Return the sides that are files of values, named after their layers."""
    return [name for name in sides if name not in (SOURCE, TARGET, "conllu", TARGET_CONLLU)]


def _with_values(
    chunk: Chunk, name: str, kept: Sequence[int], lines: Sequence[AnnotatedLine]
) -> list[AnnotatedLine]:
    """Give kept lines the values of their words from a file."""
    path, offset, number = chunk.source.places[name]
    values = read_chunk(path, offset, number, chunk.count)
    found = []
    for row, line in zip(kept, lines, strict=True):
        words, own = words_of(line.text, line.protected), values[row].split()
        if len(own) != len(words):
            raise InputError(
                f"{path}:{number + row}: {len(own)} values for the {len(words)} words of "
                f"{chunk.source.place(row)}: {' '.join(words)[:80]!r}"
            )
        note = Annotation(words, {name: [plain_label(value) for value in own]})
        match = match_words(line.words, note) or match_alike(line.words, note)
        found.append(replace(line, layers=line.layers | carried(note, match.tokens)))
    return found


def _fits(
    options: TranslationOptions,
    chunk: Chunk,
    row: int,
    sides: tuple[AnnotatedLine, AnnotatedLine | None],
    counts: Counter[str],
) -> bool:
    """Apply `_accept` to the words of the source, and of a target with layers."""
    line, goal = sides
    if goal is None or not goal.repaired:
        return _accept(options, chunk, row, (line.repaired, "words", line.failed), counts)
    unit = "words" if line.repaired else "target words"
    found = (line.repaired + goal.repaired, unit, line.failed or goal.failed)
    return _accept(options, chunk, row, found, counts)


def _accept(
    options: TranslationOptions,
    chunk: Chunk,
    row: int,
    found: tuple[int, str, bool],
    counts: Counter[str],
) -> bool:
    """Apply ``--on-misalignment``; valid and test lines are always repaired, never dropped.

    Args:
        chunk, row: place of the line.
        found: number of units that do not match, their kind, and whether characters differ.
        counts: of repaired and dropped lines.
    """
    misaligned, unit, failed = found
    if not misaligned:
        return True
    policy = options.on_misalignment
    if policy == "error":
        raise InputError(
            f"{chunk.source.place(row)}: {misaligned} {unit} do not match the annotation"
            + (" (its characters are not those of the text)" if failed else "")
            + "; --on-misalignment repair assigns them by character offsets, skip drops the pair"
        )
    if policy == "skip" and chunk.split.startswith("train"):
        counts["skipped_lines"] += 1
        return False
    counts["failed_lines" if failed else "repaired_lines"] += 1
    counts[f"repaired_{unit.replace(' ', '_')}"] += misaligned
    return True


def _pack(options: TranslationOptions, line: AnnotatedLine) -> dict[str, Any]:
    """Make part of a row from a line; words are stored only if the text does not determine them."""
    row = {"t": line.text, "l": line.layers}
    row |= {"p": line.protected} if line.protected else {}
    return row | ({"w": line.words, "s": line.spans} if options.tokenizer == "none" else {})


def _unpack(row: dict[str, Any]) -> AnnotatedLine:
    text, spans = row["t"], tuple(row.get("p", ()))
    if "w" in row:
        words, places = row["w"], [tuple(s) for s in row["s"]]
    else:
        words, places = words_of(text, spans), joined_spans(text.split())
    return AnnotatedLine(text, words, places, row["l"], protected=spans)

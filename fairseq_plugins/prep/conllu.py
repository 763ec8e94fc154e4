"""Annotations given as CoNLL-U: one sentence a line of text, in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..syntax.labels import upos_label
from .annotation import Annotation

Row = tuple[int, list[str]]  # line number, ten fields


def read_blocks(lines: Iterator[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Group numbered lines into sentences: runs of lines between blank ones."""
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip():
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def parse_block(block: Sequence[tuple[int, str]], path: Path) -> Annotation:
    """Read one sentence; a block of comments alone is an empty sentence.

    A multiword token (``zum`` = ``zu dem``) whose parts do not spell it is kept as one word with
    the part of speech of its first part. Empty nodes (``8.1``) are passed over.

    Raises:
        ValueError: a row that is no CoNLL-U, or ids that do not count 1, 2, …, with file and line.
    """
    words, ranges = _checked_rows(block, path)
    forms = [fields[1] for _, fields in words]
    tags = [_checked_upos(fields[3], path, number) for number, fields in words]
    kept_words, kept_tags, i = [], [], 0
    while i < len(forms):
        last, whole = ranges.get(i + 1, (i + 1, forms[i]))
        if "".join(forms[i:last]) == whole:
            last, whole = i + 1, forms[i]
        kept_words.append(whole)
        kept_tags.append(tags[i])
        i = last
    return Annotation(kept_words, kept_tags)


def _checked_rows(
    block: Sequence[tuple[int, str]], path: Path
) -> tuple[list[Row], dict[int, tuple[int, str]]]:
    """Return a block's word rows, and its multiword tokens: first id -> (last id, form)."""
    words: list[Row] = []
    ranges: dict[int, tuple[int, str]] = {}
    last_line = 0
    for number, line in block:
        if line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 10:
            raise ValueError(f"{path}:{number}: expected 10 tab-separated fields, found {line!r}")
        first, last = _ids(fields[0], path, number)
        if first is None:
            continue
        if first != len(words) + 1 or (last is not None and last < first):
            raise ValueError(f"{path}:{number}: id {fields[0]!r} where {len(words) + 1} is due")
        if last is None:
            words.append((number, fields))
        else:
            ranges[first] = (last, fields[1])
            last_line = number
    beyond = [last for last, _ in ranges.values() if last > len(words)]
    if beyond:
        raise ValueError(
            f"{path}:{last_line}: a multiword token ends at {beyond[0]}, but the sentence has "
            f"{len(words)} words"
        )
    return words, ranges


def _ids(text: str, path: Path, number: int) -> tuple[int | None, int | None]:
    """Read an id: ``3`` (3, None), ``3-4`` (3, 4), ``3.1`` (an empty node) (None, None)."""
    first, dash, last = text.partition("-")
    whole, dot, part = text.partition(".")
    if dot and whole.isdecimal() and part.isdecimal():
        return None, None
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise ValueError(f"{path}:{number}: {text!r} is no CoNLL-U id")
    return int(first), int(last) if dash else None


def _checked_upos(tag: str, path: Path, number: int) -> str:
    try:
        return upos_label(tag)
    except ValueError as error:
        raise ValueError(f"{path}:{number}: {error}") from None

"""Annotations given as CoNLL-U: one sentence a line of text, in the same order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..syntax.labels import upos_label
from .annotation import Annotation


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
        ValueError: a row that is no CoNLL-U, with file and line.
    """
    words, upos, hidden_until, whole = [], [], 0, ""
    parts = _surface_parts(block)
    for number, line in block:
        if line.startswith("#"):
            continue
        fields = line.rstrip("\r\n").split("\t")
        if len(fields) != 10:
            raise ValueError(f"{path}:{number}: expected 10 tab-separated fields, found {line!r}")
        first, _, last = fields[0].partition("-")
        if "." in first:
            continue
        if not first.isdigit() or (last and not last.isdigit()):
            raise ValueError(f"{path}:{number}: {fields[0]!r} is no CoNLL-U id")
        if last:
            if parts.get((int(first), int(last))) != fields[1]:
                hidden_until, whole = int(last), fields[1]
            continue
        if int(first) <= hidden_until and not whole:
            continue
        words.append(whole or fields[1])
        upos.append(_checked_upos(fields[3], path, number))
        whole = ""
    return Annotation(words, upos)


def _surface_parts(block: Sequence[tuple[int, str]]) -> dict[tuple[int, int], str]:
    """Spell every multiword token of the block by its parts."""
    rows = [line.split("\t") for _, line in block if not line.startswith("#")]
    forms = {int(row[0]): row[1] for row in rows if row[0].isdigit() and len(row) > 1}
    spans = [row[0].split("-") for row in rows if row[0].count("-") == 1]
    spans = [(int(a), int(b)) for a, b in spans if a.isdigit() and b.isdigit()]
    return {(a, b): "".join(forms.get(i, "") for i in range(a, b + 1)) for a, b in spans}


def _checked_upos(tag: str, path: Path, number: int) -> str:
    try:
        return upos_label(tag)
    except ValueError as error:
        raise ValueError(f"{path}:{number}: {error}") from None

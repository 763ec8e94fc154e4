"""Annotations given as CoNLL-U: one sentence a line of text, in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..messages import quoted
from ..syntax.annotation import Annotation
from ..syntax.labels import upos_label
from ..syntax.tree import check_heads, project_heads

Line = tuple[int, str]  # number from 1, text without its end
Row = tuple[int, list[str]]  # line number, ten fields
SENTENCE_ID = "# sent_id ="


class Word(NamedTuple):
    """A syntactic word of a treebank.

    Args:
        form, lemma, upos, relation: its columns; the relation without its subtype.
        feats: its morphological features, name -> value.
        head: number of its head from 1, or 0; None where the column gives no number.
        line: of the file.
    """

    form: str
    lemma: str
    upos: str
    feats: dict[str, str]
    head: int | None
    relation: str
    line: int


def read_blocks(lines: Iterable[Line], ends: Sequence[str] = ()) -> Iterator[list[Line]]:
    """Group numbered lines into sentences: runs of lines between blank ones (also a lone tab).

    Args:
        lines: numbered lines.
        ends: beginnings of lines that separate sentences as blank ones do.
    """
    block: list[Line] = []
    for number, line in lines:
        if line.strip() and not line.startswith(tuple(ends)):
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def parse_block(block: Sequence[Line], path: Path, *, need_heads: bool = False) -> Annotation:
    """Read one sentence; a block of comments alone is an empty sentence.

    A multiword token (``zum`` = ``zu dem``) whose parts do not spell it is kept as one word with
    the part of speech of its first part, and in the tree in the place of the first part whose head
    is no other part. Empty nodes (``8.1``) are ignored.

    Args:
        block: numbered lines; ``path`` is that of their file.
        need_heads: whether the heads must form one tree; otherwise there are none where they form
            no trees.

    Raises:
        ValueError: a row that is no CoNLL-U, ids that do not count 1, 2, …, or heads that form no
            tree where they are needed, with file and line.
    """
    words, ranges = _checked_rows(block, path)
    forms = [fields[1] for _, fields in words]
    tags = [_checked_upos(fields[3], path, number) for number, fields in words]
    heads = _heads(words, path, need_heads)
    kept_words, kept_tags, tops, i = [], [], [], 0
    while i < len(forms):
        last, whole = ranges.get(i + 1, (i + 1, forms[i]))
        if "".join(forms[i:last]) == whole:
            last, whole = i + 1, forms[i]
        kept_words.append(whole)
        kept_tags.append(tags[i])
        if heads is not None:
            tops.append(next(k for k in range(i, last) if not i < heads[k] <= last))
        i = last
    if heads is not None and len(tops) < len(heads):
        heads = project_heads(heads, tops)
    return Annotation(kept_words, kept_tags, heads=heads)


def _heads(words: Sequence[Row], path: Path, needed: bool) -> list[int] | None:
    """Return the heads of a block's words, if they form trees.

    Raises:
        ValueError: they form no tree though they are needed; with file and line.
    """
    without = next(((n, fields[6]) for n, fields in words if not fields[6].isdecimal()), None)
    if without is not None:
        if needed:
            raise ValueError(
                f"{path}:{without[0]}: head {quoted(without[1])} is no number, but the words' "
                "heads are wanted (--annotations pos, and --conllu without --parse, need none)"
            )
        return None
    heads = [int(fields[6]) for _, fields in words]
    try:
        check_heads(heads, [fields[1] for _, fields in words], one_root=needed and bool(words))
    except ValueError as error:
        if needed:
            raise ValueError(f"{path}:{words[0][0]}: {error}") from None
        return None
    return heads


def treebank_words(block: Sequence[Line], path: Path) -> list[Word]:
    """Read the syntactic words of one sentence with all that a treebank says of them.

    Multiword tokens are their parts.

    Raises:
        ValueError: see `parse_block`.
    """
    found = []
    for line, (_, form, lemma, upos, _, feats, head, relation, *_) in _checked_rows(block, path)[0]:
        pairs = (pair.partition("=") for pair in feats.split("|"))
        found.append(
            Word(
                *(form, lemma, _checked_upos(upos, path, line)),
                {name: value for name, _, value in pairs},
                int(head) if head.isdecimal() else None,
                relation.partition(":")[0],
                line,
            )
        )
    return found


def sentence_id(block: Sequence[Line]) -> str:
    """Return a sentence's ``sent_id``, or nothing."""
    for _, line in block:
        if line.startswith(SENTENCE_ID):
            return line.removeprefix(SENTENCE_ID).strip()
    return ""


def _checked_rows(
    block: Sequence[Line], path: Path
) -> tuple[list[Row], dict[int, tuple[int, str]]]:
    """Return a block's word rows, and its multiword tokens: first id -> (last id, form)."""
    words: list[Row] = []
    ranges: dict[int, tuple[int, str]] = {}
    for number, line in block:
        if line.startswith("#"):
            continue
        place, fields = f"{path}:{number}", line.split("\t")
        if len(fields) != 10:
            raise ValueError(f"{place}: expected 10 tab-separated fields, found {quoted(line)}")
        first, last = _ids(fields[0], place)
        if first is None:
            continue
        if first != len(words) + 1 or (last is not None and last < first):
            raise ValueError(f"{place}: id {quoted(fields[0])} where {len(words) + 1} is due")
        if last is None:
            words.append((number, fields))
            continue
        if any(first <= end for end, _ in ranges.values()):
            raise ValueError(f"{place}: multiword token {fields[0]} overlaps another")
        ranges[first], final = (last, fields[1]), place
    beyond = [last for last, _ in ranges.values() if last > len(words)]
    if beyond:
        what = f"ends at {beyond[0]}, but the sentence has {len(words)} words"
        raise ValueError(f"{final}: a multiword token {what}")
    return words, ranges


def _ids(text: str, place: str) -> tuple[int | None, int | None]:
    """Read an id: ``3`` (3, None), ``3-4`` (3, 4), ``3.1`` (an empty node) (None, None)."""
    first, dash, last = text.partition("-")
    whole, dot, part = text.partition(".")
    if dot and whole.isdecimal() and part.isdecimal():
        return None, None
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise ValueError(f"{place}: {quoted(text)} is no CoNLL-U id")
    return int(first), int(last) if dash else None


def _checked_upos(tag: str, path: Path, number: int) -> str:
    try:
        return upos_label(tag)
    except ValueError as error:
        raise ValueError(f"{path}:{number}: {error}") from None

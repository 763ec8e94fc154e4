"""Annotations given as CoNLL-U: one sentence per line of text, in the same order."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError
from ..messages import quoted
from ..syntax.annotation import Annotation
from ..syntax.layer import Row
from ..syntax.layers import (
    LAYERS,
    POS,
    STANDARD_TAGS,
    annotated_names,
    given_names,
    layers_of,
)
from ..syntax.tree import NUMBER

Line = tuple[int, str]  # number from 1, text without its end
SENTENCE_ID = "# sent_id ="
BLANKS = " \t"  # allowed in a line between sentences: other white space is a token
FIRST_ROW = re.compile(r"(1|1-[0-9]+|0\.1)(\t[^\t]*){9}")  # of a sentence
NO_WORD = re.compile(r"#|[0-9]+[-.][0-9]+\t")  # a comment, a multiword token, an empty node


class Word(NamedTuple):
    """A syntactic word of a treebank."""

    # form, lemma, upos, relation: its columns; the relation without its subtype
    form: str
    lemma: str
    upos: str
    feats: dict[str, str]  # its morphological features, name -> value
    head: int | None  # number of its head from 1, or 0; None if the column has no number
    relation: str
    line: int  # of the file


def read_blocks(lines: Iterable[Line], ends: Sequence[str] = ()) -> Iterator[list[Line]]:
    """Group numbered lines into sentences: runs of lines between blank ones (also a lone tab).

    Args:
        ends: prefixes of lines that separate sentences like blank ones.
    """
    block: list[Line] = []
    for number, line in lines:
        if line.strip(BLANKS) and not line.startswith(tuple(ends)):
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def token_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines of a token file; of CoNLL-U only words and ends of sentences."""
    lines, before = iter(lines), list[Line]()
    for line in lines:
        before.append(line)
        if line[1].strip(BLANKS) and not line[1].startswith("#"):
            break
    is_conllu = bool(before) and FIRST_ROW.fullmatch(before[-1][1])
    for line in chain(before, lines):
        if not (is_conllu and NO_WORD.match(line[1])):
            yield line


def parse_block(
    block: Sequence[Line], path: Path, names: Iterable[str] = STANDARD_TAGS
) -> Annotation:
    """Read one sentence; a block of only comments is an empty sentence.

    A multiword token (``zum`` = ``zu dem``) whose parts do not spell it stays one word with the
    labels of its first part. In the tree it replaces the first part (with its relation) whose head
    is no other part. Empty nodes (``8.1``) are ignored.

    Args:
        block: numbered lines; ``path`` is their file.
        names: of the wanted layers.
    """
    words, ranges = checked_rows(block, path)
    kept, runs = surface_words(words, ranges)
    wanted = layers_of((*annotated_names(names), *given_names(names)))
    return Annotation(kept, {layer.name: layer.of_conllu(words, runs, path) for layer in wanted})


def surface_words(
    words: Sequence[Row], ranges: Mapping[int, tuple[int, list[str]]]
) -> tuple[list[str], list[range]]:
    """Return the words of a sentence as in its text, and the rows of each, from `checked_rows`."""
    forms = [fields[1] for _, fields in words]
    kept, runs, i = [], [], 0
    while i < len(forms):
        last, token = ranges.get(i + 1, (i + 1, words[i][1]))
        whole = token[1]
        if "".join(forms[i:last]) == whole:
            last, whole = i + 1, forms[i]
        kept.append(whole)
        runs.append(range(i, last))
        i = last
    return kept, runs


def treebank_words(block: Sequence[Line], path: Path) -> list[Word]:
    """Read the syntactic words of one sentence with their columns; multiword tokens are split."""
    found, (rows, _) = [], checked_rows(block, path)
    tags = LAYERS[POS].of_conllu(rows, [range(k, k + 1) for k in range(len(rows))], path)
    for upos, (line, fields) in zip(tags, rows):
        _, form, lemma, _, _, feats, head, relation, *_ = fields
        pairs = (pair.partition("=") for pair in feats.split("|"))
        known = {name: value for name, _, value in pairs}
        number = int(head) if NUMBER.fullmatch(head) else None
        found.append(Word(form, lemma, upos, known, number, relation.partition(":")[0], line))
    return found


def sentence_id(block: Sequence[Line]) -> str:
    """Return a sentence's ``sent_id``, or nothing."""
    names = (line for _, line in block if line.startswith(SENTENCE_ID))
    return next(names, SENTENCE_ID).removeprefix(SENTENCE_ID).strip()


def checked_rows(
    block: Sequence[Line], path: Path
) -> tuple[list[Row], dict[int, tuple[int, list[str]]]]:
    """Return a block's word rows, and its multiword tokens: first id -> (last id, fields)."""
    words: list[Row] = []
    ranges: dict[int, tuple[int, list[str]]] = {}
    final = ""
    for number, line in block:
        if line.startswith("#"):
            continue
        place, fields = f"{path}:{number}", line.split("\t")
        if len(fields) != 10:
            raise InputError(f"{place}: expected 10 tab-separated fields, found {quoted(line)}")
        first, last = _ids(fields[0], place)
        if first is None:
            continue
        if first != len(words) + 1 or (last is not None and last < first):
            raise InputError(f"{place}: id {quoted(fields[0])} where {len(words) + 1} is due")
        if last is None:
            words.append((number, fields))
            continue
        if any(first <= end for end, _ in ranges.values()):
            raise InputError(f"{place}: multiword token {fields[0]} overlaps another")
        ranges[first], final = (last, fields), place
    beyond = [last for last, _ in ranges.values() if last > len(words)]
    if beyond:
        what = f"ends at {beyond[0]}, but the sentence has {len(words)} words"
        raise InputError(f"{final}: a multiword token {what}")
    return words, ranges


def _ids(text: str, place: str) -> tuple[int | None, int | None]:
    """Read an id: ``3`` (3, None), ``3-4`` (3, 4), ``3.1`` (an empty node) (None, None)."""
    first, dash, last = text.partition("-")
    whole, dot, part = text.partition(".")
    if dot and whole.isdecimal() and part.isdecimal():
        return None, None
    if not NUMBER.fullmatch(first) or (dash and not NUMBER.fullmatch(last)):
        raise InputError(f"{place}: {quoted(text)} is no CoNLL-U id")
    return int(first), int(last) if dash else None

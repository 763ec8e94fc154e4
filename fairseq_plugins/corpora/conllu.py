"""Annotations given as CoNLL-U: one sentence a line of text, in the same order."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError
from ..messages import quoted
from ..syntax.layers import (
    GIVEN,
    LAYERS,
    STANDARD_TAGS,
    TAGS,
    Annotation,
    Layer,
    annotated_names,
    given_names,
    layers_of,
    misc_value,
)
from ..syntax.tree import check_heads, project_heads

Line = tuple[int, str]  # number from 1, text without its end
Row = tuple[int, list[str]]  # line number, ten fields
SENTENCE_ID = "# sent_id ="
BLANKS = " \t"  # all that a line between sentences may hold: other white space is a token
FIRST_ROW = re.compile(r"(1|1-[0-9]+|0\.1)(\t[^\t]*){9}")  # of a sentence
NUMBER = re.compile(r"\d{1,9}")  # of a word; more digits than a computer reads are none
NO_WORD = re.compile(r"#|[0-9]+[-.][0-9]+\t")  # a comment, a multiword token, an empty node


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
        if line.strip(BLANKS) and not line.startswith(tuple(ends)):
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def token_lines(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines of a token file; of CoNLL-U the words and the ends of sentences alone."""
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
    """Read one sentence; a block of comments alone is an empty sentence.

    A multiword token (``zum`` = ``zu dem``) whose parts do not spell it is kept as one word with
    the labels of its first part, and in the tree (with the relation there) in the place of the
    first part whose head is no other part. Empty nodes (``8.1``) are ignored.

    Args:
        block: numbered lines; ``path`` is that of their file.
        names: of the layers that are wanted.

    Raises:
        InputError: a row that is no CoNLL-U, ids that do not count 1, 2, …, a label that is none,
            or heads that are wanted and form no tree, with file and line.
    """
    words, ranges = checked_rows(block, path)
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
    found: dict[str, list[Any]] = {}
    for layer in layers_of((*annotated_names(names), *given_names(names))):
        if layer.source not in (TAGS, GIVEN):
            heads = heads_of(words, path)
            whole = len(runs) == len(heads)
            found[layer.name] = heads if whole else project_heads(heads, _tops(runs, heads))
            continue
        tags = [_label(layer, fields, path, number) for number, fields in words]
        places = [run.start for run in runs]
        if layer.name == "dep" and len(runs) < len(words):
            places = _tops(runs, heads_of(words, path))
        found[layer.name] = [tags[place] for place in places]
    return Annotation(kept, found)


def _tops(runs: Iterable[range], heads: Sequence[int]) -> list[int]:
    """Return where runs of words stand in a tree: at the first whose head is outside."""
    return [next(k for k in run if not run.start < heads[k] <= run.stop) for run in runs]


def _label(layer: Layer, fields: Sequence[str], path: Path, number: int) -> str:
    try:
        read = layer.tag.conllu if layer.tag else partial(misc_value, layer.given_as)
        return layer.label(read(fields))
    except InputError as error:
        raise InputError(f"{path}:{number}: {error}") from None


def heads_of(words: Sequence[Row], path: Path) -> list[int]:
    """Return the heads of a block's words, from 1, 0 at the root.

    Raises:
        InputError: they form no tree; with file and line.
    """
    for number, fields in words:
        if not NUMBER.fullmatch(fields[6]):
            raise InputError(
                f"{path}:{number}: head {quoted(fields[6])} is no number, but the words' heads "
                "are wanted (of the layers only heads, arc and dep need them)"
            )
    heads = [int(fields[6]) for _, fields in words]
    try:
        check_heads(heads, [fields[1] for _, fields in words], one_root=bool(words))
    except InputError as error:
        raise InputError(f"{path}:{words[0][0]}: {error}") from None
    return heads


def treebank_words(block: Sequence[Line], path: Path) -> list[Word]:
    """Read the syntactic words of one sentence with all that a treebank says of them.

    Multiword tokens are their parts.

    Raises:
        InputError: see `parse_block`.
    """
    found = []
    for line, fields in checked_rows(block, path)[0]:
        _, form, lemma, _, _, feats, head, relation, *_ = fields
        upos = _label(LAYERS["pos"], fields, path, line)
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
    """Return a block's word rows, and its multiword tokens: first id -> (last id, fields).

    Raises:
        InputError: see `parse_block`.
    """
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

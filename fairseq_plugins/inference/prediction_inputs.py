"""Examples from raw text: sentences, pairs with a TAB, one word per line, or a table.

``text``   one example per line; a TAB separates two sentences.
``conll``  one word per line, an empty line after every sentence; TABs or blanks separate columns.
           With several columns, word and gold label have the same columns as in the files that the
           folder was prepared from.

`read_rows` reads a table as preparation does.

A file is checked completely before the first prediction; examples of standard input are passed on
at once.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..corpora.conllu import FIRST_ROW, Line, read_blocks, token_lines
from ..corpora.datasets import DATASETS, read_split
from ..corpora.examples import Example
from ..corpora.readers.options import TABLES, ReadOptions
from ..corpora.readers.split_file import known_label
from ..corpora.readers.tables import read_plain
from ..corpora.readers.tokens import DOCUMENT_START, TokenLayout, columns_of
from ..errors import InputError
from ..messages import named, quoted
from ..targets.target import Target
from ..text_reading import numbered_lines

FORMATS = ("text", "conll")


@dataclass(frozen=True)
class Wanted:
    """The input of a model."""

    sentences: int  # 1 or 2
    labels: tuple[str, ...] = ()  # of words, for a model that labels words; else empty
    layout: TokenLayout = TokenLayout()  # columns of its training files of words

    def __str__(self) -> str:
        if self.labels:
            return "a sentence or a list of words"
        return "one sentence" if self.sentences == 1 else "two sentences"


def examples_of(texts: Iterable[Any], wanted: Wanted) -> list[Example]:
    """Return the texts of a Python user as examples, numbered from 0.

    Args:
        texts: sentences; pairs of sentences; or, for labels of words, sentences or lists of words.
        wanted: the model's input.
    """
    if isinstance(texts, str):
        raise InputError("expected a list of texts, found one text: put it into a list")
    return [_example(number, text, wanted) for number, text in enumerate(texts)]


def _example(number: int, text: Any, wanted: Wanted) -> Example:
    is_row = isinstance(text, Sequence) and not isinstance(text, (str, bytes))
    parts: tuple[Any, ...] = tuple(text) if is_row else (text,)
    if not all(isinstance(part, str) for part in parts):
        raise InputError(f"text {number} is {quoted(text)}; expected {wanted}")
    if not parts or not all(part.strip() for part in parts):
        raise InputError(f"text {number} is empty, or a part of it: {quoted(text)}")
    if wanted.labels and not isinstance(text, str):
        for word in parts:
            _check_word(word, f"text {number}")
        return Example(str(number), (" ".join(parts),), words=parts)
    if len(parts) != wanted.sentences:
        raise InputError(f"text {number} has {len(parts)} sentence(s); expected {wanted}")
    return Example(str(number), parts)


def _check_word(word: str, where: str) -> None:
    if word.split() != [word]:
        raise InputError(f"{where}: {quoted(word)} is no word: it is empty or holds white space")


def read_examples(lines: Iterable[Line], name: str, form: str, wanted: Wanted) -> Iterator[Example]:
    """Read examples from the lines of a file.

    Args:
        lines: numbered, without line ends.
        name: of the file, for messages.
        form: one of `FORMATS`.
        wanted: the model's input.
    """
    if form not in FORMATS:
        raise InputError(f"unknown input format {form!r}; choices: {', '.join(FORMATS)}")
    if form == "text" and Path(name).suffix.lower() in TABLES:
        raise InputError(f"{name} is a table, which predict --text-column COLUMN reads")
    if form == "text":
        return (_line(number, line, f"{name}:{number}", wanted) for number, line in lines)
    if not wanted.labels:
        raise InputError("input format 'conll' is for models that label words; choices: text")
    # marks of a layout only in a column of their own: "#1" may be a word
    ends = {DOCUMENT_START, *(f"{mark}\t" for mark in wanted.layout.ends)}
    found = read_blocks(token_lines(lines), tuple(ends))
    return (_sentence(block, str(i), name, wanted) for i, block in enumerate(found))


def read_rows(
    path: Path, columns: ReadOptions, target: Target, wanted: Wanted, *, keeps: bool = False
) -> Iterator[Example]:
    """Read examples of a model's target from a table, as preparation does."""
    if (2 if columns.text2_column else 1) != wanted.sentences:
        how = "give" if wanted.sentences == 2 else "leave out"
        raise InputError(f"the model reads {wanted}: {how} --text2-column")
    if columns.label_column and wanted.labels:
        raise InputError("--label-column: gold labels of words stand in --input-format conll")
    reader = partial(read_plain, strict_label=bool(columns.label_column), keeps=keeps)
    dataset = replace(DATASETS["plain"], reader=reader, target=target)
    return read_split(dataset, "test", path, columns)


class KeptExample(NamedTuple):
    """An example as given, kept in a prepared folder; ``words`` for labels of words."""

    id: str
    texts: tuple[str, ...]
    words: tuple[str, ...]


def kept_examples(
    path: Path, count: int, word_counts: Sequence[int] | None = None
) -> Iterator[KeptExample]:
    """Yield the kept examples of a split; ``word_counts`` is for labels of words."""
    number, wrong = 0, ""
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
            texts, words = (tuple(map(str, row.get(key) or ())) for key in ("texts", "words"))
            kept = KeptExample(str(row["id"]), texts, words)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InputError(f"{path}:{number}: no example; prepare the folder again") from None
        wanted = len(words) if word_counts is None or number > count else word_counts[number - 1]
        if len(words) != wanted and not wrong:
            wrong = f":{number}: example {kept.id!r} has {len(words)} words, the split's streams "
            wrong += str(wanted)
        yield kept
    if number != count:
        wrong = f" has {number} examples, the split {count}"
    if wrong:
        raise InputError(f"{path}{wrong}; prepare again")


def _line(number: int, line: str, where: str, wanted: Wanted) -> Example:
    texts = (line,) if wanted.labels else tuple(line.split("\t"))
    if not line.strip():
        raise InputError(f"{where}: empty line; expected {wanted}")
    if len(texts) != wanted.sentences:
        raise InputError(
            f"{where}: {len(texts)} TAB-separated column(s), but the model reads {wanted}"
        )
    if not all(text.strip() for text in texts):
        raise InputError(f"{where}: one of the two sentences is empty")
    return Example(str(number - 1), texts, line=number)


def _sentence(block: list[Line], identifier: str, name: str, wanted: Wanted) -> Example:
    """Read one sentence in columns; see the top of the file."""
    rows = [(n, columns_of(line, "\t" if "\t" in line else None)) for n, line in block]
    (first, head), gold = rows[0], []
    token, *tag = _columns(wanted.layout, len(head), f"{name}:{first}")
    if FIRST_ROW.fullmatch(block[0][1]):  # its first column has ids; "_" means nothing
        unknown = {"_"}.difference(wanted.labels)
        tag = [place for place in tag if token and {row[place] for _, row in rows} != unknown]
        token = token or 1  # a tagger trained on other files: the columns hold no gold label
    for number, row in rows:
        where = f"{name}:{number}"
        if len(row) != len(head):
            raise InputError(f"{where}: {len(row)} column(s), but line {first} has {len(head)}")
        _check_word(row[token], where)
        for column in tag:
            gold.append(known_label(row[column], wanted.labels))
            if gold[-1] is None:
                found, choices = quoted(row[column]), named(wanted.labels)
                raise InputError(f"{where}: unknown label {found}; choices: {choices}")
    words = tuple(row[token] for _, row in rows)
    labels = tuple(gold) or None
    return Example(identifier, (" ".join(words),), words, word_labels=labels, line=first)


def _columns(layout: TokenLayout, count: int, where: str) -> tuple[int, ...]:
    """Return the column of the word and, if the lines have labels, of the label."""
    if count == 1:
        return (0,)
    both = (layout.token, layout.tag)
    columns = both if layout.has_labels(count) else both[:1]
    if len({column % count for column in columns if -count <= column < count}) < len(columns):
        token, tag = (column + (column >= 0) for column in both)
        raise InputError(
            f"{where}: {count} columns, but the model was trained on files with the word in column "
            f"{token} and its label in column {tag} (from 1, or from -1 at the end); words alone "
            "are one column"
        )
    return columns

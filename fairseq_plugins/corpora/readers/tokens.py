"""Words with labels: one per line (CoNLL), MSRA's corpus, and M2 files of corrected sentences.

MSRA's named entities (SIGHAN 2006) are labels of characters. The corpus exists as
``character<TAB>label`` lines (``msra_train_bio.txt``) and as one line per sentence of ``word/tag``
with the tags o, nr (person), ns (place), nt (organisation).

M2 files give labels of right (``c``) and wrong (``i``) words: those that an edit replaces or
deletes are wrong. An insertion has no words of its own: it marks the next word, as in the published
token files of FCE and Falko-MERLIN, or the last word at the end of the sentence. In those of
Falko-MERLIN a word whose last edit makes it a single punctuation mark is right. Edits of given
types can be ignored.

Alternatively labels of six types, those of SLA's program
(github.com/Neutralzz/syntax_aware_local_attention, ``src/task_utils.py``), which reads them from
unpublished files: spans of words to replace (``B-R``, ``I-R``) or delete (``B-U``, ``I-U``), and
``B-M`` after a gap.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from ...errors import InputError
from ...messages import named, quoted
from ...syntax.labels import plain_label
from ..conllu import BLANKS, FIRST_ROW, Line, read_blocks, token_lines
from ..examples import Example
from .options import SEPARATORS, ReadOptions
from .split_file import SplitFile, tagged

DOCUMENT_START = "-DOCSTART-"  # of CoNLL-2003, between sentences
OUTSIDE = "O"
CORRECT, INCORRECT = "c", "i"
NO_EDIT = "noop"
REPLACED, UNNECESSARY, MISSING = EDITS = "RUM"  # first parts of the types of ERRANT
TYPED = (OUTSIDE, "B-R", "I-R", "B-U", "I-U", "B-M")
MSRA_TAGS = {"o": "", "nr": "PER", "ns": "LOC", "nt": "ORG"}


Edit = tuple[int, int, str, str]  # first word, end, type, correction


@dataclass(frozen=True)
class TokenLayout:
    """The columns of words and labels."""

    token: int = 0  # column of the word, from 0, or from the end
    tag: int = -1  # column of its label
    separator: str | None = "\t"  # between columns; None for any run of blanks
    iob1: bool = False  # whether entities may begin with ``I-`` (CoNLL-2003), which becomes ``B-``
    values: tuple[tuple[str, int], ...] = ()  # layers with the columns, from 0, of their values
    ends: tuple[str, ...] = (DOCUMENT_START,)  # prefixes of lines between sentences
    inner: tuple[int, ...] = ()  # columns, from 0, of further levels of labels
    quoted: str = '"'  # a quotation mark in the files

    @classmethod
    def of(cls, options: ReadOptions) -> TokenLayout:
        numbers = [n - 1 if n > 0 else n for n in (options.token_column, options.tag_column)]
        values = tuple((f"given.{k}", n - 1) for k, n in options.value_columns().items())
        inner = tuple(number - 1 for number in options.inner_columns())
        separator = SEPARATORS[options.separator]
        return cls(numbers[0], numbers[1], separator, values=values, inner=inner)

    def has_labels(self, columns: int) -> bool:
        """Return whether lines of this length have labels; values of a layer are none."""
        tag = self.tag + columns if self.tag < 0 else self.tag
        return columns > 1 and all(column != tag for _, column in self.values)


def columns_of(line: str, separator: str | None) -> list[str]:
    """Split a line at a separator; None means any run of blanks and TABs, no other space."""
    return line.split(separator) if separator else re.split("[ \t]+", line.strip(BLANKS))


def read_tokens(file: SplitFile, layout: TokenLayout | None = None) -> Iterator[Example]:
    """Read a token file; a file with one column, or a layer in its last, has no labels.

    The file may be CoNLL-U: comments, multiword tokens and empty nodes are no words.

    Args:
        layout: of the file, or None for that of the options.
    """
    layout = layout or TokenLayout.of(file.options)
    sentences = read_blocks(token_lines(file.lines()), layout.ends)
    first = next(sentences, None)
    if first is None:
        return
    columns = _checked_columns(file, layout, first[0])
    rows = enumerate(chain([first], sentences))
    yield from file.examples(rows, lambda row: _sentence(*row, file, layout, columns))


def _checked_columns(file: SplitFile, layout: TokenLayout, line: Line) -> int:
    columns = len(columns_of(line[1], layout.separator))
    if FIRST_ROW.fullmatch(line[1]) and layout.token in (0, -10):
        hint = "the words of CoNLL-U stand in column 2: give --token-column 2 and, for their labels"
        raise file.malformed(line[0], f"{hint}, e.g. --tag-column 4 (UPOS)")
    if columns == 1 and len(line[1].split()) > 1:
        hint = "give --separator blank where blanks separate columns, or write TABs"
        raise file.malformed(line[0], f"found blanks, but no TAB in {quoted(line[1])}: {hint}")
    if not layout.has_labels(columns) and file.must_have_labels:
        what = f"found no label column, which split {file.split!r} must have"
        raise file.malformed(line[0], f"{what}: {quoted(line[1])}")
    others = [column for _, column in layout.values]
    others += layout.inner if layout.has_labels(columns) else ()
    for column in (layout.token, layout.tag, *others):
        if (columns > 1 or column in others) and not -columns <= column < columns:
            what = f"found {columns} columns, so there is no column {column + (column >= 0)}"
            raise file.malformed(line[0], what)
    return columns


def _sentence(
    number: int, block: list[Line], file: SplitFile, layout: TokenLayout, columns: int
) -> Example:
    words, values = [], {name: [] for name, _ in layout.values}
    levels: list[list[str]] = [[] for _ in (layout.tag, *layout.inner)]
    for line, text in block:
        fields = columns_of(text, layout.separator)
        if len(fields) != columns:
            raise file.malformed(line, f"found {len(fields)} columns, expected {columns}")
        word = fields[layout.token if columns > 1 else 0]
        words.append(file.word('"' if word == layout.quoted else word, line))
        for name, column in layout.values:
            values[name].append(plain_label(fields[column]))
        if layout.has_labels(columns):
            for labels, column in zip(levels, (layout.tag, *layout.inner)):
                labels.append(fields[column].strip())
    gold, *inner = (_checked(file, labels, block, iob1=layout.iob1) for labels in levels)
    if inner and not all(len(level) == len(gold) for level in inner):
        raise file.malformed(block[0][0], "a sentence with labels in some of its label columns")
    found = tagged(words, gold or None, str(number), block[0][0])
    known = {name: tuple(row) for name, row in values.items()}
    return replace(found, values=known, inner_labels=tuple(inner) if gold else ())


def _checked(
    file: SplitFile, labels: Sequence[str], block: list[Line], *, iob1: bool
) -> tuple[str, ...]:
    """Return a column of labels in their known spelling; empty for a sentence without labels."""
    checked = [file.label(label, line) for label, (line, _) in zip(labels, block)]
    gold = [label for label in checked if label is not None]
    if gold and len(gold) != len(block):
        line = block[checked.index(None)][0]
        raise file.malformed(line, "a word without a label in a sentence with labels")
    return tuple(iob2(gold) if iob1 else gold)


def iob2(labels: Sequence[str]) -> list[str]:
    """Convert IOB1 to IOB2; IOB2 stays unchanged.

    In IOB1 (Ramshaw and Marcus, 1995) an entity begins with ``I-``, unless it directly follows one
    of its own type.
    """
    result, before = [], ""
    for label in labels:
        kind = label[2:] if label[:2] in ("B-", "I-") else ""
        begins = kind and label[0] == "I" and kind != before
        result.append(f"B-{kind}" if begins else label)
        before = kind
    return result


def read_msra(file: SplitFile) -> Iterator[Example]:
    """Read MSRA's corpus in either form, which the first line decides."""
    first = file.first_line()
    if "\t" in first or "/" not in first:
        return read_tokens(file, TokenLayout())
    lines = enumerate(line for line in file.lines() if line[1].strip())
    return file.examples(lines, lambda row: _tagged_line(file, row[0], *row[1]))


def _tagged_line(file: SplitFile, number: int, line: int, text: str) -> Example:
    characters: list[str] = []
    labels: list[str] = []
    for piece in text.split():
        word, slash, tag = piece.rpartition("/")
        kind = MSRA_TAGS.get(tag.lower())
        if not word or kind is None:
            expected = f"word/tag with a tag of {', '.join(MSRA_TAGS)}"
            raise file.malformed(line, f"expected {expected}, found {quoted(piece)}")
        characters.extend(word)
        inside = [f"I-{kind}"] * (len(word) - 1)
        labels.extend([f"B-{kind}", *inside][: len(word)] if kind else [OUTSIDE] * len(word))
    if not characters:
        raise file.empty(line)
    return tagged(characters, labels, str(number), line)


def read_m2(
    file: SplitFile, right: Collection[str] = (), *, typed: bool = False
) -> Iterator[Example]:
    """Read an M2 file with the edits of one annotator.

    Args:
        right: corrections after which a word is right, if no later edit marks it.
        typed: whether labels are those of `TYPED`.
    """
    seen: Counter[int] = Counter()
    wanted, ignored = file.options.m2_annotator, {NO_EDIT, *file.options.ignored_edits.split(",")}

    def make(row: tuple[int, list[Line]]) -> Example:
        number, (sentence, *edits) = row
        words = _words(file, *sentence)
        found: list[Edit] = []
        for edit in edits:
            annotator, own = _edit(file, *edit, len(words))
            seen[annotator] += 1
            if annotator == wanted and own[2] not in ignored:
                found.append(own)
        labels = _typed_labels(len(words), found)
        if not typed:
            labels = _error_labels(len(words), found, right)
        return tagged(words, labels, str(number), sentence[0])

    yield from file.examples(enumerate(read_blocks(file.lines())), make)
    if seen and wanted not in seen:
        there = named(sorted(seen))
        raise InputError(f"{file.path}: no edits of annotator {wanted}; those of {there} are there")


def _error_labels(words: int, edits: Sequence[Edit], right: Collection[str]) -> list[str]:
    """Return the label of each word by its last edit."""
    labels = [CORRECT] * words
    for first, last, _, correction in edits:
        for place in _marked(first, last, words):
            labels[place] = CORRECT if correction in right else INCORRECT
    return labels


def _typed_labels(words: int, edits: Sequence[Edit]) -> list[str]:
    """Return labels of `TYPED`.

    Of edits that mark the same word, the first that covers words counts, and the rest of another
    begins its own span. Types other than ERRANT's ``R:…``, ``U:…`` and ``M:…``, such as ``UNK``,
    count as replacement.
    """
    labels = [OUTSIDE] * words
    for first, last, kind, _ in sorted(edits, key=lambda edit: edit[0] == edit[1]):
        type_ = kind.partition(":")[0]
        type_ = MISSING if first == last else type_ if type_ in EDITS else REPLACED
        free = [place for place in _marked(first, last, words) if labels[place] == OUTSIDE]
        for place in free:
            inside = place - 1 in free and type_ != MISSING
            labels[place] = f"{'I' if inside else 'B'}-{type_}"
    return labels


def _marked(first: int, last: int, words: int) -> range:
    """Return the words that an edit marks; an insertion the next word, or else the last."""
    first = min(first, words - 1)
    return range(first, max(last, first + 1))


def _words(file: SplitFile, number: int, line: str) -> list[str]:
    letter, *words = line.split(" ")
    if letter != "S":
        raise file.malformed(number, f"expected a sentence 'S …', found {quoted(line)}")
    if not "".join(words).strip():
        raise file.empty(number)
    return [file.word(word, number) for word in words]


def _edit(file: SplitFile, number: int, text: str, words: int) -> tuple[int, Edit]:
    """Read ``A first last|||type|||correction|||…|||annotator``, the annotator first."""
    try:
        head, kind, *more, annotator = text.split("|||")
        letter, first, last = head.split()
        found = int(annotator), (int(first), int(last), kind, more[0] if more else "")
        if letter != "A":
            raise ValueError
    except ValueError:
        what = f"expected an edit 'A first last|||type|||…|||annotator', found {quoted(text)}"
        raise file.malformed(number, what) from None
    begin, end, *_ = found[1]
    if kind != NO_EDIT and not 0 <= begin <= end <= words:
        raise file.malformed(number, f"edit {begin} {end} of a sentence of {words} words")
    return found

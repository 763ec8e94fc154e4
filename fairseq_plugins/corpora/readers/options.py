"""How the user's own files are laid out, and what to do with rows that cannot be used."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...messages import named, quoted
from ...text_reading import is_cell

SEPARATORS = {"tab": "\t", "blank": None}  # name -> what str.split takes
COLUMNS = ("text_column", "text2_column", "label_column", "id_column")
POLICIES = ("error", "skip")


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading; official formats ignore the names and numbers of columns.

    Args:
        text_column, text2_column, label_column, id_column: columns of ``plain`` files by name
            (keys, for JSONL); an empty name stands for no such column.
        token_column, tag_column: columns of token files by number from 1, or from the end: -1.
        separator: between the columns of token files, of `SEPARATORS`.
        annotator: whose edits of an M2 file count.
        ignored_edits: types of M2 edits that mark no word, with commas (``M:PUNCT,U:PUNCT``).
        no_header: whether ``plain`` tables have no line of names: their columns are numbers from 1.
        labels: closed set of labels in id order, where the dataset has none of its own.
        on_empty: what to do with an empty sentence, of `POLICIES`.
        on_bad_row: what to do with a row of another form than its file's, of `POLICIES`.

    Raises:
        ValueError: a value that is none of the choices.
    """

    text_column: str = "text"
    text2_column: str = ""
    label_column: str = "label"
    id_column: str = ""
    token_column: int = 1
    tag_column: int = -1
    separator: str = "tab"
    annotator: int = 0
    ignored_edits: str = ""
    no_header: bool = False
    labels: tuple[str, ...] = ()
    on_empty: str = "error"
    on_bad_row: str = "error"

    def __post_init__(self) -> None:
        """Check what can be checked without a file."""
        for flag, value, choices in (
            ("separator", self.separator, tuple(SEPARATORS)),
            ("on-empty", self.on_empty, POLICIES),
            ("on-bad-row", self.on_bad_row, POLICIES),
        ):
            if value not in choices:
                raise ValueError(f"--{flag} {value!r}: choices are {', '.join(choices)}")
        for flag, number in (("token", self.token_column), ("tag", self.tag_column)):
            if number == 0:
                raise ValueError(f"--{flag}-column 0: columns count from 1, or from -1 at the end")
        if self.annotator < 0:
            raise ValueError(f"--annotator {self.annotator}: annotators count from 0")
        if not self.text_column:
            raise ValueError("--text-column must name a column")
        for name in COLUMNS if self.no_header else ():
            value = getattr(self, name)
            if value and not re.fullmatch("[1-9][0-9]{0,5}", value):
                raise ValueError(
                    f"--{name.replace('_', '-')} {quoted(value)}: with --no-header, columns are "
                    "numbers, from 1 for the first"
                )
        if len(set(self.labels)) != len(self.labels):
            raise ValueError(f"--labels names a label twice: {named(self.labels)}")
        unfit = [label for label in self.labels if not is_cell(label)]
        if unfit:
            raise ValueError(f"--labels: {quoted(unfit[0])} is empty, or holds a tab or line break")


HELP = {
    "text_column": "own TSV or JSONL: column of the (first) sentence",
    "text2_column": "own TSV or JSONL: column of the second sentence, for pairs",
    "label_column": "own TSV or JSONL: column of the label or score",
    "id_column": "own TSV or JSONL: column of an id (default: the row's number)",
    "token_column": "own token files: column of the word, from 1 (-1: the last)",
    "tag_column": "own token files: column of its label, from 1 (-1: the last)",
    "separator": f"own token files: what separates columns: {' | '.join(SEPARATORS)}",
    "annotator": "M2 files: whose edits count",
    "ignored_edits": "M2 files: comma-separated types of edits that mark no word",
    "no_header": "own TSV without a line of column names: columns are given by number, from 1",
    "labels": "own data: the labels in the order of their ids (default: those of train, sorted)",
    "on_empty": f"an empty sentence: {' | '.join(POLICIES)}",
    "on_bad_row": f"a row with other columns, labels or offsets: {' | '.join(POLICIES)}",
}

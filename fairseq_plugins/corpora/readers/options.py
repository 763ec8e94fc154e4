"""Layout of the user's own files, and policies for unusable rows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import InputError
from ...messages import named, quoted
from ...option_flags import check, flag_of, option
from ...text_reading import is_cell

SEPARATORS = {"tab": "\t", "blank": None}  # name -> argument of str.split
COLUMNS = ("text_column", "text2_column", "label_column", "id_column")
RECORDED = {"annotator": "m2_annotator"}  # option name in manifests -> its field
POLICIES = ("error", "skip")
JSON_SUFFIXES = (".jsonl", ".json")
TABLES = (*JSON_SUFFIXES, ".csv")  # suffixes of files that are never plain text


@dataclass(frozen=True)
class ReadOptions:
    """Options of reading; official formats ignore the names and numbers of columns."""

    text_column: str = option("own TSV, CSV or JSONL: column of the (first) sentence", "text")
    text2_column: str = option(
        "own TSV, CSV or JSONL: column of the second sentence, for pairs", ""
    )
    label_column: str = option("own TSV, CSV or JSONL: column of the label or score", "label")
    id_column: str = option(
        "own TSV, CSV or JSONL: column of an id (default: the row's number)", ""
    )
    token_column: int = option("own token files: column of the word, from 1 (-1: the last)", 1)
    tag_column: int = option("own token files: column of its label, from 1 (-1: the last)", -1)
    nested_columns: str = option(
        "own token files: columns, from 1, of further labels of each word, for entities within "
        "others, e.g. 4 or 4,5",
        "",
    )
    layer_columns: str = option(
        "own token files: columns, from 1, of the values of given layers, e.g. role=3,chunk=4 for "
        "given.role and given.chunk",
        "",
    )
    separator: str = option(
        "own token files: what separates the columns", "tab", choices=tuple(SEPARATORS)
    )
    m2_annotator: int = option("M2 files: number of the annotator whose edits count", 0, least=0)
    ignored_edits: str = option("M2 files: comma-separated types of edits that mark no word", "")
    no_header: bool = option(
        "own TSV or CSV without a line of column names: columns are given by number, from 1", False
    )
    labels: tuple[str, ...] = option(
        "own data: the labels in the order of their ids (default: those of train, sorted)", ()
    )
    on_empty: str = option("what to do with an empty sentence", "error", choices=POLICIES)
    on_bad_row: str = option(
        "what to do with a row with other columns, labels or offsets", "error", choices=POLICIES
    )

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "ReadOptions":
        """Return the options in a prepared folder's manifest, with defaults for missing ones."""
        known = options.get("read")
        known = known if isinstance(known, dict) else {}
        known = {RECORDED.get(name, name): value for name, value in known.items()}
        names = cls.__dataclass_fields__.keys() & known.keys()
        given: dict[str, Any] = {
            name: tuple(v) if isinstance(v := known[name], list) else v for name in names
        }
        return cls(**given)

    def __post_init__(self) -> None:
        check(self)
        for name in ("token_column", "tag_column"):
            if getattr(self, name) == 0:
                hint = "columns count from 1, or from -1 at the end"
                raise InputError(f"{flag_of(name)} 0: {hint}")
        self.value_columns()
        self.inner_columns()
        if not self.text_column:
            raise InputError("--text-column must name a column")
        for name in COLUMNS if self.no_header else ():
            value = getattr(self, name)
            if value and not re.fullmatch("[1-9][0-9]{0,5}", value):
                raise InputError(
                    f"{flag_of(name)} {quoted(value)}: with --no-header, columns are numbers, from "
                    "1 for the first"
                )
        if len(set(self.labels)) != len(self.labels):
            raise InputError(f"--labels names a label twice: {named(self.labels)}")
        unfit = [label for label in self.labels if not is_cell(label)]
        if unfit:
            raise InputError(f"--labels: {quoted(unfit[0])} is empty, or holds a tab or line break")

    def inner_columns(self) -> tuple[int, ...]:
        """Return the columns, from 1, of further levels of labels."""
        parts = [part.strip() for part in self.nested_columns.split(",") if self.nested_columns]
        if not all(re.fullmatch("[1-9][0-9]{0,5}", part) for part in parts):
            raise InputError(f"--nested-columns {quoted(self.nested_columns)}: expected 4 or 4,5")
        found = tuple(map(int, parts))
        own = {self.tag_column, self.token_column} if found else set()
        if len({*found, *own}) < len(found) + len(own):
            raise InputError(
                f"--nested-columns {quoted(self.nested_columns)}: a column is there twice, or is "
                f"--tag-column {self.tag_column} or --token-column {self.token_column}"
            )
        if found and self.tag_column < 0:
            raise InputError("--nested-columns needs --tag-column, that of the outermost labels")
        return found

    def value_columns(self) -> dict[str, int]:
        """Return name of a given layer -> column, from 1, of its values."""
        found = {}
        for part in filter(None, self.layer_columns.split(",")):
            name, _, column = part.strip().partition("=")
            if not re.fullmatch(r"\w+", name) or not re.fullmatch("[1-9][0-9]{0,5}", column):
                raise InputError(
                    f"--layer-columns {quoted(part)}: expected a name and a column, role=3"
                )
            if name in found:
                raise InputError(f"--layer-columns {quoted(part)}: {name} is there twice")
            found[name] = int(column)
        return found

"""A prediction for an example as a record: a line of JSON, cells of a table."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..errors import InputError
from ..messages import named, quoted

NEARLY = 1e-3  # rounding of probabilities in files
_BREAKS = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(frozen=True)
class Prediction:
    """A prediction for one example; each kind of target has its own."""

    FIELDS: ClassVar[tuple[str, ...]]  # keys of a line of JSON, in order
    HEAD: ClassVar[tuple[str, ...]]  # names of the cells of a table

    id: str  # the example's
    answer: Any  # the predicted value
    gold: Any = None  # the true value; None if unknown
    texts: tuple[str, ...] = ()  # one or two sentences, or W words; empty if unknown
    probabilities: Any = ()  # of all possible values; may be empty
    line: int = 0  # of the source file, from 1
    # label -> description, for labels that need one
    names: Mapping[str, str] = field(default_factory=dict, compare=False)
    # the row of the source table, if wanted
    columns: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def bars(self) -> list[tuple[str, float]]:
        """Possible values with their probabilities, best first; may be empty."""
        return []

    @property
    def text(self) -> str:
        """The answer for readers."""
        return str(self.answer)

    @property
    def marked(self) -> list[tuple[str, str]]:
        """Words with their answers; empty if words have none."""
        return []

    @property
    def shares(self) -> Any:
        """The part of ``probabilities`` that belongs to the answer."""
        return ()

    @property
    def judged(self) -> list[tuple[float, bool]]:
        """Probabilities of answers with gold, and whether they are right; may be empty."""
        return []

    def bare(self) -> "Prediction":
        """Return what is needed for metrics."""
        return type(self)(self.id, self.answer, self.gold, probabilities=self.shares)

    def record(self) -> dict[str, Any]:
        """Return the fields of a line of JSON; gold, texts and so on only if known."""
        fields = {name: getattr(self, name) for name in (*self.FIELDS, "columns")}
        known = {"gold": self.gold is not None, "texts": self.texts, "name": fields.get("name")}
        known["columns"] = self.columns
        return {name: value for name, value in fields.items() if known.get(name, True)}

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Yield the cells of a table after the id, one tuple per line."""
        raise NotImplementedError

    def json(self) -> str:
        """Return a line of JSON."""
        return json.dumps(self.record(), ensure_ascii=False) + "\n"

    def tsv(self) -> str:
        """Return the lines of a table."""
        return "".join(row_of_cells(self.id, *row, *self.columns.values()) for row in self.rows())

    def glue(self, names: Mapping[str, str]) -> str:
        """Return the answer for GLUE's server; ``names``: our label -> the server's."""
        return names.get(self.answer, self.answer)


def row_of_cells(*values: Any) -> str:
    """Return values as a line of TSV: no cell has a line break or half a character."""
    cells = (_BREAKS.sub(" ", str(value)).encode("utf-8", "replace").decode() for value in values)
    return "\t".join(cells) + "\n"


def texts_of(record: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """Return a list of texts from a line of JSON; refuse other values."""
    values = record[key]
    if not isinstance(values, list | tuple) or not all(isinstance(text, str) for text in values):
        wanted = "sentences" if key == "texts" else "texts"
        raise InputError(f"{where}: {key!r} are {quoted(values)}, expected a list of {wanted}")
    return tuple(values)


def sentences_of(record: Mapping[str, Any], where: str) -> tuple[str, ...]:
    """Return the sentences of a line of JSON, if it has any."""
    return texts_of(record, "texts", where) if record.get("texts") else ()


def shares_of(record: Mapping[str, Any], answer: Iterable[str], where: str) -> Mapping[str, float]:
    """Return the probabilities of a line of JSON, if any, with those of the answer."""
    shares = record.get("probabilities", {})
    values = [*shares.values()] if isinstance(shares, Mapping) else [quoted(shares)]
    if not all(is_number(one) and -NEARLY <= one <= 1 + NEARLY for one in values):
        raise InputError(f"{where}: probabilities are {named(values)}")
    if "probabilities" in record and (unknown := {*answer}.difference(shares)):
        raise InputError(f"{where}: no probability of label {quoted(min(unknown))}")
    return shares


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a finite number."""
    try:
        return isinstance(value, float | int) and math.isfinite(value)
    except OverflowError:  # an integer of hundreds of digits
        return False

"""A run that has ended as one line of ``rows.jsonl``: the contract between runs and their views.

`run` writes a row for every run that came to its end, `results keep` copies rows with counts of
their examples into a file, and tables, comparisons, pages and figures read rows alone. A row is
known by its experiment, part, setting (system, rate, length, choice, share of the data) and seed.
"""

import json
import math
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from ..errors import InputError
from ..evaluation.example_answers import ExampleCounts
from ..evaluation.packed_counts import unpacked
from ..files import write_text
from ..messages import quoted
from ..text_reading import parse_json
from .plan.yaml_file import read_as
from .safe_files import is_below, read_text

SCHEMA = 1
FINISHED, FAILED = "finished", "failed"
CPU = "cpu"  # device of a run that names no card
Choice = tuple[tuple[str, Any], ...]  # the values of a system's options that are lists
_LARGEST = 1e150  # of which the square is still a number


def _no_larger(score: float) -> float:
    if score < -_LARGEST or _LARGEST < score < math.inf:  # a loss may be infinite
        raise InputError(f"{score:g} is no score: {_LARGEST:g} is the largest")
    return score


Scores = dict[str, Annotated[float, AfterValidator(_no_larger)]]
_ROUNDING = 1e-3  # of a score, and as a share of it: kept fractions and logs are rounded
_Share = Annotated[float, Field(gt=0, le=1)]


class Setting(NamedTuple):
    """Everything about a run but its seed."""

    system: str
    learning_rate: float
    epochs: int
    choice: Choice = ()
    fraction: float = 1.0
    updates: int = 0

    @property
    def values(self) -> str:
        """The learning rate and whatever else was chosen."""
        made = [f"{name} {value}" for name, value in self.choice]
        length = f"{self.updates:,} updates" if self.updates else f"{self.epochs} epochs"
        share = [] if self.fraction == 1 else [f"{self.fraction * 100:g} % of the data"]
        return ", ".join([f"lr {self.learning_rate:g}", length, *share, *made])

    @property
    def order(self) -> tuple[Any, ...]:
        """What settings are sorted by."""
        return (*self[:3], self.updates, str(self.choice), self.fraction)

    @property
    def title(self) -> str:
        """The system and what was chosen of its options, to be read."""
        share = "" if self.fraction == 1 else f"{self.fraction * 100:g} %"
        choices = (f"{name}={value}" for name, value in self.choice)
        return " ".join(filter(None, (self.system, share, *choices)))


class Row(BaseModel):
    """One run; what is not known of it is empty.

    Args:
        experiment, part, dataset: what the run belongs to.
        system, arch: name in the experiment, and its architecture.
        seed: of initialisation, dropout and order.
        share: of the training data.
        learning_rate, epochs, updates, choice: the rest of the setting; `epochs` is 0 where a
            number of updates says how long it trains, `updates` are those in all.
        options: of ``fairseq-train``, without the seed.
        status, error: `FINISHED`, or `FAILED` and why.
        metric, chosen_on: what chose the best checkpoint, and on which split.
        metrics: split -> metrics of the best checkpoint.
        last: metrics of the last validation.
        counts: split -> packed counts of each example; see `evaluation.packed_counts`.
        positive: label that F1 and error metrics are about.
        best_updates, parameters, processes: of the training; 0 where nothing tells.
        gates: layer -> mean share of local attention.
        data: fingerprint of what is scored.
        prepared, examples: prepared folder, and number of its training examples.
        made_of: input -> first digits of its SHA-256; what annotated the text, and cut it.
        trained: first digits of a hash of all that decides the training, but seed and data.
        note, trial: what is said of its result wherever it is shown; mark of a run cut short.
        device: the card, or "cpu".
        command, versions, seconds: what trained it, with what, and how long.
        folder: of the run, counted from the file of rows that `run` wrote.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    experiment: str
    part: str
    dataset: str
    system: str
    arch: str = ""
    seed: int
    share: _Share = 1.0
    learning_rate: float
    epochs: int = Field(0, ge=0)
    updates: int = Field(0, ge=0)
    choice: dict[str, str | int | float | bool] = {}
    options: dict[str, Any] = {}
    status: Literal["finished", "failed"]
    error: str = ""
    metric: str = ""
    chosen_on: str = "valid"
    metrics: dict[str, Scores] = {}
    last: Scores = {}
    counts: dict[str, dict[str, Any]] = {}
    positive: str = ""
    best_updates: int = 0
    parameters: int = 0
    processes: int = 1
    gates: dict[str, float] = {}
    data: str = ""
    prepared: str = ""
    examples: int = 0
    made_of: dict[str, str] = {}
    trained: str = ""
    note: str = ""
    trial: str = ""
    device: str = CPU
    command: str = ""
    versions: dict[str, str] = {}
    seconds: float | None = None
    folder: str

    @model_validator(mode="after")
    def _tells_its_score(self) -> "Row":
        for name, scores in (("metrics", self.best), ("last", self.last)):
            if self.is_finished and self.metric not in scores:
                raise InputError(f"key {name!r}: no value of {quoted(self.metric)}")
        return self

    @property
    def is_finished(self) -> bool:
        """Whether there is a result."""
        return self.status == FINISHED

    @property
    def best(self) -> Scores:
        """Metrics of the best checkpoint on the split that chose it."""
        return self.metrics.get(self.chosen_on, {})

    @property
    def evaluated(self) -> str:
        """The other split that the best checkpoint was tried on; may be empty."""
        return next((split for split in self.metrics if split != self.chosen_on), "")

    @cached_property
    def setting(self) -> Setting:
        """Everything but the seed."""
        length = 0 if self.epochs else self.updates
        choice = tuple(self.choice.items())
        rate = self.learning_rate
        return Setting(self.system, rate, self.epochs, choice, self.share, length)

    @property
    def key(self) -> tuple[Any, ...]:
        """What no other row has."""
        return (self.experiment, self.part, self.dataset, self.setting, self.seed)

    def line(self) -> str:
        """Return it as a line of a file; what is not known is left out."""
        found = self.model_dump(exclude_defaults=True)
        return json.dumps({"schema": SCHEMA, **found}, ensure_ascii=False) + "\n"


class PlacedRow(NamedTuple):
    """A row with its place: file and line, and its folder, counted from there."""

    place: str
    row: Row
    folder: Path


def counts_of(one: PlacedRow) -> dict[str, ExampleCounts]:
    """Return split -> how each example counts, of those splits for which the row keeps it."""
    found = {}
    for split, kept in one.row.counts.items():
        found[split] = unpacked({**kept, "split": split}, one.place)
        check_counts(found[split], one)
    return found


def check_counts(counts: ExampleCounts, one: PlacedRow) -> None:
    """Refuse counts that do not tell the score of their row; see `counts_of`."""
    told = one.row.metrics.get(counts.split, {}).get(counts.metric)
    what = f"{one.place}: key 'counts': {quoted(counts.metric)} on {quoted(counts.split)}"
    if told is None:
        raise InputError(f"{what}: the row has no such score")
    own = counts.score(np.ones(counts.count, dtype=np.int64))
    if not math.isclose(own, told, rel_tol=_ROUNDING, abs_tol=_ROUNDING):
        raise InputError(f"{what} is {own:g}, in the row {told:g}")


def read_rows(path: Path, remarks: list[str] | None = None) -> list[PlacedRow]:
    """Read a file of rows.

    Args:
        path: of the file.
        remarks: lines that are no rows are passed over, and told of here; None if that is an error.
    """
    places: dict[tuple[Any, ...], str] = {}
    found = []
    for number, line in enumerate(read_text(path, errors="surrogateescape").split("\n"), start=1):
        place = f"{path}:{number}"
        try:
            if line.strip():
                found.append(_placed(line, place, path.parent, places))
        except InputError as error:
            if remarks is None:
                raise
            remarks.append(f"passed over {error}")
    return found


def _placed(line: str, place: str, root: Path, places: dict[tuple[Any, ...], str]) -> PlacedRow:
    """Return the row of a line; see `read_rows`.

    Args:
        line, place, root: what stands where, and the folder of the file.
        places: key of a row -> its place; this one is added.
    """
    try:
        content = parse_json(line)
    except ValueError as error:
        raise InputError(f"{place}: no row (a JSON object a line): {error}") from None
    row = read_as(Row, _of_this_release(content, place), place)
    folder = root / row.folder
    if not is_below(root, folder):
        raise InputError(f"{place}: key 'folder': {quoted(row.folder)} lies outside")
    if (before := places.setdefault(row.key, place)) != place:
        raise InputError(f"{place}: the run of {before} again (same setting and seed)")
    return PlacedRow(place, row, folder)


def _of_this_release(content: Any, place: str) -> Any:
    """Return a row without the number of its schema."""
    if not isinstance(content, dict):
        return content
    if content.get("schema") != SCHEMA:
        told = quoted(content.get("schema"))
        raise InputError(
            f"{place}: key 'schema' is {told}: rows of this release have {SCHEMA}, and the same "
            "`run` command as before writes them anew"
        )
    return {name: value for name, value in content.items() if name != "schema"}


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Write a file of rows, all or nothing."""
    write_text(path, "".join(row.line() for row in rows))

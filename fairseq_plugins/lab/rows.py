"""A finished run as one line of ``rows.jsonl``: the contract between runs and their views.

`run` writes a row for every run that ended, `results keep` copies rows with counts of their
examples into a file, and tables, comparisons, pages and figures read only rows. Experiment, part,
setting (system, rate, length, choice, share of the data) and seed identify a row.
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
CPU = "cpu"  # device of a run without a GPU
Choice = tuple[tuple[str, Any], ...]  # the values of a system's options that are lists
_LARGEST = 1e150  # largest number with a representable square


def _no_larger(score: float) -> float:
    if score < -_LARGEST or _LARGEST < score < math.inf:  # a loss may be infinite
        raise InputError(f"{score:g} is no score: {_LARGEST:g} is the largest")
    return score


Scores = dict[str, Annotated[float, AfterValidator(_no_larger)]]
_ROUNDING = 1e-3  # of a score, absolute and relative: kept fractions and logs are rounded
_Share = Annotated[float, Field(gt=0, le=1)]


class Setting(NamedTuple):
    """Everything about a run except its seed."""

    system: str
    learning_rate: float
    epochs: int
    choice: Choice = ()
    fraction: float = 1.0
    updates: int = 0

    @property
    def values(self) -> str:
        """The learning rate, length, share and choices, as text."""
        made = [f"{name} {value}" for name, value in self.choice]
        length = f"{self.updates:,} updates" if self.updates else f"{self.epochs} epochs"
        share = [] if self.fraction == 1 else [f"{self.fraction * 100:g} % of the data"]
        return ", ".join([f"lr {self.learning_rate:g}", length, *share, *made])

    @property
    def order(self) -> tuple[Any, ...]:
        """Sort key."""
        return (*self[:3], self.updates, str(self.choice), self.fraction)

    @property
    def title(self) -> str:
        """The system, its share and its choices, as text."""
        share = "" if self.fraction == 1 else f"{self.fraction * 100:g} %"
        choices = (f"{name}={value}" for name, value in self.choice)
        return " ".join(filter(None, (self.system, share, *choices)))


class Row(BaseModel):
    """One run; unknown values are empty."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    # experiment, part, dataset: the place of the run
    experiment: str
    part: str
    dataset: str
    # system, arch: name in the experiment, and its architecture
    system: str
    arch: str = ""
    seed: int  # of initialisation, dropout and order
    share: _Share = 1.0  # of the training data
    # learning_rate, epochs, updates, choice: the rest of the setting; `epochs` is 0 if a number of
    # updates sets the length; `updates` is the total
    learning_rate: float
    epochs: int = Field(0, ge=0)
    updates: int = Field(0, ge=0)
    choice: dict[str, str | int | float | bool] = {}
    options: dict[str, Any] = {}  # of ``fairseq-train``, without the seed
    # status, error: `FINISHED`, or `FAILED` with the reason
    status: Literal["finished", "failed"]
    error: str = ""
    # metric, chosen_on: metric and split that chose the best checkpoint
    metric: str = ""
    chosen_on: str = "valid"
    metrics: dict[str, Scores] = {}  # split -> metrics of the best checkpoint
    last: Scores = {}  # metrics of the last validation
    # split -> packed counts of each example; see `evaluation.packed_counts`
    counts: dict[str, dict[str, Any]] = {}
    positive: str = ""  # label of F1 and error metrics
    # best_updates, parameters, processes: of the training; 0 if unknown
    best_updates: int = 0
    parameters: int = 0
    processes: int = 1
    gates: dict[str, float] = {}  # layer -> mean share of local attention
    data: str = ""  # fingerprint of the scored data
    # prepared, examples: prepared folder, and number of its training examples
    prepared: str = ""
    examples: int = 0
    made_of: dict[str, str] = {}  # input -> short SHA-256; annotator and tokenisation
    trained: str = ""  # short hash of all that decides the training, except seed and data
    # note, trial: warning beside every result; mark of a run cut short
    note: str = ""
    trial: str = ""
    device: str = CPU  # the GPU, or "cpu"
    # command, versions, seconds: of the training
    command: str = ""
    versions: dict[str, str] = {}
    seconds: float | None = None
    folder: str  # of the run, relative to the file of rows that `run` wrote

    @model_validator(mode="after")
    def _tells_its_score(self) -> "Row":
        for name, scores in (("metrics", self.best), ("last", self.last)):
            if self.is_finished and self.metric not in scores:
                raise InputError(f"key {name!r}: no value of {quoted(self.metric)}")
        return self

    @property
    def is_finished(self) -> bool:
        return self.status == FINISHED

    @property
    def best(self) -> Scores:
        """Metrics of the best checkpoint on the split that chose it."""
        return self.metrics.get(self.chosen_on, {})

    @property
    def evaluated(self) -> str:
        """The other split of the best checkpoint's evaluation; may be empty."""
        return next((split for split in self.metrics if split != self.chosen_on), "")

    @cached_property
    def setting(self) -> Setting:
        """Everything except the seed."""
        length = 0 if self.epochs else self.updates
        choice = tuple(self.choice.items())
        rate = self.learning_rate
        return Setting(self.system, rate, self.epochs, choice, self.share, length)

    @property
    def key(self) -> tuple[Any, ...]:
        """Unique key of the row."""
        return (self.experiment, self.part, self.dataset, self.setting, self.seed)

    def line(self) -> str:
        """Return the row as a line of a file; unknown values are left out."""
        found = self.model_dump(exclude_defaults=True)
        return json.dumps({"schema": SCHEMA, **found}, ensure_ascii=False) + "\n"


class PlacedRow(NamedTuple):
    """A row with its file and line, and the path of its folder."""

    place: str
    row: Row
    folder: Path


def counts_of(one: PlacedRow) -> dict[str, ExampleCounts]:
    """Return split -> counts of each example, for the splits that the row keeps."""
    found = {}
    for split, kept in one.row.counts.items():
        found[split] = unpacked({**kept, "split": split}, one.place)
        check_counts(found[split], one)
    return found


def check_counts(counts: ExampleCounts, one: PlacedRow) -> None:
    """Refuse counts that contradict the score of their row."""
    told = one.row.metrics.get(counts.split, {}).get(counts.metric)
    what = f"{one.place}: key 'counts': {quoted(counts.metric)} on {quoted(counts.split)}"
    if told is None:
        raise InputError(f"{what}: the row has no such score")
    own = counts.score(np.ones(counts.count, dtype=np.int64))
    if not math.isclose(own, told, rel_tol=_ROUNDING, abs_tol=_ROUNDING):
        raise InputError(f"{what} is {own:g}, in the row {told:g}")


def read_rows(path: Path, remarks: list[str] | None = None) -> list[PlacedRow]:
    """Read a file of rows; ``remarks`` collects all that is no row, which is else an error."""
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
    """Return the row of a line, and add it to ``places`` (key of a row -> its place)."""
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
    """Return a row without its schema number; refuse other schemas."""
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

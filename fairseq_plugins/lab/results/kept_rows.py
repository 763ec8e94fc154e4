"""Rows of an experiment, kept with or without its runs -> its finished runs, to be compared again.

A row is a line of ``rows.jsonl``. Its ``folder`` counts from the file's: where the runs lie there,
as in the experiment itself, their predictions are found. Elsewhere a row that `keeping` made has
counts of its examples, of the metric that is shown, which have to agree with its score.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...evaluation.example_answers import ExampleCounts
from ...evaluation.packed_counts import unpacked
from ...messages import quoted
from ..safe_files import is_below, parse_json, read_text
from .run_frame import BEST, EVALUATION, FINISHED, Facts, frame, row_of_facts
from .runs import Outcomes, compared, tried

COUNTS = "counts"  # key of a row
_NEEDED = {  # key of a finished run -> what it holds
    **dict.fromkeys(("folder", "dataset", "system", "metric"), str),
    "seed": int,
    "learning_rate": (int, float),
    **dict.fromkeys(("best", "last"), dict),
}
_SHARED = ("dataset", "metric", "validation")  # what runs that are compared have in common
_LARGEST = 2**24  # numbers that the counts of a file have, and cells that are made of them
_ROUNDING = 1e-3  # of a score, and as a share of it: kept fractions and logs are rounded


def numbered_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a file, each after its place: file and line.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line that is no JSON object; names file and line.
    """
    for number, line in enumerate(read_text(path, errors="surrogateescape").split("\n"), start=1):
        row = tried(partial(parse_json, line), [], None) if line.strip() else {}
        if not isinstance(row, dict):
            raise ValueError(f"{path}:{number}: no row of an experiment (a JSON object a line)")
        if line.strip():
            yield f"{path}:{number}", row


def kept_outcomes(path: Path) -> Outcomes:
    """Read the finished runs of a file of rows; failed ones are passed over.

    Raises:
        OSError: the file cannot be read.
        ValueError: a line that is no row of a finished run, is one of another dataset, or the same
            run once more, or whose counts are none or tell another score; names file, line and key.
            Or no run is finished.
    """
    return outcomes_of_rows(numbered_rows(path), path)


def outcomes_of_rows(rows: Iterable[tuple[str, Facts]], path: Path) -> Outcomes:
    """Make runs of numbered rows of a file; see `kept_outcomes`."""
    if not (found := finished_rows(rows, path)):
        raise ValueError(f"{path}: no finished run (no row whose key 'status' is {FINISHED!r})")
    return compared(frame(found))


def finished_rows(rows: Iterable[tuple[str, Facts]], path: Path) -> list[dict[str, Any]]:
    """Return rows of a frame, of those numbered rows that are finished; see `kept_outcomes`."""
    places: dict[tuple, str] = {}
    found: list[dict[str, Any]] = []
    numbers = 0
    for place, facts in rows:
        if _value(facts, "status", str, place) != FINISHED:
            continue
        row = _row(facts, place, path.parent)
        check_shared(row, found[0] if found else row)
        run = row["setting"], row["seed"]
        if run in places:
            raise ValueError(
                f"{place}: key 'seed': {row['seed']} is the run of {places[run]} again"
            )
        numbers += _size(row["counts"])
        if numbers > _LARGEST:
            raise ValueError(f"{place}: key {COUNTS!r}: up to here over {_LARGEST:,} numbers")
        places[run] = place
        found.append(row)
    return found


def check_shared(row: Mapping[str, Any], first: Mapping[str, Any]) -> None:
    """Refuse a row that cannot be compared with the first; ValueError: see `kept_outcomes`."""
    for key in _SHARED:
        if row[key] != first[key]:
            said, before = quoted(row[key]), quoted(first[key])
            raise ValueError(f"{row['place']}: key {key!r}: {said}, of rows before {before}")


def check_counts(one: ExampleCounts, row: Mapping[str, Any]) -> None:
    """Refuse counts that do not tell the score of their row.

    Raises:
        ValueError: they do not, or the row has no such score; names the row and both scores.
    """
    where = {row["validation"]: BEST, row["evaluated"]: EVALUATION}.get(one.split)
    what, told = f"{quoted(one.metric)} on {quoted(one.split)}", row.get(f"{where}.{one.metric}")
    if told is None:
        raise ValueError(f"{row['place']}: key {COUNTS!r}: of {what}, the row has no such score")
    own = one.score(np.ones(one.count, dtype=np.int64))
    if not math.isclose(own, told, rel_tol=_ROUNDING, abs_tol=_ROUNDING):
        raise ValueError(f"{row['place']}: key {COUNTS!r}: {what} is {own:g}, in the row {told:g}")


def _size(one: ExampleCounts | None) -> int:
    """Return how many numbers counts have, or a matrix of their classes if these are more."""
    return max(one.counts.table.size, one.counts.classes**2) if one else 0


def _row(facts: Facts, place: str, root: Path) -> dict[str, Any]:
    """Return the row of a frame; ValueError: see `kept_outcomes`."""
    _check(facts, place, root)
    try:
        part = str(facts.get("part") or ".")
        row = row_of_facts(part, root, root / facts["folder"], {**facts, "done": True})
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    row |= {"place": place}
    if facts.get(COUNTS) is not None:
        row |= {"counts": unpacked(facts[COUNTS], place)}
        check_counts(row["counts"], row)
    return row


def _check(facts: Facts, place: str, root: Path) -> None:
    """Refuse a row that lacks what is compared, or whose folder is outside; see `kept_outcomes`."""
    for key, kinds in _NEEDED.items():
        _value(facts, key, kinds, place)
    for key in ("best", "last"):
        if not isinstance(facts[key].get(facts["metric"]), (int, float)):
            raise ValueError(f"{place}: key {key!r}: no value of {quoted(facts['metric'])}")
    if not is_below(root, root / facts["folder"]):
        raise ValueError(f"{place}: key 'folder': {quoted(facts['folder'])} lies outside")


def _value(facts: Facts, key: str, kinds: Any, place: str) -> Any:
    """Return a value of a row that has to be there; ValueError: see `kept_outcomes`."""
    if key not in facts:
        raise ValueError(f"{place}: no key {key!r}")
    if not isinstance(facts[key], kinds):
        raise ValueError(f"{place}: key {key!r}: {quoted(facts[key])}")
    return facts[key]

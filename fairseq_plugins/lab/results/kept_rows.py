"""Rows of an experiment, kept with or without its runs -> its finished runs, to be compared again.

A row is a line of ``rows.jsonl``. Its ``folder`` counts from the file's: where the runs lie there,
as in the experiment itself, their predictions are found, and elsewhere none are.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ...messages import quoted
from ..safe_files import is_below, parse_json, read_text
from .run_frame import FINISHED, Facts, frame, row_of_facts
from .runs import Outcomes, compared, tried

_NEEDED = {  # key of a finished run -> what it holds
    **dict.fromkeys(("folder", "dataset", "system", "metric"), str),
    "seed": int,
    "learning_rate": (int, float),
    **dict.fromkeys(("best", "last"), dict),
}
_SHARED = ("part", "dataset", "metric", "validation")  # what runs that are compared have in common


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
            run once more; names file, line and key. Or no run is finished.
    """
    places: dict[tuple, str] = {}
    rows: list[dict[str, Any]] = []
    for place, facts in numbered_rows(path):
        if _value(facts, "status", str, place) != FINISHED:
            continue
        _check(facts, place, path.parent)
        folder, part = path.parent / facts["folder"], str(facts.get("part") or ".")
        try:
            row = row_of_facts(part, path.parent, folder, {**facts, "done": True})
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
        for key in _SHARED if rows else ():
            if row[key] != rows[0][key]:
                first, other = quoted(rows[0][key]), quoted(row[key])
                raise ValueError(f"{place}: key {key!r}: {other}, of rows before {first}")
        run = row["setting"], row["seed"]
        if run in places:
            raise ValueError(
                f"{place}: key 'seed': {row['seed']} is the run of {places[run]} again"
            )
        places[run] = place
        rows.append(row)
    if not rows:
        raise ValueError(f"{path}: no finished run (no row whose key 'status' is {FINISHED!r})")
    return compared(frame(rows))


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

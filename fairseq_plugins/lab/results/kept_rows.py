"""Rows of an experiment, kept with or without its runs -> its finished runs, to be compared again.

A row is a line of ``rows.jsonl``. Its ``folder`` counts from the file's: where the runs lie there,
as in the experiment itself, their predictions are found. Elsewhere a row that `keep_rows` made has
counts of its examples, of the metric that is shown.
"""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ...evaluation.packed_counts import packed
from ...files import write_text
from ...messages import quoted
from ..run_files import ROWS
from ..safe_files import is_below, parse_json, read_text
from .run_counts import counts_of_run
from .run_frame import FINISHED, Facts, frame, row_of_facts
from .runs import Outcomes, compared, tried
from .seeds import shown_of

_NEEDED = {  # key of a finished run -> what it holds
    **dict.fromkeys(("folder", "dataset", "system", "metric"), str),
    "seed": int,
    "learning_rate": (int, float),
    **dict.fromkeys(("best", "last"), dict),
}
_SHARED = ("dataset", "metric", "validation")  # what runs that are compared have in common


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
    return _outcomes(numbered_rows(path), path)


def keep_rows(folder: Path, file: Path, part: str = "") -> tuple[int, int]:
    """Add the finished runs of an experiment to a file of rows, with counts of their examples.

    Rows of runs that the experiment no longer has stay, those that it has again are replaced.

    Args:
        folder: of the experiment, with its runs.
        file: of rows; need not be there.
        part: of the experiment; empty for all, which have to be of one dataset.

    Returns:
        How many rows the experiment gave, and how many the file has.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: see `kept_outcomes`; nothing is written then.
    """
    source = folder / ROWS
    rows = (one for one in numbered_rows(source) if part in ("", one[1].get("part")))
    found, new = _outcomes(rows, source), {}
    shown = shown_of(found)
    for run in found.runs.sort_index().itertuples():
        row = {name: value for name, value in run.facts.items() if name != "done"}
        if counts := counts_of_run(run, shown):
            row["counts"] = packed(counts, shown.split)
        new[row["folder"]] = row
    old = numbered_rows(file) if file.exists() else ()
    kept = [(place, new.pop(row.get("folder"), row)) for place, row in old]
    kept += [(f"{source}: {name}", row) for name, row in new.items()]
    count = len(_outcomes(kept, file).runs)
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for _, row in kept]
    write_text(file, "".join(lines))
    return len(found.runs), count


def _outcomes(rows: Iterable[tuple[str, dict[str, Any]]], path: Path) -> Outcomes:
    """Make runs of numbered rows of a file; see `kept_outcomes`."""
    places: dict[tuple, str] = {}
    found: list[dict[str, Any]] = []
    for place, facts in rows:
        if _value(facts, "status", str, place) != FINISHED:
            continue
        row = _row(facts, place, path.parent)
        for key in _SHARED if found else ():
            if row[key] != found[0][key]:
                first, other = quoted(found[0][key]), quoted(row[key])
                raise ValueError(f"{place}: key {key!r}: {other}, of rows before {first}")
        run = row["setting"], row["seed"]
        if run in places:
            raise ValueError(
                f"{place}: key 'seed': {row['seed']} is the run of {places[run]} again"
            )
        places[run] = place
        found.append(row)
    if not found:
        raise ValueError(f"{path}: no finished run (no row whose key 'status' is {FINISHED!r})")
    return compared(frame(found))


def _row(facts: Facts, place: str, root: Path) -> dict[str, Any]:
    """Return the row of a frame; ValueError: see `kept_outcomes`."""
    _check(facts, place, root)
    try:
        part = str(facts.get("part") or ".")
        return row_of_facts(part, root, root / facts["folder"], {**facts, "done": True})
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


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

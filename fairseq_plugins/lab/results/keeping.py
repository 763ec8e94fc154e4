"""The finished runs of an experiment added to a file of rows, with counts of their examples.

A run is the same as that of a kept row if it has its setting and seed, and is of the same part of
the same experiment: other options may decide what a setting does not say.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ...evaluation.packed_counts import packed, unpacked
from ...files import alone_in, write_text
from ...messages import named, quoted
from ..run_files import ROWS
from .kept_rows import (
    COUNTS,
    check_counts,
    check_shared,
    finished_rows,
    numbered_rows,
    outcomes_of_rows,
)
from .origins import cut_of, otherwise_made
from .run_counts import counts_in_files, kept_counts
from .run_frame import Facts
from .runs import Outcomes
from .seeds import Shown, shown_of

_ORIGIN = ("experiment", "part")
_SCORES = ("best", "last", "evaluated", "evaluation")


class Kept(NamedTuple):
    """What came of keeping rows.

    Args:
        given: how many rows the experiment gave.
        rows: how many finished runs the file has.
        counted: how many of these have counts of what is shown.
        remarks: why rows of the experiment have none though their predictions are there, and which
            rows have data that were made otherwise.
    """

    given: int
    rows: int
    counted: int
    remarks: list[str]


def keep_rows(folder: Path, file: Path, part: str = "") -> Kept:
    """Add the finished runs of an experiment to a file of rows, with counts of their examples.

    Rows of runs that the experiment no longer has stay, those that it has again are replaced. Of a
    run whose predictions are gone the counts stay that were kept before, if its scores are the
    same.

    Args:
        folder: of the experiment, with its runs.
        file: of rows; need not be there.
        part: of the experiment; empty for all, which have to be of one dataset.

    Raises:
        OSError: a file cannot be read or written.
        ValueError: the file is the experiment's own, or has a run as one of another experiment; see
            also `kept_outcomes`. Nothing is written then.
    """
    source = folder / ROWS
    if file.exists() and file.samefile(source):
        raise ValueError(f"{file}: the experiment's own rows; name another file to keep them in")
    found = outcomes_of_rows(_rows_of(folder, part), source)
    with alone_in(file.parent):
        return _added(found, source, file)


def _added(found: Outcomes, source: Path, file: Path) -> Kept:
    """Add finished runs, read from a source, to a file that nobody else writes; see `keep_rows`."""
    remarks: list[str] = []
    lines = list(numbered_rows(file)) if file.exists() else []
    old = {(row["setting"], row["seed"]): row for row in finished_rows(lines, file)}
    shown, new = shown_of(found), {}
    for _, run in found.runs.sort_index().iterrows():
        check_shared(run, next(iter(old.values()), run))
        key = run.setting, run.seed
        new[key] = run.place, _kept(run, old.get(key), shown, remarks)
    keys = {row["place"]: key for key, row in old.items()}
    rows = [new.pop(keys.get(place), (place, row)) for place, row in lines] + [*new.values()]
    after = outcomes_of_rows(rows, file)
    remarks += (*_unevaluated(found.runs, source), *otherwise_made(after.runs.sort_index()))
    write_text(file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for _, row in rows))
    kept = [kept_counts(run, shown_of(after)) for run in after.runs.itertuples()]
    return Kept(len(found.runs), len(kept), len(kept) - kept.count(None), remarks)


def _rows_of(folder: Path, part: str) -> Iterator[tuple[str, Facts]]:
    """Yield the numbered rows of a part of an experiment, each with the experiment's name."""
    name = folder.resolve().name  # of rows that have none
    rows = list(numbered_rows(folder / ROWS))
    parts = [*dict.fromkeys(str(facts.get("part")) for _, facts in rows)]
    if part and part not in parts:
        raise ValueError(f"--part {part!r}: choices are {named(parts)}")
    if not part and len({str(facts.get("dataset")) for _, facts in rows}) > 1:
        raise ValueError(
            f"{folder / ROWS}: of several datasets: choose by --part {' | '.join(parts)}"
        )
    for place, facts in rows:
        if part in ("", facts.get("part")):
            yield place, {**facts, "experiment": facts.get("experiment") or name}


def _unevaluated(runs: pd.DataFrame, source: Path) -> Iterator[str]:
    """Say how many runs have no score on the split that others have been evaluated on."""
    splits = sorted({*runs.evaluated} - {""})
    if (count := (runs.evaluated == "").sum()) and splits:
        yield (
            f"{source}: {count} of {len(runs)} runs have not been evaluated on {named(splits)}, "
            "which the experiment's own command does; until then validation scores are compared"
        )


def _kept(
    run: Any, old: Mapping[str, Any] | None, shown: Shown, remarks: list[str]
) -> dict[str, Any]:
    """Return the row of a run with counts of its examples.

    Args:
        run: a row of a frame.
        old: the row that it replaces.
        shown: what its counts are of.
        remarks: why there are none is added.
    """
    row = {name: value for name, value in run.facts.items() if name != "done"}
    counts = _counts(run, shown, remarks)
    if old:
        _check_origin(row, run.place, old)
        if not counts and all(_text(row, key) == _text(old["facts"], key) for key in _SCORES):
            counts = old["facts"].get(COUNTS)
    return {**row, COUNTS: counts} if counts else row


def _counts(run: Any, shown: Shown, remarks: list[str]) -> dict[str, Any] | None:
    """Return packed counts of a run; None, maybe with a remark, where there are none to keep."""
    if (found := counts_in_files(run, shown) or kept_counts(run, shown)) is None:
        return None
    try:
        made = packed(found, shown.split)
        check_counts(unpacked(made, run.place), run)
    except ValueError as error:
        remarks.append(f"{error}; kept without counts of its predictions")
        return None
    return made


def _check_origin(row: Facts, place: str, old: Mapping[str, Any]) -> None:
    """Refuse to replace a row of another experiment; rows without a name are of any."""
    before = old["facts"]
    for key in _ORIGIN if before.get("experiment") else ():
        if row.get(key) != before.get(key):
            raise ValueError(
                f"{place}: key {key!r}: {quoted(row.get(key))} has a setting and seed that "
                f"{old['place']} has of {quoted(before.get(key))}: keep them in files of their own"
            )
    cut, other = cut_of(before), cut_of(row)
    if cut and other and cut != other:
        raise ValueError(
            f"{place}: its words were cut by {quoted(other)}, those of {old['place']}, the same "
            f"setting and seed, by {quoted(cut)}: keep them in files of their own"
        )


def _text(row: Facts, key: str) -> str:
    return json.dumps(row.get(key))  # in which what is no number is like itself

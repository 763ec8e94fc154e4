"""Add the finished runs of an experiment to a file of rows, with counts of their examples."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ...errors import InputError
from ...evaluation.packed_counts import packed, unpacked
from ...files import alone_in
from ...messages import named, quoted
from ..rows import PlacedRow, Row, check_counts, read_rows, write_rows
from ..run_files import ROWS
from .choice import shown_of
from .counts import counts_in_files, kept_counts
from .frame import Shown, compared, frame_of
from .origins import ANNOTATOR, WORDS, cut_of


class Kept(NamedTuple):
    """The result of keeping rows."""

    given: int  # number of rows of the experiment
    rows: int  # number of finished runs in the file
    counted: int  # number of these with counts of the shown metric
    # why rows have no counts despite predictions, and which rows were made differently
    remarks: list[str]


def keep_rows(folder: Path, file: Path, part: str = "") -> Kept:
    """Add the finished runs of an experiment to a file of rows, with counts of their examples.

    Rows replace rows of the same run; other rows stay. If the predictions of a run are gone, its
    earlier counts stay as long as the scores are the same.

    Args:
        file: of rows; may be missing.
        part: of the experiment; empty for all, which must have one dataset.
    """
    source = folder / ROWS
    if file.exists() and file.samefile(source):
        raise InputError(f"{file}: the experiment's own rows; name another file to keep them in")
    found = compared(frame_of(_rows_of(source, part)))
    shown, remarks = shown_of(found), []
    with alone_in(file.parent):
        kept = {one.row.key: one for one in (read_rows(file) if file.exists() else [])}
        for run in found.sort_index().itertuples():
            old = kept.get(run.row.key)
            row = _kept(run, old.row if old else None, shown, remarks)
            kept[row.key] = PlacedRow(run.place, row, file.parent / row.folder)
        after = compared(frame_of(kept.values()))
        write_rows(file, [one.row for one in kept.values()])
    remarks += _otherwise_made(after.sort_index())
    counts = [kept_counts(run, shown_of(after)) for run in after.itertuples()]
    return Kept(len(found), len(counts), len(counts) - counts.count(None), remarks)


def _rows_of(source: Path, part: str) -> list[PlacedRow]:
    rows = read_rows(source)
    parts = [*dict.fromkeys(one.row.part for one in rows)]
    if part and part not in parts:
        raise InputError(f"--part {part!r}: choices are {named(parts)}")
    if not part and len({one.row.dataset for one in rows}) > 1:
        raise InputError(f"{source}: of several datasets: choose by --part {' | '.join(parts)}")
    found = [one for one in rows if one.row.is_finished and part in ("", one.row.part)]
    if not found:
        raise FileNotFoundError(f"{source}: no finished run")
    return found


def _kept(run: Any, old: Row | None, shown: Shown, remarks: list[str]) -> Row:
    """Return the row of a run with counts of its examples, checked against the older row."""
    row = run.row
    if old and cut_of(old) and cut_of(row) and cut_of(old) != cut_of(row):
        raise InputError(
            f"{run.place}: its words were cut by {quoted(cut_of(row))}, those of the kept row of "
            f"the same setting and seed by {quoted(cut_of(old))}: keep them in files of their own"
        )
    if old and ((old.trained and row.trained and old.trained != row.trained)
                or old.device != row.device):  # fmt: skip
        remarks.append(
            f"{run.place}: replaces a kept row that was trained with other options, or on another "
            "device"
        )
    if counts := _counts(run, shown, remarks):
        return row.model_copy(update={"counts": counts})
    same = old and (old.metrics, old.last) == (row.metrics, row.last)
    return row.model_copy(update={"counts": old.counts}) if old and same else row


def _counts(run: Any, shown: Shown, remarks: list[str]) -> dict[str, dict[str, Any]]:
    """Return packed counts of a run; empty, perhaps with a remark, if there are none."""
    if (found := counts_in_files(run, shown) or kept_counts(run, shown)) is None:
        return {}
    try:
        made = packed(found, shown.split)
        check_counts(unpacked(made, run.place), PlacedRow(run.place, run.row, run.folder))
    except InputError as error:
        remarks.append(f"{error}; kept without counts of its predictions")
        return {}
    return {shown.split: {name: value for name, value in made.items() if name != "split"}}


def _otherwise_made(runs: pd.DataFrame) -> Iterator[str]:
    """Yield a remark for rows made differently from earlier rows; once per value.

    Systems may have their own training data and words, so only the scored data, the annotator and
    the device are compared within a setting. Rows without this information are skipped.
    """
    first: dict[tuple[Any, ...], tuple[str, str]] = {}
    told = set()
    for run in runs.itertuples():
        row = run.row
        own = {**row.made_of, WORDS: cut_of(row), "options": row.trained, "device": row.device}
        everywhere = (ANNOTATOR, WORDS, "device", run.validation, run.evaluated)
        for name, value in own.items():
            about = name, None if name.partition(".")[0] in everywhere else run.setting
            place, before = first.setdefault(about, (run.place, value)) if value else ("", "")
            if value != before and (about, value) not in told:
                told.add((about, value))
                yield (
                    f"{run.place}: made with {name} {quoted(value)}, {place} with "
                    f"{quoted(before)}: they are compared as if they were the same"
                )

"""The only reader of results: files of rows -> experiments, and a data frame with a line per run.

A frame has these columns (with Python values of any type):

row, place, folder   the row itself, its file and line, and the folder of the run
part, root           its part of the experiment, and the folder of the part's runs
setting, seed        which run; the setting's own fields are columns as well
done                 whether the result exists
validation           the split that chose its checkpoint; `evaluated` is the other one
ablated              the removed part of the architecture
counts               split -> counts of each example (`ExampleCounts`)
dataset, status, metric, arch, options, ...   as in the row; see `_AS_IN_THE_ROW`

`Shown` reads scores. Everything broken is a line in an experiment's `faults`: pages print faults,
tables refuse them (`find_experiments`, `read_runs`).
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from ...errors import InputError
from ...messages import named, quoted
from ..rows import PlacedRow, Row, counts_of, read_rows
from ..run_files import DESCRIPTION, ROWS
from ..safe_files import inner_folders, is_below, is_file, read_json

logger = logging.getLogger(__name__)

_INVENTED = ("_demo", "_smoke")  # suffixes of folders with invented corpora
_SHARED = ("dataset", "data", "metric", "validation")  # equal in all compared runs
_LARGEST = 2**24  # numbers in all counts of a file, and table cells from them
_AS_IN_THE_ROW = (
    "part seed status dataset data metric evaluated positive options prepared examples parameters "
    "gates note trial device"
).split()
_Made = TypeVar("_Made")


class Shown(NamedTuple):
    """A metric on a split."""

    metric: str
    split: str

    @property
    def title(self) -> str:
        """The metric as a column's heading."""
        return f"{self.metric}, {self.split}"

    def found(self, runs: pd.DataFrame) -> list[float | None]:
        """Return the metric of every run; None if missing."""
        return [row.metrics.get(self.split, {}).get(self.metric) for row in runs.row]

    def values(self, runs: pd.DataFrame) -> list[float]:
        """Return the metric of every run; refuse runs without it."""
        found = self.found(runs)
        if None in found:
            run = runs.iloc[found.index(None)]
            names = named(sorted(run.row.metrics.get(self.split, {})))
            raise InputError(f"{run.folder}: no metric {self.metric!r}; choices: {names}")
        return [value for value in found if value is not None]


def frame_of(rows: Iterable[PlacedRow]) -> pd.DataFrame:
    """Return rows as a frame."""
    lines, numbers = [], 0
    for one in rows:
        lines.append(_line(one))
        for counts in lines[-1]["counts"].values():
            numbers += max(counts.counts.table.size, counts.counts.classes**2)
        if numbers > _LARGEST:
            raise InputError(f"{one.place}: key 'counts': up to here over {_LARGEST:,} numbers")
    return frame(lines)


def _line(one: PlacedRow) -> dict[str, Any]:
    row = one.row
    return {
        **one._asdict(),
        "root": one.folder.parent.parent.parent,
        **{name: getattr(row, name) for name in _AS_IN_THE_ROW},
        "done": row.is_finished,
        "validation": row.chosen_on,
        "setting": row.setting,
        **row.setting._asdict(),
        "arch": row.arch or row.system,
        "ablated": str(row.options.get("ablate", "none")).replace("none", ""),
        "counts": counts_of(one),
    }


_BARE = Row(experiment="", part="", dataset="", system="", seed=0, learning_rate=0.0,
            status="failed", folder="")  # fmt: skip
COLUMNS = tuple(_line(PlacedRow("", _BARE, Path())))  # of every frame


def frame(lines: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Return lines as a data frame without converting values."""
    return pd.DataFrame(lines, columns=COLUMNS, dtype=object)


@dataclass(frozen=True)
class Experiment:
    """An experiment, or a file of rows."""

    folder: Path  # of the experiment or part, or the file
    runs: pd.DataFrame  # frame of the runs with rows
    facts: dict[str, Any] = field(default_factory=dict)  # content of the description
    faults: Sequence[str] = ()  # a line for everything skipped

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @property
    def title(self) -> str:
        return str(self.facts.get("title") or self.facts.get("name") or self.name)

    @property
    def is_invented(self) -> bool:
        """Whether its corpora are invented and only have the form of the named datasets."""
        return self.name.endswith(_INVENTED)

    @property
    def tables(self) -> list[str]:
        """Its table layouts; empty for all that fit."""
        names = self.facts.get("tables")
        return [str(name) for name in names] if isinstance(names, list) else []

    @property
    def parts(self) -> dict[str, pd.DataFrame]:
        """Name of each part -> its runs."""
        parts = self.runs.groupby("part", sort=False)
        return {name if name != "." else self.name: runs for name, runs in parts}

    @property
    def waiting(self) -> list[Path]:
        """The folders of planned runs without a row, in the plan's order."""
        planned, known, found = self.facts.get("runs"), {*self.runs.folder}, {}
        for one in planned if isinstance(planned, list) else []:
            if isinstance(one, dict) and isinstance(one.get("folder"), str):
                found[self.folder / one["folder"]] = None
        return [one for one in found if one not in known and is_below(self.folder, one)]


def read_experiments(place: str | Path) -> tuple[list[Experiment], list[str]]:
    """Read a file of rows, the folder of an experiment or of a part, or a folder of experiments.

    Returns:
        The experiments, and a line for every skipped link.
    """
    place, links = Path(place), []
    if not place.exists():
        raise FileNotFoundError(f"{place}: no such file or folder")
    if place.is_file():
        found = [_experiment(place, place)]
    elif is_file(place / ROWS):
        found = [_experiment(place, place / ROWS)]
    elif is_file(place.parent / ROWS):
        whole = _experiment(place.parent, place.parent / ROWS)
        runs = whole.runs[whole.runs.root == place]
        found = [Experiment(place, runs, faults=whole.faults)] if len(runs) or whole.faults else []
    else:
        inner = [one for one in inner_folders(place, links) if is_file(one / ROWS)]
        found = [_experiment(one, one / ROWS) for one in inner]
    if not found:
        raise FileNotFoundError(f"{place}: no runs (no {ROWS}, which `run` writes)")
    return found, links


def _experiment(place: Path, file: Path) -> Experiment:
    """Read an experiment; a broken description or file of rows is a fault."""
    faults: list[str] = []
    rows = tried(partial(read_rows, file, faults), faults, [])
    runs = tried(partial(frame_of, rows), faults, frame_of([]))
    facts = tried(partial(read_json, place / DESCRIPTION), faults, {}) if place != file else {}
    return Experiment(place, runs, facts, faults)


def find_experiments(places: Iterable[str | Path]) -> list[Experiment]:
    """Read experiments for tables: demos only by name, and without faults."""
    places, found = [Path(place) for place in places], {}
    for place in places:
        experiments, links = read_experiments(place)
        for link in links:
            logger.warning(link)
        for one in experiments:
            if not one.is_invented or one.folder == place:
                found[one.folder] = one
    if faults := [fault for one in found.values() for fault in one.faults]:
        raise InputError(faults[0].removeprefix("passed over "))
    if not any(one.runs.done.any() for one in found.values()):
        raise FileNotFoundError(f"{named(places)}: no finished run")
    return list(found.values())


def finished_parts(experiments: Iterable[Experiment]) -> list[pd.DataFrame]:
    parts = [runs for one in experiments for runs in one.parts.values()]
    return [compared(runs) for runs in parts if runs.done.any()]


def read_runs(place: str | Path) -> pd.DataFrame:
    """Read the finished runs of a file, of a part, or of an experiment of one part."""
    found = find_experiments([place])
    return compared(pd.concat([one.runs for one in found], ignore_index=True))


def compared(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the finished runs, sorted; refuse runs that cannot be compared."""
    done = runs[runs.done.astype(bool)]
    first, seen = done.iloc[0], {}
    for run in done.itertuples():
        for key in _SHARED:
            if (said := getattr(run, key)) != first[key]:
                part = f"; name the folder of a part, as {run.root}" * (run.root != first.root)
                told = f"key {key!r}: {quoted(said)}, of rows before {quoted(first[key])}"
                raise InputError(f"{run.place}: {told}{part}")
        other = seen.setdefault((run.setting, run.seed), run)
        if other is not run:  # the frame would hide one of them
            raise InputError(
                f"{run.place}: has the setting and seed of {other.place}, of experiment "
                f"{other.row.experiment!r}, part {other.part!r}: keep them in files of their own"
            )
    order = [(*one.order, seed) for one, seed in zip(done.setting, done.seed)]
    return done.iloc[sorted(range(len(done)), key=order.__getitem__)]


def tried(
    make: Callable[[], _Made], faults: list[str] | None, other: _Made, what: str = "passed over "
) -> _Made:
    """Return the result of ``make``; for broken files ``other``, with a line in ``faults``.

    Args:
        make: reads files.
        faults: collects the reason; None to raise the error.
        other: the result for broken files.
        what: beginning of the line, before the reason.
    """
    try:
        return make()
    except (OSError, ValueError, TypeError, LookupError, OverflowError) as error:
        if faults is None:
            raise
        known = isinstance(error, (OSError, InputError))
        faults.append(f"{what}{error if known else repr(error)}")
        return other

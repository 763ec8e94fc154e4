"""Finished and failed runs of experiments, of their parts, or of files of rows.

Tables are strict: what cannot be read is an error. A page is also made while runs are writing: it
passes over what cannot be read, with a remark.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from ...messages import named, quoted
from ..rows import PlacedRow, read_rows
from ..run_files import AFTER, DESCRIPTION, LOG, ROWS
from ..safe_files import files_below, inner_folders, is_below, is_file, parse_json, read_text
from .run_frame import frame_of, rows_where
from .squad_answers import METRICS

_INVENTED = ("_demo", "_smoke")  # ends of the folders of invented corpora: in nobody's table
_SHARED = ("dataset", "data", "metric", "validation")  # what runs that are compared have in common
Remarks = list[str] | None  # what is passed over, a line each; None if that is an error
_Made = TypeVar("_Made")


class FoundPart(NamedTuple):
    """A dataset of an experiment; `folder` is that of its runs."""

    name: str
    folder: Path
    dataset: str = ""


class Planned(NamedTuple):
    """A run of the plan that has no row yet."""

    folder: Path
    updates: int

    @property
    def has_begun(self) -> bool:
        """Whether it trains, or has trained."""
        return is_file(self.folder / LOG)


@dataclass(frozen=True)
class FoundExperiment:
    """An experiment with the runs that have rows; `facts` is what its description says."""

    folder: Path
    parts: list[FoundPart]
    runs: pd.DataFrame
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What its folder is called."""
        return self.folder.resolve().name

    @property
    def title(self) -> str:
        """What it is."""
        return str(self.facts.get("title") or self.facts.get("name") or self.name)

    @property
    def tables(self) -> list[str]:
        """The layouts that it is to be shown in; empty for all that fit."""
        names = self.facts.get("tables")
        return [str(name) for name in names] if isinstance(names, list) else []

    @property
    def waiting(self) -> list[Planned]:
        """The runs of its plan without a row, in the plan's order."""
        planned = self.facts.get("runs")
        known, found = {*self.runs.folder}, []
        for one in planned if isinstance(planned, list) else []:
            if isinstance(one, dict) and isinstance(one.get("folder"), str):
                folder, updates = self.folder / one["folder"], one.get("updates")
                if folder not in known and is_below(self.folder, folder):
                    found.append(Planned(folder, updates if isinstance(updates, int) else 0))
        return found

    def of(self, part: FoundPart) -> pd.DataFrame:
        """Return the runs of a part."""
        return rows_where(self.runs, (root == part.folder for root in self.runs.root))

    def name_of(self, part: FoundPart) -> str:
        """Return what a part is called."""
        return part.name if part.name != "." else self.name

    def ensembles(self) -> Iterator[Path]:
        """Yield the folders in which later steps left the answers of several runs together."""
        after = self.folder / AFTER
        for path in files_below(after) if is_below(self.folder, after) else ():
            if path.name == METRICS:
                about = tried(partial(read_object, path), [], {})
                yield from [path.parent] if about.get("ensemble") else []


def is_invented(folder: Path) -> bool:
    """Tell whether the corpora of runs only have the form of the datasets that they name."""
    return folder.resolve().name.endswith(_INVENTED)


@dataclass(frozen=True)
class Outcomes:
    """The finished runs of one folder, all on the same data, with what they share; see above."""

    root: Path
    dataset: str
    data: str
    metric: str
    validation: str
    runs: pd.DataFrame


def read_outcomes(place: str | Path) -> Outcomes:
    """Read the finished runs of an experiment of one part, of a part's folder, or of a file.

    Raises:
        FileNotFoundError: there is no finished run.
        ValueError: a line that is no row, or runs that cannot be compared; see `compared`.
    """
    return compared(frame_of(_rows_at(Path(place))), str(place))


def _rows_at(place: Path) -> list[PlacedRow]:
    """Return the rows of a file, of an experiment's folder, or of a part's folder."""
    if not place.exists():
        raise FileNotFoundError(f"{place}: no such file or folder")
    if place.is_file():
        return read_rows(place)
    if is_file(place / ROWS):
        return read_rows(place / ROWS)
    whole = place.parent / ROWS
    rows = read_rows(whole) if is_file(whole) else []
    found = [one for one in rows if one.folder.parent.parent.parent == place]
    if not found:
        raise FileNotFoundError(f"{place}: no runs (no {ROWS}, which `run` writes)")
    return found


def find_outcomes(folders: Iterable[str | Path]) -> list[Outcomes]:
    """Read the finished runs of experiments, or of folders of them.

    In a folder of folders what holds no finished run is passed over, and so are demos: their
    corpora are called by the dataset whose format they have.

    Raises:
        FileNotFoundError: no folder holds a finished run.
        ValueError: see `read_outcomes`.
    """
    return outcomes_of(find_experiments(folders))


def find_experiments(folders: Iterable[str | Path]) -> list[FoundExperiment]:
    """Read experiments for tables: no demos but those that are named.

    Raises:
        FileNotFoundError, ValueError: see `find_outcomes`.
    """
    folders, found = [Path(folder) for folder in folders], {}
    for folder in folders:
        for one in _experiments(folder, None):
            if not is_invented(one.folder) or one.folder == folder:
                found[one.folder] = one
    if not any(one.runs.done.any() for one in found.values()):
        raise FileNotFoundError(f"{named(folders)}: no finished run (no {ROWS} with one)")
    return list(found.values())


def outcomes_of(experiments: Iterable[FoundExperiment]) -> list[Outcomes]:
    """Return the finished runs of experiments, folder by folder.

    Raises:
        ValueError: see `read_outcomes`.
    """
    parts = {part.folder: one.of(part) for one in experiments for part in one.parts}
    return [compared(runs) for runs in parts.values() if runs.done.any()]


def compared(runs: pd.DataFrame, place: str = "") -> Outcomes:
    """Return the finished runs, sorted, with what they share.

    Raises:
        FileNotFoundError: there is none.
        ValueError: they differ in what they should share, or two of them have one setting and
            seed; names file, line and key.
    """
    done = runs[runs.done.astype(bool)]
    if done.empty:
        raise FileNotFoundError(f"{place}: no finished run")
    first, seen = done.iloc[0], {}
    for run in done.itertuples():
        _check_shared(run, first)
        _check_apart(run, seen.setdefault((run.setting, run.seed), run))
    order = [(*one.order, seed) for one, seed in zip(done.setting, done.seed)]
    done = done.iloc[sorted(range(len(done)), key=order.__getitem__)]
    return Outcomes(first.root, *(first[key] for key in _SHARED), runs=done)


def _check_shared(run: Any, first: Any) -> None:
    """Refuse a run that cannot be compared with the first.

    Raises:
        ValueError: see `compared`.
    """
    for key in _SHARED:
        said, before = getattr(run, key), getattr(first, key)
        if said != before:
            parts = f"; name the folder of a part, as {run.root}" if run.root != first.root else ""
            told = f"key {key!r}: {quoted(said)}, of rows before {quoted(before)}"
            raise ValueError(f"{run.place}: {told}{parts}")


def _check_apart(run: Any, other: Any) -> None:
    """Refuse another run of the same setting and seed: one of them would not be seen."""
    if other is not run:
        raise ValueError(
            f"{run.place}: has the setting and seed of {other.place}, of experiment "
            f"{other.row.experiment!r}, part {other.part!r}: keep them in files of their own"
        )


def read_experiments(root: str | Path, remarks: list[str]) -> list[FoundExperiment]:
    """Read an experiment's folder, or all in a folder, for a page.

    Args:
        root: the folder.
        remarks: what could not be read is added, a line each.

    Raises:
        FileNotFoundError: there is no experiment.
    """
    if not Path(root).is_dir():
        raise FileNotFoundError(f"{root}: no such folder")
    found = _experiments(Path(root), remarks)
    if not found:
        raise FileNotFoundError(f"{root}: no experiment (no {ROWS})")
    return found


def _experiments(root: Path, remarks: Remarks) -> list[FoundExperiment]:
    """Return the experiment in a folder or that of a part's folder, or those in its folders."""
    places = [root] if is_file(root / ROWS) else []
    if not places and is_file(root.parent / ROWS):
        whole = _experiment(root.parent, remarks)
        parts = [part for part in whole.parts if part.folder == root]
        runs = rows_where(whole.runs, (one == root for one in whole.runs.root))
        return [FoundExperiment(root, parts, runs)] if parts else []
    places = places or [one for one in inner_folders(root, remarks) if is_file(one / ROWS)]
    return [_experiment(place, remarks) for place in places]


def _experiment(folder: Path, remarks: Remarks) -> FoundExperiment:
    """Read an experiment; a broken description or file of rows costs a remark."""
    rows = tried(partial(read_rows, folder / ROWS, remarks), remarks, [])
    runs = tried(partial(frame_of, rows), remarks, frame_of([]))
    described = is_file(folder / DESCRIPTION)
    facts = tried(partial(read_object, folder / DESCRIPTION), remarks, {}) if described else {}
    parts = {one.root: FoundPart(one.part, one.root, one.dataset) for one in runs.itertuples()}
    return FoundExperiment(folder, list(parts.values()), runs, facts)


def tried(
    make: Callable[[], _Made], remarks: Remarks, other: _Made, what: str = "passed over "
) -> _Made:
    """Return what can be made of files; of broken ones something else, with a remark.

    Args:
        make: makes it.
        remarks: what could not be made is added; None if that is an error.
        other: what stands in its place.
        what: how a remark begins, before the reason.
    """
    try:
        return make()
    except (OSError, ValueError, KeyError, TypeError) as error:
        if remarks is None:
            raise
        known = isinstance(error, (OSError, ValueError))
        remarks.append(f"{what}{error if known else repr(error)}")
        return other


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        OSError: the file cannot be read.
        ValueError: it holds something else; names the file.
    """
    try:
        found = parse_json(read_text(path))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: not a JSON object")
    return found

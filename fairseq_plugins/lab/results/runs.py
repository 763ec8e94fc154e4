"""The one reader of runs: experiments, and folders of runs that nothing describes.

Tables are strict: what cannot be read is an error. A report is also made while runs are writing: it
passes over what cannot be read, with a remark.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from ...messages import named
from ..run_files import AFTER, DESCRIPTION, RESULT, ROWS, SETTINGS
from ..safe_files import (
    files_below,
    inner_folders,
    is_below,
    is_file,
    parse_json,
    read_text,
    run_folders,
)
from .run_frame import Facts, frame, row_of_facts, rows_where
from .split_files import evaluation_of
from .squad_answers import METRICS

_INVENTED = ("_demo", "_smoke")  # ends of the folders of invented corpora: in nobody's table
_SHARED = ("dataset", "data", "metric", "validation")  # what runs that are compared have in common
Remarks = list[str] | None  # what is passed over, a line each; None if that is an error
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class FoundPart:
    """A dataset of an experiment; `folder` is that of its runs."""

    name: str
    folder: Path
    dataset: str = ""


@dataclass(frozen=True)
class FoundExperiment:
    """An experiment with all its runs; `facts` is what its file says."""

    folder: Path
    parts: list[FoundPart]
    runs: pd.DataFrame
    facts: Facts = field(default_factory=dict)

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
    def planned(self) -> int:
        """Number of runs of its plan; 0 where nothing tells."""
        runs = self.facts.get("runs")
        return len(runs) if isinstance(runs, list) else 0

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
                about = tried(partial(_object, path), [], {})
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


def read_outcomes(root: str | Path) -> Outcomes:
    """Read all finished runs below a folder of runs.

    Raises:
        FileNotFoundError: there is no finished run.
        ValueError: results on other data, or chosen by another metric, lie among them, or some that
            say nothing of a run, or a run twice (a copied folder would count as one more seed).
    """
    part = FoundPart(".", Path(root))
    if not part.folder.exists():
        raise FileNotFoundError(f"{root}: no such file or folder")
    rows = list(_rows_of(part.folder, part, [], None))
    if not rows:
        parts = [path.name for path in inner_folders(part.folder, []) if _runs_in(path, None, [])]
        inner = f"; name the folder of one of its parts: {named(parts)}" if parts else ""
        raise FileNotFoundError(f"{root}: no finished run (no */*/*/{RESULT}){inner}")
    return compared(frame(rows))


def find_outcomes(folders: Iterable[str | Path]) -> list[Outcomes]:
    """Read the finished runs of folders of runs, of experiments, or of folders of such folders.

    In a folder of folders what holds no finished run is passed over, and so are demos: their
    corpora are called by the dataset whose format they have.

    Raises:
        FileNotFoundError: no folder holds a finished run.
        ValueError: see `read_outcomes`.
    """
    return outcomes_of(find_experiments(folders))


def find_experiments(folders: Iterable[str | Path]) -> list[FoundExperiment]:
    """Read experiments for tables: finished runs alone, no demos but those that are named.

    Raises:
        FileNotFoundError, ValueError: see `find_outcomes`.
    """
    folders, found = [Path(folder) for folder in folders], {}
    for folder in folders:
        for one in _experiments(folder, None):
            if not is_invented(one.folder) or one.folder == folder:
                found[one.folder] = one
    if all(one.runs.empty for one in found.values()):
        raise FileNotFoundError(f"{named(folders)}: no finished run (no */*/*/{RESULT})")
    return list(found.values())


def outcomes_of(experiments: Iterable[FoundExperiment]) -> list[Outcomes]:
    """Return the finished runs of experiments, folder by folder.

    Raises:
        ValueError: see `read_outcomes`.
    """
    parts = {part.folder: one.of(part) for one in experiments for part in one.parts}
    return [compared(runs) for runs in parts.values() if runs.done.any()]


def compared(runs: pd.DataFrame) -> Outcomes:
    """Return the finished runs of a part, sorted, with what they share.

    Raises:
        ValueError: they differ in what they should share.
    """
    runs = runs[runs.done.astype(bool)]
    for key in _SHARED:
        if runs[key].nunique() > 1:
            raise ValueError(
                f"{runs.root.iloc[0]}: runs differ in their {key}: {named(sorted(set(runs[key])))}"
            )
    order = [(*one.order, seed) for one, seed in zip(runs.setting, runs.seed)]
    runs = runs.iloc[sorted(range(len(runs)), key=order.__getitem__)]
    first = runs.iloc[0]
    return Outcomes(first.root, *(first[key] for key in _SHARED), runs=runs)


def read_experiments(root: str | Path, remarks: list[str]) -> list[FoundExperiment]:
    """Read an experiment's folder, or all in a folder, for a report.

    Args:
        root: the folder.
        remarks: what could not be read is added, a line each.

    Raises:
        FileNotFoundError: there is no experiment and no run.
    """
    if not Path(root).is_dir():
        raise FileNotFoundError(f"{root}: no such folder")
    found = _experiments(Path(root), remarks)
    if not found:
        raise FileNotFoundError(
            f"{root}: no experiment and no run (no {DESCRIPTION}, no */*/*/{SETTINGS})"
        )
    return found


def _experiments(root: Path, remarks: Remarks) -> list[FoundExperiment]:
    """Return the experiment in a folder, or those in its folders; runs without one are one."""
    if is_file(root / DESCRIPTION):
        return [_described(root, remarks)]
    inner = inner_folders(root, remarks)
    described = [path for path in inner if is_file(path / DESCRIPTION)]
    plain = [
        path for path in (root, *inner) if path not in described and _runs_in(path, remarks, [])
    ]
    demos = [path for path in plain if path != root and is_invented(path)]
    found = [_described(path, remarks) for path in described]
    found += [_plain(path, [path], remarks) for path in demos]
    plain = [path for path in plain if path not in demos]
    return [*found, *([_plain(root, plain, remarks)] if plain else [])]


def _runs_in(folder: Path, remarks: Remarks, links: Remarks) -> list[Path]:
    """Return the folders of runs, for tables those that are finished; links are remarked."""
    names = (RESULT,) if remarks is None else (RESULT, SETTINGS)
    return run_folders(folder, *names, remarks=links)


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


def _described(folder: Path, remarks: Remarks) -> FoundExperiment:
    """Read an experiment by its description; a broken one as a plain folder."""
    facts = tried(partial(_object, folder / DESCRIPTION), remarks, {})
    found = facts.get("parts")
    found = found if isinstance(found, list) else []
    parts = [tried(partial(_part, one, folder), remarks, None) for one in found]
    parts = [part for part in parts if part]
    if not parts:
        if remarks is None:
            raise ValueError(f"{folder / DESCRIPTION}: says nothing of the experiment's parts")
        inner = inner_folders(folder, remarks)
        plain = [path for path in (folder, *inner) if _runs_in(path, remarks, [])]
        return _plain(folder, plain, remarks, facts)
    told = [] if remarks is None else list(_told(folder / ROWS, remarks))
    rows = [row for part in parts for row in _rows_of(folder, part, told, remarks)]
    places = {folder / str(row.get("folder", "")): number for number, row in enumerate(told)}
    rows.sort(key=lambda row: places.get(row["folder"], len(places)))  # as planned, others last
    return FoundExperiment(folder, parts, frame(rows), facts)


def _part(facts: Any, root: Path) -> FoundPart:
    """Return a part as the description has it."""
    if not isinstance(facts, dict) or not isinstance(facts.get("folder", ""), str):
        raise ValueError(f"{root / DESCRIPTION}: a part that says nothing of its folder")
    folder = root / str(facts.get("folder", facts.get("name", "")))
    if not is_below(root, folder):
        raise ValueError(f"{root / DESCRIPTION}: a part that lies outside: {folder}")
    return FoundPart(str(facts.get("name") or folder.name), folder, str(facts.get("dataset") or ""))


def _plain(
    root: Path, folders: list[Path], remarks: Remarks, facts: Facts | None = None
) -> FoundExperiment:
    """Read folders of runs that nothing describes."""
    parts, rows = [], []
    for folder in folders:
        part = FoundPart("." if folder == root else folder.name, folder)
        own = list(_rows_of(root, part, [], remarks))
        parts.append(FoundPart(part.name, folder, own[0]["dataset"] if own else ""))
        rows += own
    return FoundExperiment(root, parts, frame(rows), facts or {})


def _rows_of(
    root: Path, part: FoundPart, told: list[Facts], remarks: Remarks
) -> Iterator[dict[str, Any]]:
    """Yield the runs of a part: those in its folder, and those that only `ROWS` knows."""
    known = {root / str(row.get("folder", "")): row for row in told if row.get("part") == part.name}
    for folder in [folder for folder in known if not is_below(root, folder)]:
        if remarks is not None:
            remarks.append(f"passed over {root / ROWS}: a run that lies outside: {folder}")
        del known[folder]
    inside, done = set(_runs_in(part.folder, remarks, remarks)), {}
    for folder in sorted({*inside, *known}):
        facts = {**known.get(folder, {})}
        if folder in inside:
            facts |= tried(partial(_left_in, folder, remarks), remarks, {})
        made = partial(row_of_facts, part.name, part.folder, folder, facts)
        row = tried(made, remarks, None) if facts else None
        if row and tried(partial(_is_single, row, done), remarks, False):
            yield row


def _is_single(row: Mapping[str, Any], done: dict[tuple, Path]) -> bool:
    """Return true; fail for a finished run that is another one again.

    Args:
        row: of a frame.
        done: setting and seed -> the folder of a finished run; this one is added.
    """
    before = done.setdefault((row["setting"], row["seed"]), row["folder"]) if row["done"] else None
    if before not in (None, row["folder"]):
        raise ValueError(f"{row['folder']}: the run of {before} again (same setting and seed)")
    return True


def _left_in(folder: Path, remarks: Remarks) -> dict[str, Any]:
    """Return what the files of a run say."""
    done = os.path.lexists(folder / RESULT)
    facts = _object(folder / (RESULT if done else SETTINGS))
    facts = {name: value for name, value in facts.items() if value is not None}
    facts["prepared"] = facts.pop("folder", "")
    tested = evaluation_of(folder, facts)
    if done and os.path.lexists(tested):
        about = tried(partial(_object, tested), remarks, {})
        facts |= {"evaluated": about.get("of"), "evaluation": about.get("metrics")}
    return {**facts, "done": done}


def _object(path: Path) -> dict[str, Any]:
    """Read a JSON object."""
    text = read_text(path)
    try:
        found = parse_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: not JSON, or none for runs: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: not a JSON object")
    return found


def _told(path: Path, remarks: list[str]) -> Iterator[Facts]:
    """Yield the lines of a file as facts; one remark about all that are none."""
    text = read_text(path, errors="replace") if is_file(path) else ""
    lines = (line if line.strip() else "{}" for line in text.split("\n"))
    rows = [tried(partial(parse_json, line), [], None) for line in lines]
    broken = [number for number, row in enumerate(rows, 1) if not isinstance(row, dict)]
    if broken:
        more = f" and {len(broken) - 1} more" if len(broken) > 1 else ""
        remarks.append(f"passed over {path}, line {broken[0]}{more}: not a row")
    for row in filter(None, rows):
        if isinstance(row, dict):
            yield {name: v for name, v in row.items() if v is not None and name != "done"}

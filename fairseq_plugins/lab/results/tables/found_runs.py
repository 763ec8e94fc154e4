"""Where finished runs lie: in the folders of experiments, of runs, or above such folders."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ....messages import named
from ...run_files import AFTER, DESCRIPTION, RESULT
from ...safe_files import files_below, inner_folders, is_below, is_file, read_text, run_folders
from ..outcomes import Outcomes, read_outcomes
from ..squad_answers import METRICS

_INVENTED = ("_demo", "_smoke")  # ends of the folders of corpora that are no real dataset
_RUNS = f"*/*/*/{RESULT}"


@dataclass(frozen=True)
class FoundRuns:
    """Finished runs, and how they are to be shown.

    Args:
        outcomes: dataset by dataset.
        tables: names of tables that their experiment asks for; empty for all that fit.
        ensembles: folders of answers of several of the runs together.
        is_invented: whether the corpora only have the form of the datasets that tables name.
    """

    outcomes: list[Outcomes]
    tables: tuple[str, ...] = ()
    ensembles: tuple[Path, ...] = ()
    is_invented: bool = False


def find_runs(folders: Iterable[str | Path]) -> FoundRuns:
    """Read folders.

    Raises:
        FileNotFoundError: no folder holds a finished run.
        ValueError: see `read_outcomes`.
    """
    folders = [Path(folder) for folder in folders]
    experiments = [folder for folder in folders if is_file(folder / DESCRIPTION)]
    tables = (str(name) for folder in experiments for name in _describe(folder).get("tables", ()))
    return FoundRuns(
        find_outcomes(folders),
        tuple(dict.fromkeys(tables)),
        tuple(folder for one in experiments for folder in ensembles_of(one)),
        all(folder.resolve().name.endswith(_INVENTED) for folder in folders),
    )


def find_outcomes(folders: Iterable[str | Path]) -> list[Outcomes]:
    """Read the finished runs of folders of runs, of experiments, or of folders of such folders.

    In a folder of folders what holds no finished run is passed over, and so are demos: their
    corpora are called by the dataset whose format they have.

    Raises:
        FileNotFoundError: no folder holds a finished run.
        ValueError: see `read_outcomes`.
    """
    folders = [Path(folder) for folder in folders]
    places = dict.fromkeys(place for folder in folders for place in _places(folder))
    found = [read_outcomes(place) for place in places if run_folders(place, RESULT)]
    if not found:
        names = named(folders)
        raise FileNotFoundError(f"{names}: no finished run (no {_RUNS})")
    return found


def _places(folder: Path) -> Iterator[Path]:
    """Yield the folders of systems in a folder."""
    if is_file(folder / DESCRIPTION):
        yield from _parts(folder)
        return
    yield folder
    for inner in inner_folders(folder):
        if not inner.name.endswith(_INVENTED):
            yield from _parts(inner) if is_file(inner / DESCRIPTION) else [inner]


def _parts(folder: Path) -> Iterator[Path]:
    """Yield the folders of an experiment's parts."""
    for part in _describe(folder).get("parts", ()):
        found = folder / part["folder"]
        if not is_below(folder, found):
            raise ValueError(f"{folder / DESCRIPTION}: a part that lies outside: {found}")
        yield found


def _describe(folder: Path) -> dict:
    """Read what an experiment is.

    Raises:
        ValueError: the file is no description of an experiment.
    """
    path = folder / DESCRIPTION
    text = read_text(path)
    try:
        found = json.loads(text)
    except ValueError:
        raise ValueError(f"{path}: not JSON") from None
    parts = found.get("parts") if isinstance(found, dict) else None
    if not isinstance(parts, list) or not all(
        isinstance(part, dict) and isinstance(part.get("folder"), str) for part in parts
    ):
        raise ValueError(f"{path}: says nothing of the experiment's parts")
    return found


def ensembles_of(folder: Path) -> Iterator[Path]:
    """Yield the folders in which steps of an experiment left the answers of an ensemble."""
    after = files_below(folder / AFTER) if is_below(folder, folder / AFTER) else []
    for path in (path for path in after if path.name == METRICS):
        try:
            about = json.loads(read_text(path))
        except ValueError:
            continue
        if isinstance(about, dict) and about.get("ensemble"):
            yield path.parent

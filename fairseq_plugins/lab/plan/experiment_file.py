"""Read the YAML file of an experiment: the grids behind a table or figure, and what is shown.

    title: Single sentences (Li et al. 2020, Table 1)
    parts:
      - {grid: configs/cola.yaml, size: base}               # a file of this folder, with changes
      - {grid: configs/sst2.yaml, size: base, seeds: [1, 2], systems: [bert_plain_minilm]}
      - {name: wmt, dataset: translation, systems: [...], updates: 100000}  # a grid of its own
    tables: [sla1]
    after:
      gates: [plot, gates, "{runs:cola}", --out, "{out}/gates"]  # see `steps`

A file with `dataset` at its top is a grid, and an experiment of this one part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from ...messages import named, quoted
from . import grid_values as of
from .grid import KINDS, SIZES, Grid, check_grid, grid_of, read_grid
from .grid_selection import changed, resize
from .plain_values import closed, filled, one_of, read_as
from .prepare_options import TRANSLATION
from .steps import AfterStep, read_steps
from .strict_yaml import read_mapping

CONFIGS = "configs"  # folders of grids that are called by their file alone


@dataclass(frozen=True)
class PlannedPart:
    """One grid of an experiment, with where its data come from."""

    name: Annotated[str, of.FOLDER]  # of the folder of its runs
    grid: Grid  # what to run
    data: of.Path = ""  # prepared folder; empty for that of the name, with the size behind it
    raw: of.Path = ""  # folder below the folder of raw data; empty for the name
    size: Annotated[str, one_of(SIZES)] = ""  # of all systems; empty for their own

    @property
    def folder(self) -> Path:
        """Its prepared folder."""
        return Path(self.data or f"data-bin/{self.name}{f'_{self.size}' if self.size else ''}")

    def resized(self, size: str) -> PlannedPart:
        """Return it with all systems in a size, its own or that given; translation has none.

        A grid that has this size already stays what it is, and so does the name of its data.
        """
        size = size or self.size
        own = {
            str(options.get("arch")).rpartition("_")[2] for options in self.grid.systems.values()
        }
        if not size or own == {size} or self.grid.dataset == TRANSLATION:
            return replace(self, size="")
        return replace(self, size=size, grid=resize(self.grid, size))


@dataclass(frozen=True)
class PlannedExperiment:
    """What an experiment file says; a grid's runs lie in the experiment's own folder."""

    name: str  # of its folder in ``runs``
    title: str  # what it is
    file: Path  # where it was read
    parts: tuple[PlannedPart, ...]  # its grids
    tables: tuple[str, ...] = ()  # layouts that show its results
    after: tuple[AfterStep, ...] = ()  # further steps
    is_grid: bool = False  # whether the file is a grid itself

    def runs_of(self, part: PlannedPart, root: Path) -> Path:
        """Return the folder of a part's runs below that of the experiment."""
        return root if self.is_grid else root / part.name


_TOP = closed(
    "Top",
    {
        "name": Annotated[str, of.FOLDER],
        "title": of.Line,
        "parts": list,
        "tables": list[str],
        "after": Any,  # `read_steps` reads them
    },
)
_PART = closed(
    "Part", {**get_type_hints(PlannedPart, include_extras=True), "grid": of.Path, **KINDS}
)


def read_experiment(path: str | Path) -> PlannedExperiment:
    """Read an experiment, or a grid.

    Raises:
        FileNotFoundError: the file, or one that it names, is not there.
        ValueError: a key that is unknown or missing, or a value of another kind; names file, key
            and choices.
    """
    path = Path(path)
    content, name = read_mapping(path), default_name(path)
    if "parts" not in content:
        grid = grid_of(content, str(path))
        part = PlannedPart(name if path.resolve().parent.name == CONFIGS else grid.dataset, grid)
        return PlannedExperiment(name, "", path, (part,), is_grid=True)
    found = read_as(_TOP, filled(content), str(path))
    parts = tuple(
        _part(entry, path, number) for number, entry in enumerate(found.get("parts", ()), 1)
    )
    names = [part.name for part in parts]
    if not parts or len(set(names)) < len(names):
        wrong = f"two are called the same ({named(names)}): name them"
        raise ValueError(f"{path}: parts: {wrong if parts else 'expected a list of grids'}")
    return PlannedExperiment(
        found.get("name", name),
        found.get("title", ""),
        path,
        parts,
        tuple(found.get("tables", ())),
        read_steps(found.get("after"), f"{path}: after"),
    )


def default_name(path: Path) -> str:
    """Return what an experiment is called that has no name: its folder and its file."""
    folder, stem = (
        re.sub(r"[^\w.-]+", "_", one) for one in (path.resolve().parent.name, path.stem)
    )
    return (stem if folder == CONFIGS else f"{folder}_{stem}").lstrip(".-")[:100]


def _part(entry: Any, path: Path, number: int) -> PlannedPart:
    """Read a part: what it says of itself, and of its grid."""
    place, entry, chosen = f"{path}: part {number}", filled(entry), []
    if isinstance(entry, dict) and "grid" in entry and _are_names(entry.get("systems")):
        chosen, entry = entry["systems"], {k: v for k, v in entry.items() if k != "systems"}
    found = read_as(_PART, entry, place)
    own = {key: found.pop(key) for key in KINDS if key in found}
    if file := found.get("grid"):
        grid, usual = _some(read_grid(path.parent / file), chosen, place), Path(file).stem
        grid = check_grid(changed(grid, own), place)
    else:
        grid = grid_of({key: entry[key] for key in own}, place)
        usual = grid.dataset
    known: dict[str, Any] = {"name": usual, **found, "grid": grid}
    return PlannedPart(**known)


def _are_names(systems: Any) -> bool:
    is_list = isinstance(systems, list) and systems
    return bool(is_list) and all(isinstance(one, str) for one in systems)


def _some(grid: Grid, names: Sequence[str], place: str) -> Grid:
    """Return the grid with some of its systems; all if none is named."""
    for name in names:
        if name not in grid.systems:
            choices = named(grid.systems)
            raise ValueError(f"{place}: no system {quoted(name)}; choices: {choices}")
    return replace(grid, systems={name: grid.systems[name] for name in names or grid.systems})

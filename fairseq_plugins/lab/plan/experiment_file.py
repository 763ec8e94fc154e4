"""Read the YAML file of an experiment: the grids of a table or figure, and what to show.

    title: Single sentences (Li et al. 2020, Table 1)
    parts:
      - {grid: configs/cola.yaml, size: base}               # a file of this folder, with changes
      - {grid: configs/sst2.yaml, seeds: [1, 2], systems: [bert_plain_minilm]}  # its own, or new
      - {name: wmt, dataset: translation, systems: [...], updates: 100000}  # a grid of its own
    tables: [sla1]
    after:
      gates: [plot, gates, "{runs:cola}", --output, "{out}/gates"]  # see `steps`

A file with `dataset` at its top is a grid, and an experiment with one part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel

from ...errors import InputError
from ...messages import named, quoted
from .grid import KEYS, SIZES, Below, Grid, Line, changed, grid_of, read_grid
from .grid_selection import resize
from .steps import AfterStep, read_steps
from .systems import FOLDER
from .values import one_of
from .yaml_file import filled, read_as, read_yaml

CONFIGS = "configs"  # folders of grids that take their name from the file alone
Folder = Annotated[str, FOLDER]


@dataclass(frozen=True)
class PlannedPart:
    """One grid of an experiment, with the place of its data."""

    name: Folder  # folder name of its runs
    grid: Grid
    data: Below = ""  # prepared folder; empty for the default, made of name and size
    raw: Below = ""  # folder below the folder of raw data; empty for the name
    size: Annotated[str, one_of(SIZES)] = ""  # of all systems; empty for their own

    @property
    def folder(self) -> Path:
        return Path(self.data or f"data-bin/{self.name}{f'_{self.size}' if self.size else ''}")

    def resized(self, size: str) -> PlannedPart:
        """Return the part with all systems in the given size, or in its own; see `resize`.

        If the grid does not change, the name of its data does not change.
        """
        size = size or self.size
        grid = resize(self.grid, size) if size else self.grid
        return replace(self, size="" if grid == self.grid else size, grid=grid)


@dataclass(frozen=True)
class PlannedExperiment:
    """The content of an experiment file."""

    name: str  # folder name in ``runs``
    title: str
    file: Path
    parts: tuple[PlannedPart, ...]
    tables: tuple[str, ...] = ()  # layouts that show its results
    after: tuple[AfterStep, ...] = ()  # further steps
    is_grid: bool = False  # whether the file is a grid itself

    def runs_of(self, part: PlannedPart, root: Path) -> Path:
        """Return the folder of a part's runs inside the experiment's folder."""
        return root if self.is_grid else root / part.name


_OWN = get_type_hints(PlannedPart)  # keys of a part, without those of its grid


class _File(BaseModel, extra="forbid"):
    parts: list[Any]
    name: Folder = ""
    title: Line = ""
    tables: list[str] = []
    after: Any = None  # see `read_steps`


def read_experiment(path: str | Path) -> PlannedExperiment:
    path = Path(path)
    content, name = read_yaml(path), default_name(path)
    if "parts" not in content:
        grid = grid_of(content, str(path))
        part = PlannedPart(name if path.resolve().parent.name == CONFIGS else grid.dataset, grid)
        return PlannedExperiment(name, "", path, (part,), is_grid=True)
    found = read_as(_File, filled(content), str(path))
    parts = tuple(_part(entry, path, number) for number, entry in enumerate(found.parts, 1))
    names = [part.name for part in parts]
    if not parts or len(set(names)) < len(names):
        wrong = f"two are called the same ({named(names)}): name them"
        raise InputError(f"{path}: parts: {wrong if parts else 'expected a list of grids'}")
    steps = read_steps(found.after, f"{path}: after")
    return PlannedExperiment(
        found.name or name, found.title, path, parts, tuple(found.tables), steps
    )


def default_name(path: Path) -> str:
    """Return the default name of an experiment: its folder and its file."""
    folder = path.resolve().parent.name
    name = path.stem if folder == CONFIGS else f"{folder}_{path.stem}"
    return re.sub(r"[^\w.-]+", "_", name).lstrip(".-")[:100]


def _part(entry: Any, path: Path, number: int) -> PlannedPart:
    place = f"{path}: part {number}"
    given = filled(read_as(dict[Any, Any], entry, place))
    for key in [key for key in given if key not in {*_OWN, *KEYS}]:
        choices = ", ".join([*_OWN, *KEYS])
        raise InputError(f"{place}: unknown key {quoted(key)}; choices: {choices}")
    own = {key: given.pop(key) for key in _OWN if key in given}
    if "grid" in own:
        file = read_as(Below, own["grid"], f"{place}: grid")
        whole, usual = read_grid(path.parent / file), Path(file).stem
        if isinstance(systems := given.get("systems"), list):  # names of the file
            known = {name: {"name": name, **own} for name, own in whole.systems.items()}
            given["systems"] = [known.get(str(one), one) for one in systems]
        grid = changed(whole, given, place)
    else:
        grid = grid_of(given, place)
        usual = grid.dataset
    return read_as(PlannedPart, {"name": usual, **own, "grid": grid}, place)

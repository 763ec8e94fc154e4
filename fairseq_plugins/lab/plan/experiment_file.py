"""Read the YAML file of an experiment: the grids behind a table or figure, and what is shown.

    title: Single sentences (Li et al. 2020, Table 1)
    parts:
      - {grid: configs/cola.yaml, size: base}               # a file beside this one, with changes
      - {grid: configs/sst2.yaml, size: base, seeds: [1, 2], systems: [bert_plain_minilm]}
      - {name: wmt, dataset: translation, systems: [...], updates: 100000}  # a grid of its own
    tables: [sla1]
    after:
      - {name: gates, script: plot_gates.py, arguments: ["{runs:cola}", "--out", "{out}/gates"]}

A file with `dataset` at its top is a grid, and an experiment of this one part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...messages import named, quoted
from .grid import SIZES, Grid
from .grid_file import KEYS, check_grid, grid_of, is_name, read_grid, read_mapping, read_values
from .grid_selection import resize
from .plain_values import LINE, NAME, PATH, Kind
from .prepared_data import TRANSLATION

_KEYS = ("name", "title", "parts", "tables", "after")
_PART_KEYS = ("grid", "name", "data", "raw", "size")
CONFIGS = "configs"  # folders of grids that are called by their file alone


@dataclass(frozen=True)
class Part:
    """One grid of an experiment, with where its data come from.

    Args:
        name: of the folder of its runs.
        grid: what to run.
        data: prepared folder; empty for ``data-bin/<name>``, with the size behind it if it has one.
        raw: folder below the folder of raw data; empty for the name.
        size: of all systems; empty for the grid's own.
    """

    name: str
    grid: Grid
    data: str = ""
    raw: str = ""
    size: str = ""

    @property
    def folder(self) -> Path:
        """Its prepared folder."""
        return Path(self.data or f"data-bin/{self.name}{f'_{self.size}' if self.size else ''}")

    def resized(self, size: str) -> Part:
        """Return it with all systems in a size, its own or that given; translation has none.

        A grid that has this size already stays what it is, and so does the name of its data.

        Raises:
            ValueError: see `grid_selection.resize`.
        """
        size = size or self.size
        own = {
            str(options.get("arch")).rpartition("_")[2] for options in self.grid.systems.values()
        }
        if not size or own == {size} or self.grid.dataset == TRANSLATION:
            return replace(self, size="")
        return replace(self, size=size, grid=resize(self.grid, size))


@dataclass(frozen=True)
class Experiment:
    """What an experiment file says.

    Args:
        name: of its folder in ``runs``.
        title: what it is.
        file: where it was read.
        parts: its grids.
        tables: layouts that show its results.
        after: further steps, as `after_steps.read_steps` takes them.
        is_grid: whether the file is a grid itself; its runs lie in the experiment's own folder.
    """

    name: str
    title: str
    file: Path
    parts: tuple[Part, ...]
    tables: tuple[str, ...] = ()
    after: tuple[Mapping[str, Any], ...] = ()
    is_grid: bool = False

    def runs_of(self, part: Part, root: Path) -> Path:
        """Return the folder of a part's runs below that of the experiment."""
        return root if self.is_grid else root / part.name


def read_experiment(path: str | Path) -> Experiment:
    """Read an experiment, or a grid.

    Raises:
        FileNotFoundError: the file, or one that it names, is not there.
        ValueError: a key that is unknown or missing, or a value of another kind; names file, key
            and choices.
    """
    path = Path(path)
    content = read_mapping(path)
    if "parts" not in content:
        grid, name = grid_of(content, str(path)), default_name(path)
        part = Part(name if path.resolve().parent.name == CONFIGS else grid.dataset, grid)
        return Experiment(name, "", path, (part,), is_grid=True)
    for key in content:
        if key not in _KEYS:
            raise ValueError(f"{path}: unknown key {quoted(key)}; choices: {', '.join(_KEYS)}")
    entries = content["parts"]
    if not isinstance(entries, list) or not entries:
        raise ValueError(f"{path}: parts: expected a list of grids")
    parts = tuple(_part(entry, path, number) for number, entry in enumerate(entries, start=1))
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise ValueError(f"{path}: parts: two are called the same ({named(names)}): name them")
    title = _checked(LINE, content.get("title") or "", f"{path}: title")
    return Experiment(
        _name(content.get("name", default_name(path)), path, "name"),
        title,
        path,
        parts,
        tuple(_texts(content.get("tables") or [], path, "tables")),
        tuple(_mappings(content.get("after") or [], path, "after")),
    )


def default_name(path: Path) -> str:
    """Return what an experiment is called that has no name: its folder and its file."""
    folder, stem = (
        re.sub(r"[^\w.-]+", "_", one) for one in (path.resolve().parent.name, path.stem)
    )
    return (stem if folder == CONFIGS else f"{folder}_{stem}").lstrip(".-")[:100]


def _part(entry: Any, path: Path, number: int) -> Part:
    """Read a part."""
    place = f"{path}: part {number}"
    if not isinstance(entry, dict):
        raise ValueError(f"{place}: {quoted(entry)} is no mapping of keys to values")
    known = (*_PART_KEYS, *KEYS)
    for key in entry:
        if key not in known:
            raise ValueError(f"{place}: unknown key {quoted(key)}; choices: {', '.join(known)}")
    own = {key: value for key, value in entry.items() if key in KEYS}
    if "grid" in entry:
        file = path.parent / _checked(PATH, entry["grid"], f"{place}: grid")
        grid, usual = _changed(read_grid(file), own, place), file.stem
    else:
        grid = grid_of(own, place)
        usual = grid.dataset
    size = entry.get("size") or ""
    if size not in ("", *SIZES):
        raise ValueError(f"{place}: size {quoted(size)}: choices are {', '.join(SIZES)}")
    name = _name(entry.get("name", usual), path, "name of a part")
    folders = {
        key: _checked(PATH, str(entry[key]), f"{place}: {key}")
        for key in ("data", "raw")
        if entry.get(key)
    }
    return Part(name, grid, size=size, **folders)


def _changed(grid: Grid, own: Mapping[str, Any], place: str) -> Grid:
    """Return a grid with what a part says instead.

    Systems that are only named are those of the grid; options are added to the grid's, and those
    without a value are taken away.
    """
    own = dict(own)
    names = own.get("systems")
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        for name in names:
            if name not in grid.systems:
                choices = named(grid.systems)
                raise ValueError(f"{place}: no system {quoted(name)}; choices: {choices}")
        grid = replace(grid, systems={name: grid.systems[name] for name in names})
        del own["systems"]
    values = read_values(own, place)
    if "options" in values:
        values["options"] = {**grid.options, **values["options"]}
    if "epochs" in values and "updates" not in values:
        values["updates"] = 0
    return check_grid(replace(grid, **values), place)


def _name(value: Any, path: Path, key: str) -> str:
    """Read a name that a folder can have."""
    _checked(NAME, value, f"{path}: {key}")
    if not is_name(value):
        raise ValueError(f"{path}: {key}: {quoted(value)} is no name for a folder")
    return value


def _checked(kind: Kind, value: Any, place: str) -> Any:
    """Return a value of a kind."""
    try:
        return kind.check(value)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _texts(value: Any, path: Path, key: str) -> Sequence[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{path}: {key}: {quoted(value)} is no list of names")
    return value


def _mappings(value: Any, path: Path, key: str) -> Sequence[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise ValueError(f"{path}: {key}: {quoted(value)} is no list of steps")
    return value

"""Read the YAML file of a grid.

    dataset: cola
    systems:
      - bert_plain_minilm
      - {name: pos_zero, arch: bert_pos_minilm, feature-init: zero}
      - {arch: bert_sla_minilm, tree-threshold: [3, 4]}  # a choice, made on the validation set
      - {name: other, arch: bert_sla_minilm, lr: 1e-5, data: more}  # its own
    learning_rates: [5e-5, 4e-5]
    seeds: [1, 2, 3]
    options: {max-positions: 128, dropout: [0.1, 0.2]}  # of all systems; again a list is a choice

Keys are the fields of `Grid`, values of their types; an experiment of several grids is read by
`experiment_file`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_type_hints

from ...messages import quoted
from .grid import Grid
from .grid_values import TAKEN
from .prepare_options import check_prepare
from .prepared_data import TRANSLATION
from .strict_yaml import read_yaml
from .typed_reading import read_as, refuse_others

MOST_RUNS = 100_000  # of a grid: more is a mistake, or meant to fill a disk
KINDS = get_type_hints(Grid, include_extras=True)


def read_grid(path: str | Path) -> Grid:
    """Read a YAML file.

    Raises:
        FileNotFoundError: there is none.
        ValueError: an unknown key or a value of another kind; names file, key and choices.
    """
    return grid_of(read_mapping(path), str(path))


def read_mapping(path: str | Path) -> dict[Any, Any]:
    """Read keys and values of a YAML file.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is something else.
    """
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise ValueError(f"{path}: expected keys and values")
    return content


def grid_of(content: Mapping[Any, Any], place: str) -> Grid:
    """Return the grid of keys and values.

    Args:
        content: as YAML has it.
        place: where it stands, for messages.

    Raises:
        ValueError: a key that is unknown or missing, or a value of another kind.
    """
    for key in ("dataset", "systems"):
        if key not in content:
            raise ValueError(f"{place}: key {quoted(key)} is missing")
    return check_grid(Grid(**read_values(content, place)), place)


def check_grid(grid: Grid, place: str) -> Grid:
    """Return a grid whose values go together.

    Raises:
        ValueError: they do not.
    """
    if grid.dataset == TRANSLATION and not grid.updates:
        raise ValueError(f"{place}: translation wants a number of updates (key 'updates')")
    try:
        check_prepare(grid.prepare, grid.dataset)
    except ValueError as error:
        raise ValueError(f"{place}: prepare: {error}") from None
    if (count := grid.count()) > MOST_RUNS:
        raise ValueError(f"{place}: {count:,} runs: a file may ask for {MOST_RUNS:,}")
    return grid


def read_values(content: Mapping[Any, Any], place: str) -> dict[str, Any]:
    """Read values of a grid's keys.

    Raises:
        ValueError: a key that is unknown, or a value of another kind.
    """
    refuse_others(content, KINDS, place)
    return {key: read_as(KINDS[key], value, f"{place}: {key}") for key, value in content.items()}


def is_name(name: Any) -> bool:
    """Return whether an experiment can be called so: a folder that nothing else uses."""
    return (
        isinstance(name, str)
        and Path(name).name == name
        and name.isprintable()
        and not name.startswith("-")
        and name not in ("", "..", *TAKEN)
    )

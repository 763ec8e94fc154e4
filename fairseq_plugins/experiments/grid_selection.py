"""Parts of a grid, and other values in it: what the command line asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .grid import SIZES, Grid, Options


def quick(grid: Grid) -> Grid:
    """Return the smallest grid that still shows every table.

    One learning rate, one epoch, two seeds, and the first value of every choice.
    """
    systems = {name: _first(options) for name, options in grid.systems.items()}
    return replace(
        grid,
        systems=systems,
        learning_rates=grid.learning_rates[:1],
        epochs=(1,),
        seeds=grid.seeds[:2],
    )


def _first(options: Options) -> Options:
    """Leave each choice only its first value; it stays a choice, and the folder names it."""
    return {key: value[:1] if isinstance(value, list) else value for key, value in options.items()}


def select(
    grid: Grid,
    *,
    systems: Sequence[str] = (),
    learning_rates: Sequence[float] = (),
    epochs: Sequence[int] = (),
    seeds: Sequence[int] = (),
) -> Grid:
    """Return the grid with other values where some are given.

    Args:
        grid: the whole grid.
        systems: names of its systems, or any architecture.
        learning_rates, epochs, seeds: in place of its own.
    """
    given = {
        "systems": {name: grid.systems.get(name, {"arch": name}) for name in systems},
        "learning_rates": tuple(learning_rates),
        "epochs": tuple(epochs),
        "seeds": tuple(seeds),
    }
    return replace(grid, **{key: value for key, value in given.items() if value})


def choose(grid: Grid, given: Mapping[str, Sequence[Any]]) -> Grid:
    """Return the grid with other values of its systems' choices.

    Args:
        grid: the whole grid.
        given: option -> values, in every system that has this option as a choice.

    Raises:
        ValueError: no system has such a choice; names those there are.
    """
    open_ = {
        name
        for options in grid.systems.values()
        for name, value in options.items()
        if isinstance(value, list)
    }
    for name in given:
        if name not in open_:
            choices = ", ".join(sorted(open_)) or "none in this grid"
            raise ValueError(f"no system has a choice {name!r}; choices: {choices}")
    systems = {
        name: {
            key: list(given[key]) if key in given and isinstance(value, list) else value
            for key, value in options.items()
        }
        for name, options in grid.systems.items()
    }
    return replace(grid, systems=systems)


def with_options(grid: Grid, options: Options) -> Grid:
    """Return the grid with further options for all systems; None takes one of the grid's away."""
    return replace(grid, options={**grid.options, **options})


def resize(grid: Grid, size: str) -> Grid:
    """Return the grid with all systems in another size.

    An architecture ends with its size: ``bert_sla_minilm`` becomes ``bert_sla_base``, and a system
    called by it with it; a name of its own gets the size behind it.

    Args:
        grid: of any size.
        size: one of `SIZES`.

    Raises:
        ValueError: another size, or an architecture that does not end with one.
    """
    if size not in SIZES:
        raise ValueError(f"--size {size!r}: choices are {', '.join(SIZES)}")
    systems = {}
    for name, options in grid.systems.items():
        kind, _, old = options["arch"].rpartition("_")
        if old not in SIZES:
            raise ValueError(
                f"--size {size}: {options['arch']!r} does not end with its size, one of "
                f"{', '.join(SIZES)}"
            )
        stem = name.removesuffix(f"_{old}")
        systems[f"{stem}_{size}"] = {**options, "arch": f"{kind}_{size}"}
    return replace(grid, systems=systems)

"""Parts of a grid, and other values in it: what the command line asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .grid import SIZES, Grid, Options, variant


def preset(grid: Grid) -> Grid:
    """Return the grid with the first learning rate, length and value of every choice."""
    systems = {name: _first(options) for name, options in grid.systems.items()}
    return replace(
        grid,
        systems=systems,
        learning_rates=grid.learning_rates[:1],
        epochs=grid.epochs[:1],
        options=_first(grid.options),
    )


def quick(grid: Grid) -> Grid:
    """Return the smallest grid that still shows every table: `preset`, one epoch, two seeds."""
    return replace(preset(grid), epochs=(1,), seeds=grid.seeds[:2])


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
    """Return the grid with other values of its choices.

    Args:
        grid: the whole grid.
        given: option -> values, wherever this option is a choice.

    Raises:
        ValueError: no system has such a choice; names those there are.
    """
    open_ = {
        name
        for options in (grid.options, *grid.systems.values())
        for name, value in options.items()
        if isinstance(value, list)
    }
    for name in given:
        if name not in open_:
            choices = ", ".join(sorted(open_)) or "none in this grid"
            raise ValueError(f"no system has a choice {name!r}; choices: {choices}")

    def chosen(options: Options) -> Options:
        return {
            key: list(given[key]) if key in given and isinstance(value, list) else value
            for key, value in options.items()
        }

    systems = {name: chosen(options) for name, options in grid.systems.items()}
    return replace(grid, systems=systems, options=chosen(grid.options))


def contrast(grid: Grid, given: Mapping[str, Sequence[Any]]) -> Grid:
    """Return the grid with further systems: each of its own with one option changed.

    Args:
        grid: with the systems as they are, which stay.
        given: option -> values, each of which makes a system `variant`; one change at a time.
    """
    systems = dict(grid.systems)
    for system, options in grid.systems.items():
        for name, values in given.items():
            systems |= {variant(system, name, v): {**options, name: v} for v in values}
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

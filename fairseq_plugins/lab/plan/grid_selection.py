"""Parts of a grid, and other values in it: what the command line asks for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...messages import named
from .grid import OWN_RATE, SIZES, SOME, Grid, Options, variant
from .grid_values import refuse_owned
from .plain_values import read_as
from .prepare_options import TRANSLATION

_SMALLEST = {"arch": "syntax_transformer_tiny"}
_SHORTEST = {"beam": 1, "max-len-a": 0, "max-len-b": 8, "max-tokens": 2000}


def preset(grid: Grid) -> Grid:
    """Return the grid with the first learning rate, length and value of every choice.

    What had a choice still has it, of one value, and folders name it.
    """
    first = {"learning_rates": grid.learning_rates[:1], "epochs": grid.epochs[:1]}
    return replace(_with_choices(grid, lambda name, values: values[:1]), **first)


def _with_choices(grid: Grid, change: Callable[[str, list[Any]], list[Any]]) -> Grid:
    """Return the grid with other values of its choices; ``change`` gets option and values."""

    def changed(options: Options) -> Options:
        return {
            name: change(name, value) if isinstance(value, list) else value
            for name, value in options.items()
        }

    systems = {name: changed(options) for name, options in grid.systems.items()}
    return replace(grid, systems=systems, options=changed(grid.options))


def quick(grid: Grid) -> Grid:
    """Return the smallest grid that still shows every table: `preset`, one epoch, two seeds.

    Where a number of updates says how long it trains, a tenth of it; of the shares of the training
    data the smallest and the largest. It is marked where it trains shorter.
    """
    shares = tuple(dict.fromkeys((min(grid.fractions), max(grid.fractions))))
    own: dict[str, Any] = (
        {"updates": max(1, grid.updates // 10)} if grid.updates else {"epochs": (1,)}
    )
    first = preset(grid)
    small = replace(first, seeds=grid.seeds[:2], fractions=shares, **own)
    lengths = [(one.updates, one.epochs) for one in (first, small)]
    return small if lengths[0] == lengths[1] else replace(small, trial="quick")


def smoke(grid: Grid) -> Grid:
    """Return a grid that shows within a minute whether every system trains: nothing is learnt.

    Two updates of models of the smallest size from random weights, one seed, the smallest fraction.
    """
    own = {"pretrained": "none"} if grid.dataset != TRANSLATION else _SMALLEST
    small = preset(grid) if grid.dataset == TRANSLATION else resize(preset(grid), "tiny")
    return replace(
        small,
        updates=2,
        trial="smoke",
        fractions=(min(grid.fractions),),
        seeds=grid.seeds[:1],
        validate_every=0,
        average=0,
        generate=_SHORTEST,
        options=_from_nothing(small.options) | own,
        systems={name: _from_nothing(one) | own for name, one in small.systems.items()},
    )


def _from_nothing(options: Options) -> Options:
    """Return options without what keeps weights of a start that a smoke test does not have."""
    return {name: value for name, value in options.items() if name != "freeze-layers"}


def select_systems(grid: Grid, names: Sequence[str], size: str = "") -> Grid:
    """Return the grid with some of its systems, or with any architectures; all if none is named.

    A system is named with its size, without one, or with ``size``, which it gets afterwards; an
    architecture with its own.
    """
    stems = {name.removesuffix(f"_{size}"): name for name in grid.systems for size in SIZES}
    systems = {}
    for name in names:
        stem = name.removesuffix(f"_{size}") if size else name
        own = name if name in grid.systems else stems.get(stem, name)
        if own not in grid.systems and own.rpartition("_")[2] not in SIZES:
            raise ValueError(
                f"--archs {name!r}: no system of this grid ({named(grid.systems)}), and no "
                "architecture with its size behind it"
            )
        systems[own] = grid.systems.get(own, {"arch": own})
    return replace(grid, systems=systems) if systems else grid


def select(grid: Grid, **given: Any) -> Grid:
    """Return the grid with other values of its keys; what is empty or 0 is not given.

    Epochs come in place of its updates as well.
    """
    own = {key: v if isinstance(v, int) else list(v) for key, v in given.items() if v}
    if "epochs" in own and "updates" in own:
        raise ValueError("--epochs and --updates both say how long to train: give one of them")
    return changed(grid, read_as(SOME, own, "command line"))


def changed(grid: Grid, own: Mapping[str, Any]) -> Grid:
    """Return the grid with values as they were read (`SOME`) instead of its own.

    Options are added to the grid's, and those without a value are taken away.
    """
    values = dict(own)
    if "options" in values:
        values["options"] = {**grid.options, **values["options"]}
    if "epochs" in values and "updates" not in values:
        values["updates"] = 0
    return replace(grid, **values)


def choose(grid: Grid, given: Mapping[str, Sequence[Any]]) -> Grid:
    """Return the grid with other values of options, wherever these are a choice."""
    open_ = {
        name
        for options in (grid.options, *grid.systems.values())
        for name, value in options.items()
        if isinstance(value, list)
    }
    for name in given:
        if name not in open_:
            choices = named(sorted(open_), none="none in this grid")
            raise ValueError(f"no system has a choice {name!r}; choices: {choices}")
    return _with_choices(grid, lambda name, values: list(given.get(name, values)))


def contrast(grid: Grid, given: Mapping[str, Sequence[Any]]) -> Grid:
    """Return the grid with further systems: of each one a `variant` for each value of an option.

    The systems that it has stay; one option is changed at a time.
    """
    systems = dict(grid.systems)
    for system, options in grid.systems.items():
        for name, values in given.items():
            values = map(float, values) if name == OWN_RATE else values
            systems |= {variant(system, name, v): {**options, name: v} for v in values}
    return replace(grid, systems=systems)


def with_options(grid: Grid, options: Options) -> Grid:
    """Return the grid with further options for all systems; None takes one away.

    A system that has such an option itself gets this value as well.
    """
    refuse_owned(options)
    if OWN_RATE in options:
        raise ValueError(f"option {OWN_RATE!r}: say so by --learning-rates")
    systems = {
        name: own | {key: value for key, value in options.items() if key in own}
        for name, own in grid.systems.items()
    }
    return replace(grid, systems=systems, options={**grid.options, **options})


def resize(grid: Grid, size: str) -> Grid:
    """Return the grid with all systems in another size, one of `SIZES`.

    An architecture ends with its size: ``bert_sla_minilm`` becomes ``bert_sla_base``, and a system
    called by it with it; a name of its own gets the size behind it. One without a size, like
    ``esim``, has a small form.
    """
    if size not in SIZES:
        raise ValueError(f"--size {size!r}: choices are {', '.join(SIZES)}")
    systems = {}
    for name, options in grid.systems.items():
        kind, _, old = options["arch"].rpartition("_")
        if old not in SIZES and size == SIZES[0]:
            kind, old = options["arch"], ""
        elif old not in SIZES:
            raise ValueError(
                f"--size {size}: {options['arch']!r} does not end with its size, one of "
                f"{', '.join(SIZES)}"
            )
        stem = name.removesuffix(f"_{old}") if old else name
        systems[f"{stem}_{size}"] = {**options, "arch": f"{kind}_{size}"}
    return replace(grid, systems=systems)

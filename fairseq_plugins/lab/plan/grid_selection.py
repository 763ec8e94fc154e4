"""Parts of a grid, and other values in it: what the command line asks for."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...messages import named, quoted
from .allowed import OWN_RATE, Options
from .grid import SIZES, Grid, changed, variant
from .prepare import TRANSLATION
from .systems import check_choice, refuse_owned
from .yaml_file import parse_yaml

_SMALLEST = {"arch": "syntax_transformer_tiny"}
_SHORTEST = {"beam": 1, "max-len-a": 0, "max-len-b": 8, "max-tokens": 2000}
_OPTION = re.compile(r"[A-Za-z][\w-]*")


def _with_options(grid: Grid, change: Callable[[Options], Options]) -> Grid:
    """Return the grid with the options of all and of each system as a function makes them."""
    systems = {name: change(options) for name, options in grid.systems.items()}
    return replace(grid, systems=systems, options=change(grid.options))


def _with_choices(grid: Grid, change: Callable[[str, list[Any]], list[Any]]) -> Grid:
    """Return the grid with other values of its choices; ``change`` gets option and values."""
    return _with_options(
        grid, lambda own: {k: change(k, v) if isinstance(v, list) else v for k, v in own.items()}
    )


def preset(grid: Grid) -> Grid:
    """Return the grid with the first learning rate, length and value of every choice.

    What had a choice still has it, of one value, and folders name it.
    """
    first = {"learning_rates": grid.learning_rates[:1], "epochs": grid.epochs[:1]}
    return replace(_with_choices(grid, lambda name, values: values[:1]), **first)


def quick(grid: Grid) -> Grid:
    """Return the smallest grid that still shows every table: `preset`, one epoch, two seeds.

    Where a number of updates says how long it trains, a tenth of it; of the shares of the training
    data the smallest and the largest. It is marked where it trains shorter.
    """
    shares = tuple(dict.fromkeys((min(grid.fractions), max(grid.fractions))))
    length: dict[str, Any] = (
        {"updates": max(1, grid.updates // 10)} if grid.updates else {"epochs": (1,)}
    )
    first = preset(grid)
    small = replace(first, seeds=grid.seeds[:2], fractions=shares, **length)
    is_whole = (small.updates, small.epochs) == (first.updates, first.epochs)
    return small if is_whole else replace(small, trial="quick")


def smoke(grid: Grid) -> Grid:
    """Return a grid that shows within a minute whether every system trains: nothing is learnt.

    Two updates of models of the smallest size from random weights, one seed, the smallest fraction.
    What keeps weights of a start that there is not is left out.
    """
    translates = grid.dataset == TRANSLATION
    own = _SMALLEST if translates else {"pretrained": "none"}
    small = preset(grid) if translates else resize(preset(grid), "tiny")
    small = _with_options(
        small, lambda given: {k: v for k, v in given.items() if k != "freeze-layers"} | own
    )
    return replace(
        small,
        updates=2,
        trial="smoke",
        fractions=(min(grid.fractions),),
        seeds=grid.seeds[:1],
        validate_every=0,
        average=0,
        generate=_SHORTEST,
    )


def select_systems(grid: Grid, names: Sequence[str], size: str = "") -> Grid:
    """Return the grid with some of its systems, or with any architectures; all if none is named.

    A system is named with its size, without one, or with ``size``, which it gets afterwards; an
    architecture with its own.
    """
    known = {name.removesuffix(f"_{one}"): name for name in grid.systems for one in SIZES}
    systems = {}
    for name in names:
        stem = name.removesuffix(f"_{size}") if size else name
        own = name if name in grid.systems else known.get(stem, name)
        if own not in grid.systems and own.rpartition("_")[2] not in SIZES:
            raise ValueError(
                f"--archs {name!r}: no system of this grid ({named(grid.systems)}), and no "
                "architecture with its size behind it"
            )
        systems[own] = grid.systems.get(own, {"arch": own})
    return replace(grid, systems=systems) if systems else grid


def select(grid: Grid, **given: Any) -> Grid:
    """Return the grid with other values of its keys; what is empty or 0 is not given."""
    own = {key: v if isinstance(v, int) else list(v) for key, v in given.items() if v}
    if "epochs" in own and "updates" in own:
        raise ValueError("--epochs and --updates both say how long to train: give one of them")
    return changed(grid, own, "command line") if own else grid


def choose(grid: Grid, given: Mapping[str, Sequence[Any]]) -> Grid:
    """Return the grid with other values of options, wherever these are a choice."""
    every = (grid.options, *grid.systems.values())
    known = {name for own in every for name, value in own.items() if isinstance(value, list)}
    for name in given.keys() - known:
        choices = named(sorted(known), none="none in this grid")
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
    grid = replace(grid, options={**grid.options, **options})
    return _with_options(grid, lambda own: {k: options.get(k, v) for k, v in own.items()})


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
        if old not in SIZES:
            kind, old = options["arch"], ""
            if size != SIZES[0]:
                sizes = ", ".join(SIZES)
                raise ValueError(f"--size {size}: {kind!r} does not end with its size, of {sizes}")
        stem = name.removesuffix(f"_{old}")
        systems[f"{stem}_{size}"] = {**options, "arch": f"{kind}_{size}"}
    return replace(grid, systems=systems)


def read_assignments(words: Sequence[str]) -> Options:
    """Read ``name=value`` of a command line; values as YAML has them, an empty one is None."""
    return {name: _value(name, text) for name, text in map(_split, words)}


def read_choices(words: Sequence[str]) -> dict[str, list[Any]]:
    """Read ``name=value,value`` of a command line."""
    found = {}
    for name, text in map(_split, words):
        found[name] = [_value(name, value) for value in text.split(",")]
        check_choice(name, found[name])
    return found


def _split(word: str) -> tuple[str, str]:
    name, sign, text = word.partition("=")
    if not sign or not _OPTION.fullmatch(name):
        raise ValueError(f"{quoted(word)} is not NAME=VALUE, with the name of an option")
    return name, text


def _value(name: str, text: str) -> Any:
    value = parse_yaml(text, f"option {quoted(name)}")
    if text.startswith("--") or not isinstance(value, str | int | float | None):
        raise ValueError(f"option {quoted(name)}: {quoted(text)} is no single value")
    return value

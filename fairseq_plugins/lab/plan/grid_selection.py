"""Parts of a grid, and changed values, as the command line selects them."""

import re
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...door.yaml_text import parse_yaml
from ...errors import InputError
from ...messages import named, quoted
from .allowed import OWN_RATE, Options
from .grid import SIZES, Grid, changed, checked, variant
from .prepare import TRANSLATION
from .systems import check_choice, refuse_owned

_SHORTEST = {"beam": 1, "max-len-a": 0, "max-len-b": 8, "max-tokens": 2000}
_KEYS = ("learning_rates", "epochs", "updates", "seeds", "fractions")
_ASSIGNED = re.compile(r"([A-Za-z][\w-]*)=(.*)", re.DOTALL)


def _each(grid: Grid, change: Callable[[str, Any], Any]) -> Grid:
    """Return the grid with changed options; ``change`` maps name and value to a new value."""

    def made(options: Options) -> Options:
        return {name: change(name, value) for name, value in options.items()}

    systems = {name: made(options) for name, options in grid.systems.items()}
    return replace(grid, systems=systems, options=made(grid.options))


def preset(grid: Grid) -> Grid:
    """Return the grid with only the first learning rate, length and value of every choice.

    Folders still name each choice.
    """
    small = _each(grid, lambda name, value: value[:1] if isinstance(value, list) else value)
    return replace(small, learning_rates=grid.learning_rates[:1], epochs=grid.epochs[:1])


def smoke(grid: Grid) -> Grid:
    """Return a grid that shows within a minute whether every system trains; nothing is learnt.

    Two updates, models of the smallest size from random weights, one seed, the smallest fraction.
    """
    own = {"pretrained": "none", "freeze-layers": None}  # no pretrained weights
    if grid.dataset == TRANSLATION:
        own = {"arch": "syntax_transformer_tiny"}
    return replace(
        with_options(resize(preset(grid), "tiny"), own),
        updates=2,
        trial="smoke",
        fractions=(min(grid.fractions),),
        seeds=grid.seeds[:1],
        validate_every=0,
        average=0,
        generate=_SHORTEST,
    )


def select_systems(grid: Grid, names: Sequence[str], size: str = "") -> Grid:
    """Return the grid with some of its systems, or with other architectures; all if none is named.

    A system is named with its size, without a size, or with ``size``, which is then applied; an
    architecture is named with its size.
    """
    known = {name.removesuffix(f"_{one}"): name for name in grid.systems for one in SIZES}
    systems = {}
    for name in names:
        stem = name.removesuffix(f"_{size}") if size else name
        own = name if name in grid.systems else known.get(stem, name)
        if own not in grid.systems and own.rpartition("_")[2] not in SIZES:
            raise InputError(
                f"--archs {name!r}: no system of this grid ({named(grid.systems)}), and no "
                "architecture with its size behind it"
            )
        systems[own] = grid.systems.get(own, {"arch": own})
    return replace(grid, systems=systems or grid.systems)


def selected_grid(grid: Grid, args: Namespace) -> Grid:
    """Return the grid with the parts and values that the flags of `run` select.

    ``--options`` also overrides a system's own options.
    """
    for change in (preset, smoke):
        grid = change(grid) if getattr(args, change.__name__) else grid
    if args.epochs and args.updates:
        raise InputError("--epochs and --updates both say how long to train: give one of them")
    own = {key: getattr(args, key) for key in _KEYS if getattr(args, key)}
    grid = changed(grid, own, "command line") if own else grid
    grid = _contrast(_choose(grid, read_choices(args.choices)), read_choices(args.contrast))
    own = {key: getattr(args, key) for key in ("evaluate", "reference") if getattr(args, key)}
    grid = replace(grid, generate={**grid.generate, **read_assignments(args.generate)}, **own)
    return checked(with_options(grid, read_assignments(args.options)), "command line")


def _choose(grid: Grid, given: Mapping[str, Sequence[Any]]) -> Grid:
    every = (grid.options, *grid.systems.values())
    known = {name for own in every for name, value in own.items() if isinstance(value, list)}
    for name in [name for name in given if name not in known]:
        choices = named(sorted(known), none="none in this grid")
        raise InputError(f"no system has a choice {name!r}; choices: {choices}")
    return _each(grid, lambda name, v: list(given.get(name, v)) if isinstance(v, list) else v)


def _contrast(grid: Grid, given: Mapping[str, Sequence[Any]]) -> Grid:
    systems = dict(grid.systems)
    for system, options in grid.systems.items():
        for name, values in given.items():
            values = map(float, values) if name == OWN_RATE else values
            systems |= {variant(system, name, v): {**options, name: v} for v in values}
    return replace(grid, systems=systems)


def with_options(grid: Grid, options: Options) -> Grid:
    """Return the grid with options of all systems, which also replace a system's own options."""
    refuse_owned(options, OWN_RATE)
    grid = replace(grid, options={**grid.options, **options})
    return _each(grid, lambda name, value: options.get(name, value))


def resize(grid: Grid, size: str) -> Grid:
    """Return the grid with all systems in another size, one of `SIZES`; translation has no sizes.

    An architecture ends with its size: ``bert_sla_minilm`` becomes ``bert_sla_base``, and a system
    with the same name is renamed with it; other names get the size as suffix. An architecture
    without a size, such as ``esim``, has a small form.
    """
    if size not in SIZES:
        raise InputError(f"--size {size!r}: choices are {', '.join(SIZES)}")
    arches = [options["arch"] for options in grid.systems.values()]
    if grid.dataset == TRANSLATION or all(arch.endswith(f"_{size}") for arch in arches):
        return grid
    systems = {}
    for name, options in grid.systems.items():
        kind, _, old = options["arch"].rpartition("_")
        if old not in SIZES:
            kind, old = options["arch"], "-"
            if size != SIZES[0]:
                raise InputError(f"--size {size}: {kind!r} does not end with its size")
        new, made = f"{name.removesuffix(f'_{old}')}_{size}", {**options, "arch": f"{kind}_{size}"}
        if systems.setdefault(new, made) != made:
            raise InputError(f"--size {size}: {name!r} and another system would be {new!r}")
    return replace(grid, systems=systems)


def read_choices(words: Sequence[str]) -> dict[str, list[Any]]:
    """Read ``name=value,value`` of a command line."""
    found = {}
    for word in words:
        name, text = _assigned(word)
        found[name] = [_value(name, value) for value in text.split(",")]
        check_choice(name, found[name])
    return found


def read_assignments(words: Sequence[str]) -> Options:
    """Read ``name=value`` of a command line; values as in YAML, an empty value is None."""
    return {name: _value(name, text) for name, text in map(_assigned, words)}


def _assigned(word: str) -> tuple[str, str]:
    if not (found := _ASSIGNED.fullmatch(word)):
        raise InputError(f"{quoted(word)} is not NAME=VALUE, with the name of an option")
    return found[1], found[2]


def _value(name: str, text: str) -> Any:
    value = parse_yaml(text, f"option {name!r}")
    if text.startswith("--") or not isinstance(value, str | int | float | None):
        raise InputError(f"option {name!r}: {quoted(text)} is no single value")
    return value

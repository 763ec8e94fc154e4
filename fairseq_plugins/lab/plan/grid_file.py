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

Keys are the fields of `Grid`; an experiment of several grids is read by `experiment_file`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ...messages import quoted
from .grid import OWN_RATE, Grid, Options
from .option_values import check_choice, read_options
from .plain_values import NAME, PATH, Kind
from .prepare_options import check_prepare, read_prepare
from .prepared_data import TRANSLATION
from .strict_yaml import read_yaml
from .train_options import check_generation, check_training

TAKEN = ("after", "data", "jobs")  # folders of an experiment itself
OWNED = {  # options of fairseq-train that grids decide -> what says so
    "seed": "'seeds'",
    "max-update": "'updates'",
    "max-epoch": "'epochs'",
    "best-checkpoint-metric": "'metric'",
    "keep-interval-updates": "'average'",
    "save-dir": "--runs",
    "task": "'dataset'",
    "cpu": "--cpu",
    "distributed-world-size": "--processes",
}
MOST_RUNS = 100_000  # of a grid: more is a mistake, or meant to fill a disk
KEYS = tuple(spec.name for spec in fields(Grid))


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
    values = {}
    for key, value in content.items():
        if key not in KEYS:
            raise ValueError(f"{place}: unknown key {quoted(key)}; choices: {', '.join(KEYS)}")
        try:
            values[key] = _READ[key](value)
        except (ValueError, TypeError, OverflowError) as error:
            raise ValueError(f"{place}: {key}: {error}") from None
    return values


def _systems(value: Any) -> dict[str, Options]:
    """Read systems: names of architectures, or mappings with arch, name and further options."""
    found: dict[str, Options] = {}
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(entry, str):
            entry = {"arch": entry}
        if not isinstance(entry, dict) or not isinstance(entry.get("arch"), str):
            raise ValueError(f"{quoted(entry)} is neither an architecture nor a name with its arch")
        name = str(entry.get("name", entry["arch"]))
        if name in found or not (is_name(name) and NAME.fits(name)):
            raise ValueError(f"{quoted(name)} is named twice, or no name for a folder")
        found[name] = _open_options({key: v for key, v in entry.items() if key != "name"})
        if OWN_RATE in found[name]:  # YAML takes 1e-5 for a text
            rates, one = found[name][OWN_RATE], _number(float, 0.0)
            found[name][OWN_RATE] = list(map(one, rates)) if isinstance(rates, list) else one(rates)
    if not found:
        raise ValueError("there is none")
    return found


def is_name(name: Any) -> bool:
    """Tell whether an experiment can be called so: a folder that nothing else uses."""
    return (
        isinstance(name, str)
        and Path(name).name == name
        and name.isprintable()
        and not name.startswith("-")
        and name not in ("", "..", *TAKEN)
    )


def _options_of_all(value: Any) -> Options:
    """Read options of all systems."""
    found = _open_options(value)
    if OWN_RATE in found:
        raise ValueError(f"option {OWN_RATE!r}: say so by 'learning_rates', or for one system")
    return found


def refuse_owned(options: Options) -> None:
    """Refuse options of ``fairseq-train`` that a grid has a key for.

    Raises:
        ValueError: one of them; names the key.
    """
    for key in options:
        if str(key) in OWNED:
            raise ValueError(f"option {quoted(key)}: say so by {OWNED[str(key)]}")


def _open_options(value: Any) -> Options:
    """Read options, those with several values among them."""
    if not isinstance(value, dict):
        return read_options(value)  # which says what is wrong
    refuse_owned(value)
    choices = {str(key): given for key, given in value.items() if isinstance(given, list)}
    for key, values in choices.items():
        check_choice(key, values)
    found = read_options({key: v for key, v in value.items() if str(key) not in choices}) | choices
    check_training(found)
    return found


def _text(kind: Kind) -> Any:
    """Return what reads a text of a kind; nothing after the colon is an empty one."""
    return lambda value: "" if value in (None, "") else kind.check(value)


def _number(kind: type, least: float) -> Any:
    def read(value: Any) -> Any:
        found = kind(value)
        if isinstance(value, bool) or found != float(value) or not least <= found < math.inf:
            raise ValueError(f"{quoted(value)} is no {kind.__name__} from {least:g} on")
        return found

    return read


def _several(kind: type, least: float) -> Any:
    def read(value: Any) -> tuple[Any, ...]:
        entries = value if isinstance(value, list) else [value]
        found = tuple(_number(kind, least)(entry) for entry in entries)
        if not found or len(set(found)) < len(found):
            raise ValueError(f"{quoted(value)} is empty or holds a value twice")
        return found

    return read


def _generation(value: Any) -> Options:
    """Read options of fairseq-generate."""
    found = read_options(value)
    check_generation(found)
    return found


def _fractions(value: Any) -> tuple[float, ...]:
    """Read shares of the training set."""
    found = _several(float, 0.0)(value)
    if not all(0 < fraction <= 1 for fraction in found):
        raise ValueError(f"{quoted(value)}: fractions are above 0 and at most 1")
    return found


_READ = {
    "dataset": _text(NAME),
    "systems": _systems,
    "learning_rates": _several(float, 0.0),
    "epochs": _several(int, 1),
    "updates": _number(int, 0),
    "fractions": _fractions,
    "seeds": _several(int, 0),
    "batch_size": _number(int, 1),
    "warmup_ratio": _number(float, 0.0),
    "weight_decay": _number(float, 0.0),
    "clip_norm": _number(float, 0.0),
    "validate_every": _number(int, 0),
    "metric": _text(NAME),
    "evaluate": _text(NAME),
    "prepare": read_prepare,
    "generate": _generation,
    "reference": _text(PATH),
    "average": _number(int, 0),
    "options": _options_of_all,
}

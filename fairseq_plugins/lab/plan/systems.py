"""The systems of a grid, and their options of ``fairseq-train``."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...messages import named, quoted
from ...syntax.controls import CONTROLS
from .allowed import OWN_RATE, Options, check_options, of_training
from .values import NAME, Kind

TAKEN = ("after", "data", "jobs")  # folders of an experiment itself
FOLDER = Kind(
    f"a name for a folder: {NAME.said}, and none of {', '.join(TAKEN)}",
    lambda value: NAME.fits(value) and value not in TAKEN,
)
_OWNED = (  # options of fairseq-train that are equal in all runs, or follow from others
    "seed max-update max-epoch best-checkpoint-metric keep-interval-updates save-dir task cpu "
    "distributed-world-size user-dir no-epoch-checkpoints log-format log-interval num-workers"
).split()
_INSTEAD = "seeds learning_rates updates epochs metric average dataset".split()  # keys of a grid


def read_systems(value: Any) -> dict[str, Options]:
    """Read systems: names of architectures, or mappings with arch, name and further options."""
    found: dict[str, Options] = {}
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(entry, str):
            entry = {"arch": entry}
        if not isinstance(entry, dict) or not isinstance(entry.get("arch"), str):
            raise InputError(f"{quoted(entry)} is neither an architecture nor a name with its arch")
        name = str(entry.get("name", entry["arch"]))
        if name in found or not FOLDER.fits(name):
            raise InputError(f"{quoted(name)} is named twice, or no name for a folder")
        empty = (OWN_RATE, None)
        own = {k: v for k, v in entry.items() if k != "name" and (k, v) != empty}
        if "valid-subset" in own:  # one split chooses the checkpoints of all systems
            raise InputError(f"{quoted(name)}: option 'valid-subset' is for all systems (options)")
        found[name] = _read_options(own)
    if not found:
        raise InputError("there is none")
    return found


def read_options_of_all(options: Options) -> Options:
    refuse_owned(options, OWN_RATE)
    return _read_options(options)


def _read_options(options: Options) -> Options:
    refuse_owned(options)
    for key, given in options.items():
        if isinstance(given, list):
            check_choice(key, given)
            if str(key).replace("-", "_") in CONTROLS:
                raise InputError(
                    f"option {quoted(key)}: the best of several values would be compared as if it "
                    "were the method: name a system for each value, or give them to --contrast"
                )
    return check_options(options, of_training(), is_open=True)


def refuse_owned(options: Iterable[Any], *more: str) -> None:
    """Refuse options of ``fairseq-train`` that a grid or `run` decides, and further ones."""
    for key in options:
        if key == "patience":
            raise InputError(
                "option 'patience': a run is as long as its updates or epochs say, and its best "
                "checkpoint is kept; fairseq-train itself stops early"
            )
        if key in (*_OWNED, *more):
            raise InputError(
                f"option {quoted(key)}: decided by {named(_INSTEAD)} of the grid or by flags of run"
            )


def check_choice(key: Any, values: Sequence[Any]) -> None:
    """Refuse a choice with repeated values, or values that cannot stand in a folder name."""
    names = [str(value) for value in values]
    single = all(isinstance(value, (str, int, float)) for value in values)
    if not single or not names or len(set(names)) < len(names):
        raise InputError(f"option {quoted(key)}: {quoted(values)} is no list of different values")
    if any(Path(name).name != name for name in names):
        raise InputError(f"option {quoted(key)}: {quoted(values)} holds no name for a folder")

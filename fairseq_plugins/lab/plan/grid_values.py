"""Types of what the file of a grid may hold: numbers, names, systems, options."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator

from ...messages import quoted
from ...syntax.needs import CONTROLS
from .allowed import check_options
from .option_values import Options, check_choice
from .plain_values import LINE, NAME, NUMBER, PATH, ValueKind, one_of, read_as
from .train_options import of_generation, of_training

OWN_RATE = "lr"  # option of a system that the grid reads itself, in place of its learning rates
TRIALS = ("quick", "smoke")  # runs that are cut short
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
FIXED = "user-dir no-epoch-checkpoints log-format log-interval num-workers".split()  # of all runs
FOLDER = ValueKind(
    f"a name for a folder: {NAME.said}, and none of {', '.join(TAKEN)}",
    lambda value: NAME.fits(value) and value not in TAKEN,
)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _different(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not values or len(set(values)) < len(values):
        raise ValueError(f"{quoted(list(values))} is empty or holds a value twice")
    return values


def _systems(value: Any) -> dict[str, Options]:
    """Read systems: names of architectures, or mappings with arch, name and further options."""
    found: dict[str, Options] = {}
    for entry in _listed(value):
        if isinstance(entry, str):
            entry = {"arch": entry}
        if not isinstance(entry, dict) or not isinstance(entry.get("arch"), str):
            raise ValueError(f"{quoted(entry)} is neither an architecture nor a name with its arch")
        name = str(entry.get("name", entry["arch"]))
        if name in found or not FOLDER.fits(name):
            raise ValueError(f"{quoted(name)} is named twice, or no name for a folder")
        found[name] = _open_options({key: v for key, v in entry.items() if key != "name"})
        if OWN_RATE in found[name]:  # YAML takes 1e-5 for a text
            rates = found[name][OWN_RATE]
            read = read_as(Amounts, rates, f"option {OWN_RATE!r}")
            found[name][OWN_RATE] = list(read) if isinstance(rates, list) else read[0]
    if not found:
        raise ValueError("there is none")
    return found


def refuse_owned(options: Options) -> None:
    """Refuse options of ``fairseq-train`` that a grid has a key for, or that no run can change."""
    for key in options:
        if key in OWNED:
            raise ValueError(f"option {quoted(key)}: say so by {OWNED[key]}")
        if key in FIXED:
            raise ValueError(f"option {quoted(key)}: it is the same for all runs; leave it out")


def _open_options(found: Options) -> Options:
    """Read options, those with several values among them."""
    refuse_owned(found)
    for key, given in found.items():
        if isinstance(given, list):
            check_choice(key, given)
            if str(key).replace("-", "_") in CONTROLS:
                raise ValueError(
                    f"option {quoted(key)}: the best of several values would be compared as if it "
                    "were the method: name a system for each value, or give them to --contrast"
                )
    check_options(found, of_training(), "on the command line: --options", is_open=True)
    return found


def _options_of_all(found: Options) -> Options:
    """Read options of all systems."""
    if OWN_RATE in found:
        raise ValueError(f"option {OWN_RATE!r}: say so by 'learning_rates', or for one system")
    return _open_options(found)


def _generation(found: Options) -> Options:
    """Read options of fairseq-generate."""
    check_options(found, of_generation(), "on the command line: --generate", is_open=True)
    return found


Name, Line, Path = Annotated[str, NAME], Annotated[str, LINE], Annotated[str, PATH]
Trial = Annotated[str, one_of(TRIALS)]
Count = Annotated[int, Field(strict=True, ge=0, lt=2**53)]
Positive = Annotated[int, Field(strict=True, ge=1, lt=2**53)]
Amount = Annotated[float, BeforeValidator(NUMBER.check), Field(ge=0)]
_Share = Annotated[float, BeforeValidator(NUMBER.check), Field(gt=0, le=1)]
_LISTED, _DIFFERENT = BeforeValidator(_listed), AfterValidator(_different)
Counts = Annotated[tuple[Count, ...], _DIFFERENT, _LISTED]
Lengths = Annotated[tuple[Positive, ...], _DIFFERENT, _LISTED]
Amounts = Annotated[tuple[Amount, ...], _DIFFERENT, _LISTED]
Shares = Annotated[tuple[_Share, ...], _DIFFERENT, _LISTED]
Systems = Annotated[dict[str, Options], PlainValidator(_systems)]
OptionsOfAll = Annotated[Options, AfterValidator(_options_of_all)]
Generation = Annotated[Options, AfterValidator(_generation)]
Preparation = Options  # see `check_prepare`, which knows the dataset

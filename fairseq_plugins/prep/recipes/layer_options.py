"""Options of all preparations for the annotations that a folder stores beside its words."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...data.inventories import bound_layers
from ...data.manifests import read_manifest
from ...errors import InputError
from ...files import sha256
from ...option_flags import flag_of, option
from ...syntax.layers import (
    CHOICES,
    Layer,
    is_column,
    layers_of,
    refuse_targets,
    split_names,
)

NOTHING = "none"
_FIELDS: dict[str, tuple[Any, ...]] = {  # help and default
    "layers": (
        f"layers of information to store beside the words: any of {', '.join(CHOICES)}, separated "
        f"by commas, or {NOTHING}; e.g. pos,dep,lemma,morph.Number",
        None,
    ),
    "layer_min_count": (
        "values of learnt layers (dep, tag, lemma, morph, ent, given) become unknown if fewer "
        "training words than this have them",
        2,
    ),
    "layer_max_size": (
        "maximum number of values kept of each learnt layer, the most frequent ones (-1: all)",
        -1,
    ),
    "layer_dicts": (
        "prepared folder whose values of learnt layers are used, instead of those of the training "
        "text",
        None,
    ),
}
LEAST = {"layer_min_count": 1, "layer_max_size": -1}


def layer_option(name: str) -> Any:
    return option(*_FIELDS[name], least=LEAST.get(name))


def unrecorded(options: Any) -> list[str]:
    """Return the options that a manifest omits: implied by others, or with their default."""
    same = (name for name in LEAST if getattr(options, name) == _FIELDS[name][1])
    return ["layers", "layer_dicts", *same]


def read_layers(text: str, option: str) -> list[str]:
    """Split the names of layers in an option; ``none`` gives none."""
    try:
        names = split_names(text)
        if names == [NOTHING]:
            return []
        layers_of(names)
        refuse_targets(names)
    except InputError as error:
        raise InputError(f"{option} {text!r}: {error}, or {NOTHING}") from None
    if not names:
        raise InputError(f"{option} {text!r}: choices are {', '.join(CHOICES)}, or {NOTHING}")
    return names


def apart(names: Iterable[str]) -> dict[str, Any]:
    """Translate ``--layers`` into the older options of parallel text: columns, and trees."""
    names = list(names)
    columns = [name for name in names if is_column(name)]
    return {"features": ",".join(columns), "parse": len(columns) < len(names)}


def given_inventories(options: Any, names: Iterable[str], *, trained: bool) -> dict[str, Layer]:
    """Return learnt layers with the inventories of ``--layer-dicts``, if given, by name.

    Args:
        names: of the layers in the folder to make.
        trained: whether there is training text to learn inventories from.
    """
    learnt = [layer.name for layer in layers_of(names) if layer.learnt]
    flag = flag_of("layer_dicts")
    if not options.layer_dicts:
        if learnt and not trained:
            raise InputError(
                f"without training text the values of {', '.join(learnt)} cannot be learnt: give "
                f"{flag} FOLDER, the folder that the model was trained on"
            )
        return {}
    folder = Path(options.layer_dicts)
    manifest = read_manifest(folder)
    if lacking := [name for name in learnt if name not in manifest.layers]:
        raise InputError(f"{flag} {folder} has no {' and no '.join(lacking)}")
    return {layer.name: layer for layer in bound_layers(folder, manifest, learnt)}


def inventory_inputs(options: Any, given: dict[str, Layer]) -> dict[str, dict[str, str]]:
    """Return a manifest's entries for given inventories."""
    folder, found = Path(options.layer_dicts or ""), {}
    for name, layer in given.items():
        path = folder / read_manifest(folder).inventory_file(layer)
        found[f"inventory.{name}"] = {"file": str(path), "sha256": sha256(path)}
    return found

"""The layers of a prepared folder with their values; learnt inventories are files of the folder."""

from collections.abc import Iterable
from pathlib import Path

from ..syntax.labels import Inventory
from ..syntax.layers import Layer, layers_of
from .manifest import Manifest


def bound_layers(
    folder: Path,
    manifest: Manifest,
    names: Iterable[str] | None = None,
    *,
    of_target: bool = False,
) -> list[Layer]:
    """Return layers of a folder, learnt ones with their inventories; closed layers are checked.

    Args:
        of_target: whether the layers, then given by name, are of the target text.
        names: wanted layers, in this order (default: all, in the manifest's order).
    """
    found = []
    for layer in layers_of(manifest.layers if names is None else names):
        if name := manifest.inventory_file(layer, of_target=of_target):
            path = Path(folder) / name
            if not path.is_file():
                raise FileNotFoundError(f"{path} is missing; prepare the folder again")
            if layer.is_open:
                layer = layer.bound(Inventory.load(layer.name, path))
            else:
                layer.inventory.check_file(path)
        found.append(layer)
    return found

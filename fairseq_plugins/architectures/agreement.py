"""Whether a trained model and a folder, prepared or a bundle, have the same labels and values."""

from collections.abc import Sequence
from typing import Any

from ..checkpoints.records import read_list
from ..messages import named, shortened
from ..syntax.layers import Layer


def check_labels(cfg: Any, manifest: Any, folder: object) -> None:
    """Refuse a model that was trained for other labels than a folder's.

    Args:
        cfg: its options.
        manifest: `data.manifest.Manifest` of the folder.
        folder: its name.

    Raises:
        ValueError: names both.
    """
    trained = read_list(getattr(cfg, "labels", None), "labels")
    target = getattr(cfg, "target", None)
    if (target, trained) != (manifest.target, manifest.labels):
        sides = [
            shortened(str(kind)) + (f" ({named(labels)})" if labels else "")
            for kind, labels in ((target, trained), (manifest.target, manifest.labels))
        ]
        raise ValueError(f"the model was trained for {sides[0]}, but {folder} has {sides[1]}")


def check_inventories(cfg: Any, layers: Sequence[Layer], folder: object) -> None:
    """Refuse a model that knows other values of a learnt layer than a folder has.

    Args:
        cfg: its options.
        layers, folder: of the folder, and its name.

    Raises:
        ValueError: names the layers, and what to prepare the folder with.
    """
    known = (part.partition("=") for part in (getattr(cfg, "inventories", None) or "").split(","))
    trained = {name: digest for name, _, digest in known if name}
    held = {layer.name: layer.inventory.digest for layer in layers if layer.learnt}
    if other := [name for name in trained if held.get(name, trained[name]) != trained[name]]:
        raise ValueError(
            f"{folder} has other values of {' and of '.join(other)} than the folder that the model "
            "was trained on: prepare it with --layer-dicts and that folder"
        )

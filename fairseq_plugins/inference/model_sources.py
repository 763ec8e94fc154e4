"""Models from bundles or checkpoints, with the encoder of their input.

Only checkpoints import fairseq.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from ..bundles.index import found_bundles, open_bundle
from ..bundles.understanding import join, load_bundle
from ..corpora.datasets import label_names
from ..data.text_inputs import TextInputs
from ..errors import InputError
from ..nn.quantized import QuantizedLinear
from .options import READ_BY, Paths

# input, models, further arguments of `Predictor`
Parts = tuple[TextInputs, list[Any], dict[str, Any]]


def find_models(
    path: Paths,
    data: str | Path | None,
    checkpoint: str,
    *,
    wanted: Sequence[str],
    overrides: dict[str, Any],
) -> tuple[list[Path], TextInputs, list[Any], dict[str, Any]]:
    """Load the models of a path on the CPU; see `prediction.load`.

    Returns:
        Their paths, their input, the models, and further arguments of `prediction.Predictor`.
    """
    data = None if data is None else Path(data)
    if paths := found_bundles(path):
        return paths, *_from_bundles(paths, data, wanted, overrides)
    from .text_checkpoints import find_checkpoints

    paths = find_checkpoints(path, checkpoint)
    return paths, *_from_checkpoints(paths, data, wanted, overrides)


def device_of(models: Sequence[Any], cpu: bool) -> torch.device:
    """Return the device; 8-bit maps need the CPU."""
    parts = (part for model in models for part in model.modules())
    cpu = cpu or any(isinstance(part, QuantizedLinear) for part in parts)
    return torch.device("cuda" if torch.cuda.is_available() and not cpu else "cpu")


def _from_checkpoints(
    paths: Sequence[Path], data: Path | None, wanted: Sequence[str], overrides: dict[str, Any]
) -> Parts:
    from .text_checkpoints import load_models

    folder = None if data is None else str(data)
    task, models = load_models(paths, folder, wanted=wanted, **overrides)
    names = label_names(task.manifest.dataset, task.manifest.labels)
    how = {"positive": task.positive, "names": names, "spacy_model": task.cfg.spacy_model}
    return task.inputs, models, how


def _from_bundles(
    paths: Sequence[Path], data: Path | None, wanted: Sequence[str], overrides: dict[str, Any]
) -> Parts:
    named_pipeline = overrides.pop("spacy_model", None)
    opened = [open_bundle(path) for path in paths]
    for bundle in opened:
        if bundle.task not in wanted:
            by = f"; it is read by {READ_BY[bundle.task]}" if bundle.task in READ_BY else ""
            raise InputError(
                f"{bundle.folder} is a bundle for {bundle.task}; what is wanted is one for "
                f"{' or '.join(wanted)}{by}"
            )
    first, *others = [load_bundle(bundle, overrides, data) for bundle in opened]
    for bundle, other in zip(opened[1:], others):
        join(first.inputs, other, bundle.folder)
    pipeline = named_pipeline or first.pipeline
    how = {"positive": first.positive, "names": first.names, "spacy_model": pipeline}
    return first.inputs, [loaded.model for loaded in (first, *others)], how

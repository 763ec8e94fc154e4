"""A folder of a COMET metric, as Unbabel publishes it.

``checkpoints/model.ckpt`` is a checkpoint of Lightning: tensors, and in ``hyper_parameters`` the
options of training. As in COMET, these go before the options of ``hparams.yaml``, except for the
kind of metric. The folder has neither the encoder's sizes nor its tokeniser: both stand in a
directory of the encoder, of which no weights are read.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..door.model_trial import try_model
from ..door.records import close
from ..door.torch_files import check_finite, read_plain
from ..door.yaml_text import parse_yaml
from ..errors import InputError
from ..nn.bert import BertShape
from ..nn.comet import PATCH, Comet, CometOptions
from ..text_reading import read_text
from . import names
from .configuration import read_shape
from .directory import find_family
from .huggingface import check_sizes, of_encoder

OPTIONS, WEIGHTS = "hparams.yaml", "checkpoints/model.ckpt"
FAMILY = "xlm-roberta"
TENSORS = replace(names.NAMES[FAMILY], prefix="encoder.model.", heads=("encoder.model.pooler.",))
BUFFERS = ("layerwise_attention.dropout_mask", "layerwise_attention.dropout_fill")


def read_comet(directory: str | Path, encoder: str | Path) -> Comet:
    """Read a metric onto the CPU; ``encoder`` is a directory of its encoder."""
    told, path = _told(Path(directory) / OPTIONS), Path(directory) / WEIGHTS
    content = read_plain(path)
    tensors = content.get("state_dict") if isinstance(content, dict) else None
    if not isinstance(tensors, dict) or not all(map(torch.is_tensor, tensors.values())):
        raise InputError(f"{path}: no checkpoint of Lightning, it lacks a 'state_dict'")
    options = _options(told, content.get("hyper_parameters"), Path(directory))
    if find_family(encoder).name != FAMILY:
        raise InputError(f"{encoder}: no directory of {FAMILY}, the metric's encoder")
    own = replace(read_shape(encoder), pooler=False)
    state = _state(tensors, own, path)
    check_finite(state, path)
    try:
        model: Any = try_model(lambda: Comet(own, options), state)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    model.load_state_dict(state, assign=True)
    return model.requires_grad_(False).eval()


def _told(path: Path) -> dict[str, Any]:
    """Read ``hparams.yaml``."""
    for one in (path, path.parent / WEIGHTS):
        if not one.is_file():
            raise FileNotFoundError(f"{one}: no such file of a COMET metric; none is downloaded")
    found = parse_yaml(read_text(path), str(path))
    if not isinstance(found, dict) or "class_identifier" not in found:
        raise InputError(f"{path}: no options of a COMET metric, it lacks 'class_identifier'")
    return found


def _options(told: dict[str, Any], trained: Any, where: Path) -> CometOptions:
    """Return the options of a metric; see the head of this file."""
    found = {**told, **(trained if isinstance(trained, Mapping) else {})}
    found["class_identifier"] = told["class_identifier"]
    if told.get("layer_transformation") == PATCH:
        found["layer_transformation"] = PATCH
    for name, default in asdict(CometOptions()).items():
        if name in found and found[name] is None and default is not None:
            raise InputError(f"{where}: the option {name} is null, expected a value")
    values: dict[str, Any] = {**asdict(CometOptions()), **close(found, CometOptions, where)}
    return CometOptions(**values)


def _state(tensors: dict[Any, Tensor], shape: BertShape, path: Path) -> dict[str, Tensor]:
    """Return a checkpoint's tensors by our names, in float32."""
    named = {str(name): value.float() for name, value in tensors.items() if name not in BUFFERS}
    theirs = {name: value for name, value in named.items() if name.startswith("encoder.")}
    own, authority = of_encoder(theirs, TENSORS, shape, path), "the encoder's directory"
    if shape.layers > len(own):  # before so many names are made
        raise InputError(f"{path}: {len(own)} tensors, {authority} says {shape.layers} layers")
    expected = names.expected_sizes(shape, TENSORS)
    for what, keys in names.unlike(own, expected):
        raise InputError(f"{path}: {what} tensors {keys} (by {authority})")
    check_sizes({name: tuple(one.shape) for name, one in own.items()}, expected, path, authority)
    ours = names.to_ours(own, shape, TENSORS)
    others = {name: value for name, value in named.items() if name not in theirs}
    return others | {f"encoder.{name}": value for name, value in ours.items()}

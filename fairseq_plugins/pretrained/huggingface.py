"""A pretrained directory of any family as our encoder; `exporting` is the way back.

Loading is strict: every tensor of the file is used, left out by name (heads of other tasks), or
refused; every tensor of the encoder is filled. Half precision becomes float32.
"""

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from torch import Tensor

from ..door.torch_files import check_finite
from ..errors import InputError
from ..messages import named
from ..nn.bert import BertShape
from . import configuration, names, weights
from .directory import DICTIONARY, find_family, is_fairseq
from .names import NAMES, Names
from .tokenizer_sources import read_vocabulary

logger = logging.getLogger(__name__)

Found = TypeVar("Found")

# numbers 0, 1, 2 ... and zeros in files of old releases
BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")
UNUSED = (
    f"{names.EMBEDDINGS['embeddings.positions']}.weight"  # in encoders without position embeddings
)
# fields that change the result, but no tensor's size
DECISIVE = ("layers", "heads", "activation", "norm_epsilon", "padding")
DECISIVE += ("embedding", "segments", "position_offset", "sides", "shared", "absolute", "relative")
FAIRSEQ = f"its options with {DICTIONARY}"  # source of the sizes in fairseq's folder
OLD_ENDINGS = {".gamma": ".weight", ".beta": ".bias"}  # LayerNorm in TensorFlow's words


def read_config(directory: str | Path) -> BertShape:
    """Read sizes and constants, which must match the tensors, and whether there is a pooler."""
    family = find_family(directory)
    own, shape = NAMES[family.name], configuration.read_shape(directory)
    path = weights.weights_file(directory)
    authority = FAIRSEQ if is_fairseq(directory) else configuration.FILE_NAME
    sizes = of_encoder(weights.read_tensors(directory, sizes=True), own, shape, path)
    has_pooler = own.pooler is not None and any(name.startswith(own.pooler) for name in sizes)
    shape = replace(shape, pooler=has_pooler)
    if not shape.shared and shape.layers > len(sizes):  # before so many names are made
        raise InputError(f"{path}: {len(sizes)} tensors, {authority} says {shape.layers} layers")
    try:
        expected = names.expected_sizes(shape, own)
    except InputError as error:
        raise InputError(f"{path}: {error} as {authority} says") from None
    for what, keys in names.unlike(sizes, expected):
        kind = f"{family.short} of {shape.layers} layers by {authority}"
        raise InputError(f"{path}: {what} tensors {keys} ({kind})")
    check_sizes(sizes, expected, path, authority)
    return shape


def load_state(directory: str | Path, shape: BertShape | None = None) -> dict[str, Tensor]:
    """Load the weights of an encoder under our names, in float32.

    Args:
        directory: a Hugging Face directory.
        shape: the model's; None for the directory's. Dropout rates may differ; a model without a
            pooler drops the directory's; a model with exactly the vocabulary's size drops padding
            rows of the table.

    Returns:
        The complete state of ``nn.bert.BertEncoder(shape)``.
    """
    own = read_config(directory)
    path, theirs = weights.weights_file(directory), NAMES[find_family(directory).name]
    tensors = of_encoder(weights.read_tensors(directory), theirs, own, path, log=True)
    for name, tensor in tensors.items():
        if not tensor.is_floating_point():
            raise InputError(f"{path}: {name!r} holds {tensor.dtype}, expected real numbers")
        tensors[name] = tensor.float()
    check_finite(tensors, path)
    if shape is not None:
        _cut_table(tensors, shape, Path(directory), theirs.words)
        _check_request(tensors, own, shape, theirs, path)
    return names.to_ours(tensors, own if shape is None else shape, theirs)


def of_encoder(
    found: Mapping[str, Found], own: Names, shape: BertShape, path: Path, *, log: bool = False
) -> dict[str, Found]:
    """Return the encoder's part of a file's tensors, or of their sizes, by plain names."""
    prefixed = any(name.startswith(own.prefix) for name in found)
    taken: dict[str, Found] = {}
    left_out = [name for name in found if name.startswith(own.heads)]
    others = {name: value for name, value in found.items() if not name.startswith(own.heads)}
    unknown = [name for name in others if prefixed and not name.startswith(own.prefix)]
    for name, value in others.items():
        plain = name.removeprefix(own.prefix)
        for old, new in OLD_ENDINGS.items():
            plain = plain.removesuffix(old) + new if plain.endswith(old) else plain
        if plain in BUFFERS or name in unknown or (plain == UNUSED and not shape.absolute):
            continue
        if plain in taken:
            raise InputError(f"{path}: {plain!r} is there twice, also as {name!r}")
        taken[plain] = value
    if unknown:
        raise InputError(f"{path}: unknown tensors {named(sorted(unknown), 6)}")
    if left_out and log:
        logger.info("%s: left out %s", path, named(sorted(left_out), 6))
    return taken


def check_sizes(
    found: Mapping[str, names.Size], sizes: Mapping[str, names.Size], path: Path, authority: str
) -> None:
    """Refuse a tensor of another size than ``authority`` says."""
    for name, size in sizes.items():
        if name in found and found[name] != size:
            raise InputError(f"{path}: {name!r} has shape {found[name]}, {authority} says {size}")


def _cut_table(tensors: dict[str, Tensor], asked: BertShape, directory: Path, words: str) -> None:
    """Drop rows of the word table after the vocabulary."""
    table = tensors[words]
    if len(table) > asked.vocabulary == len(read_vocabulary(directory)):
        logger.info(
            "%s: left out %d rows behind the vocabulary", directory, len(table) - asked.vocabulary
        )
        tensors[words] = table[: asked.vocabulary].clone()


def _check_request(
    tensors: Mapping[str, Tensor], own: BertShape, asked: BertShape, theirs: Names, path: Path
) -> None:
    sizes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if own.shared == asked.shared:
        check_sizes(sizes, names.expected_sizes(asked, theirs), path, "the model")
    for field in DECISIVE:
        one, other = getattr(own, field), getattr(asked, field)
        if one != other:
            raise InputError(f"{path.parent}: {field} is {one}, the model has {other}")
    if asked.pooler and not own.pooler:
        found = f" ({theirs.pooler}.*)" if theirs.pooler else ""
        raise InputError(f"{path}: no pooler{found}, the model has one")

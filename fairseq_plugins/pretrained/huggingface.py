"""A Hugging Face BERT directory as our encoder, and our encoder as such a directory.

Loading is strict: every tensor of the file is used, or left out by name (heads of other tasks), or
refused; every tensor of the encoder is filled. Half precision becomes float32.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from ..messages import named
from ..nn.attention import GlobalMixer
from ..nn.bert import BertEncoder, BertShape
from . import configuration, names, tokenizer, weights
from .directory import (
    DEFAULT,
    EMBEDDED,
    VOCABULARY,
    read_vocabulary,
    resolve_directory,
    vocabulary_path,
)
from .tokenizer import read_tokenizer_settings

__all__ = [
    "DEFAULT",
    "EMBEDDED",
    "check_free",
    "check_plain",
    "export",
    "load_state",
    "read_config",
    "read_tokenizer_settings",
    "read_vocabulary",
    "resolve_directory",
    "vocabulary_path",
]

logger = logging.getLogger(__name__)

PREFIX = "bert."
HEADS = ("cls.", "classifier.", "qa_outputs.")  # of pretraining and of other tasks
BUFFERS = ("embeddings.position_ids",)  # numbers 0, 1, 2 ... that old releases saved
OLD_ENDINGS = {".gamma": ".weight", ".beta": ".bias"}  # LayerNorm in TensorFlow's words


def read_config(directory: str | Path) -> BertShape:
    """Read sizes and constants; whether there is a pooler is read off the weights.

    Raises:
        FileNotFoundError, ValueError: ``config.json`` or the weights cannot be read or are of
            another model.
    """
    shape = configuration.read_shape(directory)
    found = weights.tensor_names(directory)
    pooler = any(name.removeprefix(PREFIX).startswith(names.POOLER) for name in found)
    return replace(shape, pooler=pooler)


def load_state(directory: str | Path, shape: BertShape | None = None) -> dict[str, Tensor]:
    """Load the weights of an encoder under our names, in float32.

    Args:
        directory: a Hugging Face directory.
        shape: what the model asks for; None: what the directory has. Rates of dropout may differ;
            a model without a pooler leaves the directory's out; a model of exactly as many
            wordpieces as the vocabulary leaves out rows that fill the table up behind them.

    Returns:
        The state of ``nn.bert.BertEncoder(shape)``, complete.

    Raises:
        FileNotFoundError, ValueError: as `read_config`; tensors that are unknown, missing or of
            another size, or a model of another shape.
    """
    own = configuration.read_shape(directory)
    path = weights.weights_file(directory)
    tensors = _encoder_tensors(weights.read_tensors(directory), path)
    own = replace(own, pooler=any(name.startswith(names.POOLER) for name in tensors))
    _check_names(tensors, own, path)
    _check_sizes(tensors, own, path, configuration.FILE_NAME)
    if shape is not None:
        _cut_table(tensors, shape, Path(directory))
        _check_request(tensors, own, shape, path)
    return names.to_ours(tensors, own if shape is None else shape)


def _encoder_tensors(tensors: Mapping[str, Tensor], path: Path) -> dict[str, Tensor]:
    """Take the encoder's tensors out of a model, under their plain names, in float32."""
    prefixed = any(name.startswith(PREFIX) for name in tensors)
    found: dict[str, Tensor] = {}
    left_out, unknown = [], []
    for name, tensor in tensors.items():
        if name.startswith(HEADS):
            left_out.append(name)
            continue
        if prefixed and not name.startswith(PREFIX):
            unknown.append(name)
            continue
        plain = name.removeprefix(PREFIX)
        for old, new in OLD_ENDINGS.items():
            plain = plain.removesuffix(old) + new if plain.endswith(old) else plain
        if plain in BUFFERS:
            continue
        if plain in found:
            raise ValueError(f"{path}: {plain!r} is there twice, also as {name!r}")
        if not tensor.is_floating_point():
            raise ValueError(f"{path}: {name!r} holds {tensor.dtype}, expected real numbers")
        found[plain] = tensor.float()
    if unknown:
        raise ValueError(f"{path}: unknown tensors {named(sorted(unknown), 6)}")
    if left_out:
        logger.info("%s: left out %s", path, named(sorted(left_out), 6))
    return found


def _check_names(found: Iterable[str], shape: BertShape, path: Path) -> None:
    """Refuse tensors that no encoder of this configuration has, and the lack of one it has."""
    expected = names.expected_sizes(shape).keys()
    for what, keys in (("unknown", set(found) - expected), ("missing", expected - set(found))):
        if keys:
            raise ValueError(
                f"{path}: {what} tensors {named(sorted(keys), 6)} "
                f"(a BERT of {shape.layers} layers by {configuration.FILE_NAME})"
            )


def _check_sizes(
    tensors: Mapping[str, Tensor], shape: BertShape, path: Path, authority: str
) -> None:
    """Refuse a tensor whose size is not what ``authority`` says."""
    for name, size in names.expected_sizes(shape).items():
        if name in tensors and tuple(tensors[name].shape) != size:
            raise ValueError(
                f"{path}: {name!r} has shape {tuple(tensors[name].shape)}, {authority} says {size}"
            )


def _cut_table(tensors: dict[str, Tensor], asked: BertShape, directory: Path) -> None:
    """Take away rows of the word table that no wordpiece of the vocabulary has."""
    table = tensors[names.WORDS]
    if len(table) > asked.vocabulary == _count_lines(read_vocabulary(directory)):
        logger.info(
            "%s: left out %d rows behind the vocabulary", directory, len(table) - asked.vocabulary
        )
        tensors[names.WORDS] = table[: asked.vocabulary].clone()


def _count_lines(vocabulary: bytes) -> int:
    """Count wordpieces."""
    return vocabulary.count(b"\n") + (bool(vocabulary) and not vocabulary.endswith(b"\n"))


def _check_request(
    tensors: Mapping[str, Tensor], own: BertShape, asked: BertShape, path: Path
) -> None:
    """Refuse weights for a model of another shape."""
    _check_sizes(tensors, asked, path, "the model")
    for field in ("layers", "heads", "activation", "norm_epsilon", "padding"):
        theirs, ours = getattr(own, field), getattr(asked, field)
        if theirs != ours:
            raise ValueError(f"{path.parent}: {field} is {theirs}, the model has {ours}")
    if asked.pooler and not own.pooler:
        raise ValueError(f"{path}: no pooler ({names.POOLER}.*), the model has one")


def check_free(directory: str | Path) -> Path:
    """Refuse a place to export to that is taken; an empty directory is free.

    Raises:
        ValueError: it is there already.
    """
    directory = Path(directory)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ValueError(f"{directory} is there already; choose another name, or remove it")
    return directory


def check_plain(encoder: BertEncoder) -> None:
    """Refuse an encoder that computes something else than BERT from the same weights.

    Raises:
        ValueError: it reads features, or attends in another way; says which.
    """
    if encoder.embeddings.features is not None:
        raise ValueError(
            "the encoder adds features to its word embeddings; a BERT directory has no place for "
            "them, and without them it would compute something else"
        )
    if encoder.top is not None:
        raise ValueError(
            "the encoder has syntax-guided layers on top; a BERT directory has no place for them, "
            "and without them it would compute something else"
        )
    for number, layer in enumerate(encoder.layers):
        mixer, other = layer.attention.mixer, None
        if type(mixer) is not GlobalMixer:
            other = f"attends by {type(mixer).__name__}"
        elif mixer.similar:
            other = "attends by the similarity of words"
        elif layer.attention.dual is not None:
            other = "has dual attention"
        if other is not None:
            raise ValueError(
                f"layer {number} {other}; a BERT directory has no place for that, and without it "
                "it would compute something else"
            )


def export(
    directory: str | Path,
    state: Mapping[str, Tensor],
    shape: BertShape,
    *,
    vocabulary: bytes,
    settings: dict[str, bool],
) -> None:
    """Write an encoder as a Hugging Face directory, which appears when it is complete.

    Args:
        directory: where to; must not exist, or be empty.
        state: of a plain `nn.bert.BertEncoder` of this shape; see `check_plain`.
        shape: sizes and constants.
        vocabulary: bytes of the vocabulary file, one wordpiece a line.
        settings: how raw text is cut, see `tokenizer.read_tokenizer_settings`.

    Raises:
        ValueError: the directory is taken, the parameters are not those of a plain BERT, or the
            vocabulary does not fit.
    """
    directory = check_free(directory)
    tensors = _their_tensors(state, shape)
    lines = _count_lines(vocabulary)
    if lines > shape.vocabulary:
        raise ValueError(
            f"the vocabulary has {lines} wordpieces, the encoder {shape.vocabulary} embeddings"
        )
    texts = tokenizer.tokenizer_files(settings, shape.positions)
    texts[configuration.FILE_NAME] = json.dumps(configuration.config_of(shape), indent=2) + "\n"
    directory.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{directory.name}.", dir=directory.parent))
    try:
        for name, text in texts.items():
            (temporary / name).write_text(text, encoding="utf-8")
        (temporary / VOCABULARY).write_bytes(vocabulary)
        save_file(tensors, temporary / weights.SAFETENSORS, metadata={"format": "pt"})
        (temporary / weights.SAFETENSORS).chmod(0o666 & ~_umask())  # saved for this user alone
        temporary.chmod(0o777 & ~_umask())
        os.rename(temporary, directory)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _their_tensors(state: Mapping[str, Tensor], shape: BertShape) -> dict[str, Tensor]:
    """Return the tensors under their names, refusing what a plain BERT does not have."""
    expected = {ours for ours, _ in names.renamings(shape)}
    for what, keys in (("unknown", state.keys() - expected), ("missing", expected - state.keys())):
        if keys:
            raise ValueError(f"not a plain BERT: {what} {named(sorted(keys), 6)}")
    plain = {name: tensor.detach().cpu().to(torch.float32) for name, tensor in state.items()}
    tensors = names.to_theirs(plain, shape)
    for name, size in names.expected_sizes(shape).items():
        if tuple(tensors[name].shape) != size:
            raise ValueError(f"{name!r} has shape {tuple(tensors[name].shape)}, expected {size}")
    return tensors


def _umask() -> int:
    """Return the file mode mask (results are for sharing, temporary ones are private)."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

"""Our encoder, with or without its task's head, as a Hugging Face directory.

A written model computes the same as ours, or is refused; `huggingface` reads it again.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..errors import InputError
from ..files import check_free, complete_folder
from ..nn.attention import GlobalMixer
from ..nn.bert import BertEncoder, BertShape
from . import configuration, names, task_heads, tokenizer
from .families import Family, family_of
from .names import NAMES, Names
from .task_heads import TaskHead
from .vocabulary import Vocabulary
from .weights import SAFETENSORS, write_safetensors

logger = logging.getLogger(__name__)


def check_plain(encoder: BertEncoder) -> None:
    """Refuse an encoder whose result differs from its family's with the same weights."""
    for other, those, without in beyond_plain(encoder):
        raise InputError(
            f"{other}; a pretrained directory has no place for {those}, and without {without} it "
            "would compute something else"
        )


def beyond_plain(encoder: BertEncoder, *, features: bool = True) -> Iterator[tuple[str, str, str]]:
    """Yield each extension of an encoder, with two pronouns for messages."""
    if features and encoder.embeddings.features is not None:
        yield "the encoder adds features to its word embeddings", "them", "them"
    if encoder.top is not None:
        yield "the encoder has syntax-guided layers on top", "them", "them"
    for number, layer in enumerate(encoder.layers):
        mixer = layer.attention.mixer
        if type(mixer) is not GlobalMixer:
            yield f"layer {number} attends by {type(mixer).__name__}", "that", "it"
        elif mixer.similar:
            yield f"layer {number} attends by the similarity of words", "that", "it"
        elif layer.attention.dual is not None:
            yield f"layer {number} has dual attention", "that", "it"


def export(
    directory: str | Path,
    state: Mapping[str, Tensor],
    shape: BertShape,
    *,
    vocabulary: bytes,
    settings: dict[str, Any],
    head: TaskHead | None = None,
) -> None:
    """Write an encoder as a Hugging Face directory, which appears when complete.

    Args:
        state, shape: of a plain `nn.bert.BertEncoder`; see `check_plain`.
        vocabulary: bytes of the vocabulary file, see `vocabulary.Vocabulary`.
        settings: of the tokeniser, see `tokenizer.read_tokenizer_settings`.
        head: of a task; None for the encoder alone, without a pooler that the family lacks.
    """
    directory, family = check_free(directory), family_of(settings)
    own = NAMES[family.name] if head is None else task_heads.names_beneath(family)
    if shape.pooler and own.pooler is None:
        logger.warning("%s has no pooler: the encoder's is left out", family.name)
        shape = replace(shape, pooler=False)
        state = {name: value for name, value in state.items() if not name.startswith("pooler")}
    tensors = _their_tensors(state, shape, own, family)
    if head is not None:
        task_heads.check_plain(head, shape, family)
        tensors = task_heads.join_head(tensors, head, family)
    files = small_files(shape, vocabulary=vocabulary, settings=settings, head=head)
    with complete_folder(directory) as folder:
        for name, content in files.items():
            (folder / name).write_bytes(content)
        write_safetensors(tensors, folder / SAFETENSORS, {"format": "pt"})


def small_files(
    shape: BertShape, *, vocabulary: bytes, settings: dict[str, Any], head: TaskHead | None
) -> dict[str, bytes]:
    """Return all files of a directory except the weights: name -> content."""
    family = family_of(settings)
    pieces = Vocabulary(vocabulary, "the vocabulary", family)
    if len(pieces) > shape.vocabulary:
        raise InputError(
            f"the vocabulary has {len(pieces)} subwords, the encoder {shape.vocabulary} embeddings"
        )
    config = configuration.config_of(shape, family)
    config |= {} if head is None else task_heads.config_of(head, family)
    found = tokenizer.tokenizer_files(
        pieces, settings, shape.longest, sides=shape.segments != 1 or not shape.sides
    )
    return found | {configuration.FILE_NAME: f"{json.dumps(config, indent=2)}\n".encode()}


def _their_tensors(
    state: Mapping[str, Tensor], shape: BertShape, own: Names, family: Family
) -> dict[str, Tensor]:
    """Return the tensors under the family's names; refuse other tensors."""
    for what, keys in names.unlike(state, [ours for ours, _ in names.renamings(shape, own)]):
        raise InputError(f"not a plain {family.short}: {what} {keys}")
    plain = {name: tensor.detach().cpu().to(torch.float32) for name, tensor in state.items()}
    tensors = names.to_theirs(plain, shape, own)
    for name, size in names.expected_sizes(shape, own).items():
        if tuple(tensors[name].shape) != size:
            raise InputError(f"{name!r} has shape {tuple(tensors[name].shape)}, expected {size}")
    return tensors

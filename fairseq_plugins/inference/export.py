"""A trained checkpoint in another format: a bundle, a Hugging Face directory, or ONNX."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import nn

from ..architectures.text_model import TextModel
from ..errors import InputError
from ..files import check_free
from ..nn.entity_spans import EntityReader
from ..nn.heads import LabelHead
from ..nn.span_heads import JointSpanHead
from ..pretrained import exporting
from ..pretrained.task_heads import ANSWERS, SENTENCES, TOKENS, TaskHead
from . import onnx_files
from .bundle_export import export_bundle, refuse_controls
from .options import BUNDLE, ENCODER, EXPORTS, HUGGINGFACE, ONNX
from .text_checkpoints import find_checkpoints, load_models

logger = logging.getLogger(__name__)


def export_checkpoint(
    checkpoint: str | Path,
    output: str | Path,
    data: str | Path | None = None,
    form: str = BUNDLE,
    **options: Any,
) -> None:
    """Write a checkpoint in another format.

    Args:
        checkpoint: a checkpoint file, or a run folder (its ``checkpoint_best.pt``).
        output: the directory to make.
        data: the prepared folder (default: the training folder).
        form: of `EXPORTS`.
        options: of a bundle, see `bundle_export.export_bundle`.
    """
    if form not in EXPORTS:
        raise InputError(f"--format {form!r} is unknown; choices: {', '.join(EXPORTS)}")
    check_free(output)
    if form == ONNX:
        onnx_files.check_installed()
    paths = find_checkpoints(checkpoint)
    if len(paths) > 1:
        raise InputError(f"{len(paths)} checkpoints were given; an export takes one")
    data = None if data is None else str(data)
    if form == BUNDLE:
        export_bundle(paths[0], output, data, **options)
    else:
        _write_as(form, paths[0], output, data)


def _write_as(form: str, checkpoint: Path, output: str | Path, data: str | None) -> None:
    task, (model,) = load_models([checkpoint], data)
    refuse_controls(model.needs, checkpoint)
    try:
        if not isinstance(model, TextModel):
            raise InputError("the model is no encoder of a known family; give --format bundle")
        FORMATS[form](Path(output), task, model)
    except InputError as error:
        raise InputError(f"{checkpoint}: {error}") from None
    logger.info("wrote %s: %s as %s", output, checkpoint, form)


def write_encoder(directory: Path, task: Any, model: Any) -> None:
    """Write a Hugging Face directory of the encoder without its task's head."""
    exporting.check_plain(model.encoder)
    _write(directory, task, model, None)


def write_huggingface(directory: Path, task: Any, model: Any) -> None:
    """Write a Hugging Face directory with the task's head, for transformers' model of the task."""
    exporting.check_plain(model.encoder)
    _write(directory, task, model, head_of(task, model))


def write_onnx(directory: Path, task: Any, model: Any) -> None:
    """Write ``model.onnx`` with the task's head, beside the files that make its input."""
    known = {layer.name: layer for layer in task.layers}
    features = [known[name] for name in model.needs.features]
    onnx_files.write(directory, model, head_of(task, model), _source(task), features)


def head_of(task: Any, model: Any) -> TaskHead:
    """Return a model's head for its task; refuse heads that other formats lack."""
    head = model.head
    if model.semantics is not None:
        raise InputError(
            "semantic layers join the encoder's states, for which formats of others have no place; "
            "a bundle holds every model: fairseq-plugins export RUN --output BUNDLE"
        )
    if model.chain is not None:
        raise InputError(
            "it scores the labels of a sentence together (--crf), which formats of others do not "
            "know; a bundle holds every model: fairseq-plugins export RUN --output BUNDLE"
        )
    if isinstance(head, LabelHead):
        kind = TOKENS if model.encoder.pooler is None else SENTENCES
        named = {"problem": task.target.problem, "thresholds": task.inputs.thresholds}
        return TaskHead(
            kind, _state(head.out), tuple(task.manifest.labels), head.dropout.p, **named
        )
    if isinstance(head, EntityReader):
        raise InputError(
            "it finds entities by questions, which no model of transformers does: give --format "
            "bundle, or huggingface-encoder for the encoder alone"
        )
    more = {
        "has coattention": head.coattention is not None,
        "reads the states of several layers": head.inputs is not None,
        "has a layer each for start and end": not isinstance(head.head, JointSpanHead),
    }
    for what, found in more.items():
        if found:
            raise InputError(
                f"what finds its answers {what}; only models with --span-head joint and nothing "
                "before it are written in formats of others"
            )
    return TaskHead(ANSWERS, _state(head.head.out))


def _write(directory: Path, task: Any, model: Any, head: TaskHead | None) -> None:
    state, shape = model.encoder.state_dict(), model.encoder.shape
    exporting.export(directory, state, shape, head=head, **_source(task))


def _source(task: Any) -> dict[str, Any]:
    """Return the vocabulary and tokenizer settings of the encoder's input."""
    vocabulary = task.source_dictionary.vocabulary.content
    return {"vocabulary": vocabulary, "settings": task.manifest.tokenizer}


def _state(out: nn.Linear) -> dict[str, Any]:
    return {"weight": out.weight, "bias": out.bias}


FORMATS: dict[str, Callable[[Path, Any, Any], None]] = {
    HUGGINGFACE: write_huggingface,
    ENCODER: write_encoder,
    ONNX: write_onnx,
}

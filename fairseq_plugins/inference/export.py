"""A trained checkpoint in a form that others run: a bundle, or a Hugging Face directory."""

import logging
from pathlib import Path
from typing import Any

from ..pretrained import huggingface
from .bundle_export import export_bundle
from .options import FORMATS
from .text_checkpoints import find_checkpoints, load_models

logger = logging.getLogger(__name__)


def export(
    checkpoint: str | Path,
    output: str | Path,
    data: str | Path | None = None,
    *,
    form: str = FORMATS[0],
    **options: Any,
) -> None:
    """Write a checkpoint in one of the `FORMATS`.

    Args:
        checkpoint: a checkpoint file, or a run folder (its ``checkpoint_best.pt``).
        output: the folder to make.
        data: the prepared folder (default: the one the checkpoint was trained on).
        form: of `FORMATS`.
        options: of `bundle_export.export_bundle`.

    Raises:
        FileNotFoundError, ValueError: see there, and `export_checkpoint`; more than one checkpoint.
    """
    paths = find_checkpoints(checkpoint)
    if len(paths) > 1:
        raise ValueError(f"{len(paths)} checkpoints were given; an export takes one")
    data = None if data is None else str(data)
    if form == "bundle":
        export_bundle(paths[0], output, data, **options)
    else:
        export_checkpoint(paths[0], output, data)


def export_checkpoint(checkpoint: Path, output: str | Path, data: str | None = None) -> None:
    """Write the encoder of a checkpoint as a Hugging Face directory, without its head.

    Args:
        checkpoint: the checkpoint file.
        output: the directory to make.
        data: the prepared folder (default: the one the checkpoint was trained on), whose
            vocabulary and tokenizer settings are written beside the weights.

    Raises:
        FileNotFoundError: no such checkpoint or prepared folder.
        ValueError: a checkpoint that is refused or is no plain encoder, or an output that is taken.
    """
    huggingface.check_free(output)
    task, (model,) = load_models([checkpoint], data)
    try:
        huggingface.check_plain(model.encoder)
    except ValueError as error:
        raise ValueError(f"{checkpoint}: {error}") from None
    huggingface.export(
        output,
        model.encoder.state_dict(),
        model.encoder.shape,
        vocabulary=task.source_dictionary.vocabulary.content,
        settings=task.manifest.tokenizer,
    )
    logger.info("wrote %s: the encoder of %s, without its head", output, checkpoint)

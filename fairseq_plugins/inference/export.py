"""A fine-tuned checkpoint's encoder as a Hugging Face directory."""

import logging
from pathlib import Path

from ..pretrained import huggingface
from .text_checkpoints import find_checkpoints, load_models

logger = logging.getLogger(__name__)


def export_checkpoint(
    checkpoint: str | Path, output: str | Path, data: str | Path | None = None
) -> None:
    """Write the encoder of a checkpoint as a Hugging Face directory, without its head.

    Args:
        checkpoint: a checkpoint file, or a run folder (its ``checkpoint_best.pt``).
        output: the directory to make.
        data: the prepared folder (default: the one the checkpoint was trained on), whose
            vocabulary and tokenizer settings are written beside the weights.

    Raises:
        FileNotFoundError: no such checkpoint or prepared folder.
        ValueError: a checkpoint that is refused or is no plain encoder, or an output that is taken.
    """
    huggingface.check_free(output)
    paths = find_checkpoints(checkpoint)
    if len(paths) > 1:
        raise ValueError(f"{len(paths)} checkpoints were given; an export takes one")
    task, (model,) = load_models(paths, None if data is None else str(data))
    try:
        huggingface.check_plain(model.encoder)
    except ValueError as error:
        raise ValueError(f"{paths[0]}: {error}") from None
    huggingface.export(
        output,
        model.encoder.state_dict(),
        model.encoder.shape,
        vocabulary=task.source_dictionary.vocabulary.content,
        settings=task.manifest.tokenizer,
    )
    logger.info("wrote %s: the encoder of %s, without its head", output, paths[0])

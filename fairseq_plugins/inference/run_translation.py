"""Raw text translated by the checkpoint of a run, with fairseq."""

from functools import partial
from pathlib import Path

import torch

from ..augment.translators import Translate
from ..bundles.ctranslate2_model import Search
from .translation_attention import load


def open_checkpoint(
    checkpoint: Path,
    search: Search,
    *,
    data: str | None = None,
    spacy_model: str | None = None,
    cpu: bool = False,
) -> tuple[Translate, str]:
    """Load a checkpoint that translates as a bundle of it would.

    Args:
        checkpoint: the file.
        search: how translations are searched for; of the best alone.
        data: the prepared folder (default: the run's own).
        spacy_model: what annotates raw text.
        cpu: compute on the CPU even where there is a GPU.

    Returns:
        A function of raw lines, and the language of what it returns.

    Raises:
        FileNotFoundError, InputError: see `models._hub.from_pretrained`.
    """
    model = load(checkpoint, data, spacy_model)
    if torch.cuda.is_available() and not cpu:
        model = model.cuda()
    model.cfg.dataset.max_tokens = max(search.max_tokens, model.max_positions[0])
    how = {"beam": search.beam, "lenpen": search.lenpen, "max_len_b": search.longest}
    return partial(model.translate, **how), model.task.manifest.target_lang

"""Translate raw text from Python: ``SyntaxTransformerModel.from_pretrained(dir).translate(..)``."""

from __future__ import annotations

import logging
import os
import pickle
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from fairseq import checkpoint_utils, utils
from fairseq.hub_utils import GeneratorHubInterface
from fairseq.models import ARCH_MODEL_REGISTRY
from fairseq.tasks import TASK_REGISTRY

logger = logging.getLogger(__name__)

TASK = "syntax_translation"


class SyntaxGenerator(GeneratorHubInterface):
    """fairseq's hub interface, fed with raw text: the task annotates and segments it."""

    def __init__(self, cfg: Any, task: Any, models: Sequence[Any]) -> None:
        super().__init__(cfg, task, models)
        self.tokenizer = task.build_tokenizer(cfg.tokenizer)
        self.bpe = task.build_bpe(cfg.bpe)

    def sample(
        self, sentences: str | list[str], beam: int = 1, verbose: bool = False, **kwargs: Any
    ) -> Any:
        """Translate one sentence or several.

        Args:
            sentences: raw source text.
            beam: beam size.
            verbose: log scores.
            kwargs: further generation options, e.g. ``lenpen``.

        Returns:
            Plain target text: one string for a string, a list for a list.
        """
        if isinstance(sentences, str):
            return self.sample([sentences], beam, verbose, **kwargs)[0]
        if not sentences:
            return []
        self.task.restart_numbering()
        tokens, _ = self.task.get_interactive_tokens_and_lengths(list(sentences), None)
        hypotheses = self.generate(tokens, beam, verbose, **kwargs)
        return [self.decode(nbest[0]["tokens"]) for nbest in hypotheses]

    def encode(self, sentence: str) -> torch.LongTensor:
        """Refuse: token ids alone would lose the features."""
        raise ValueError(
            "encode() cannot carry source features; hand raw text to translate() or sample()"
        )


def from_pretrained(
    model_folder: str,
    checkpoint_file: str = "checkpoint_best.pt",
    data_folder: str | None = None,
    *,
    spacy_model: str | None = None,
    **overrides: Any,
) -> SyntaxGenerator:
    """Load checkpoints for translation.

    Args:
        model_folder: where the checkpoints lie.
        checkpoint_file: file name; several, joined by ``:``, make an ensemble.
        data_folder: the prepared folder (default: the one the checkpoint was trained on).
        spacy_model: pipeline for raw text, installed or a path (default: that of the data folder,
            if it is bundled or installed); a checkpoint does not name one.
        overrides: options that replace those of the checkpoint, e.g. ``ablate_features="pos"``.

    Raises:
        FileNotFoundError: a checkpoint or data folder that is not there.
        ValueError: a checkpoint of another task or model.
    """
    paths = [Path(model_folder) / name for name in checkpoint_file.split(os.pathsep)]
    recorded = [check_checkpoint(path) for path in paths][0]
    data = data_folder or recorded
    for folder in utils.split_paths(data):
        if not Path(folder).is_dir():
            raise FileNotFoundError(
                f"the prepared folder {folder} is not there; give its place as data_name_or_path"
            )
    models, cfg, task = checkpoint_utils.load_model_ensemble_and_task(
        [str(path) for path in paths], arg_overrides={**overrides, "data": str(data)}
    )
    task.spacy_model = spacy_model
    return SyntaxGenerator(cfg, task, models)


def check_checkpoint(path: Path) -> str:
    """Refuse a checkpoint that is not of this task and one of its models, before it is built.

    Several models and tasks of fairseq evaluate text of a checkpoint's options as Python.

    Returns:
        The data folder that the checkpoint was trained on.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: another task or model, a damaged file, or one that would run code.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing")
    state = _read(path)
    cfg = state.get("cfg")
    # fairseq builds what "args" and the key "task" name, if they are there, whatever "_name" says
    older = not isinstance(cfg, dict) or state.get("args") is not None
    cfg = {} if older else cfg
    options, model = (_plain(cfg.get(part)) for part in ("task", "model"))
    task = None if "task" in options else options.get("_name")
    arch = model.get("_name")
    ours = getattr(ARCH_MODEL_REGISTRY.get(arch), "takes_source_factors", False)
    if not ours or task != TASK or task not in TASK_REGISTRY:
        raise ValueError(
            f"{path} holds model {arch!r} of task {task!r}, not a syntax_transformer of {TASK!r}"
        )
    return cfg["task"]["data"]


def _plain(options: Any) -> dict[str, Any]:
    """Return the options of a part of a checkpoint; models that are none of ours may hold more."""
    return options if isinstance(options, dict) else {}


def _read(path: Path) -> dict[str, Any]:
    """Load a checkpoint of whichever file format without running anything in it."""
    try:
        # only the newer format can be mapped
        mapped = zipfile.is_zipfile(path)
        state = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except (pickle.UnpicklingError, RuntimeError, EOFError):
        raise ValueError(
            f"{path} is refused: it is damaged, or holds more than weights and plain values; "
            "nothing in it was executed"
        ) from None
    return state if isinstance(state, dict) else {}

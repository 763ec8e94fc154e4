"""Translate raw text in Python: ``SyntaxTransformerModel.from_pretrained(dir).translate(..)``."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from fairseq.dataclass.configs import DatasetConfig, FairseqConfig, GenerationConfig
from fairseq.hub_utils import GeneratorHubInterface
from fairseq.tasks import TASK_DATACLASS_REGISTRY
from omegaconf import OmegaConf

from ..door.records import close
from ..errors import InputError
from ._config import SyntaxTransformerConfig
from .checkpoints import build, folder_of, read_checkpoint, set_up, task_options

TASK = "syntax_translation"
MAX_TOKENS = 12000  # of a batch, as in fairseq-generate
PARTS: dict[str, Any] = {
    "task": TASK_DATACLASS_REGISTRY.get(TASK),
    "model": SyntaxTransformerConfig,
    "dataset": DatasetConfig,
    "generation": GenerationConfig,
}


class SyntaxGenerator(GeneratorHubInterface):
    """fairseq's hub interface for raw text, which the task annotates and segments."""

    def __init__(self, cfg: Any, task: Any, models: Sequence[Any]) -> None:
        super().__init__(cfg, task, models)
        self.tokenizer = task.build_tokenizer(None)
        self.bpe = task.build_bpe(None)

    def sample(
        self,
        sentences: str | list[str],
        beam: int = 1,
        verbose: bool = False,
        *,
        first: int = 1,
        prefix: str | Sequence[str] = "",
        **kwargs: Any,
    ) -> Any:
        """Translate raw text, one sentence or several.

        Args:
            sentences: one string, or a list of them.
            prefix: beginning of all translations, or a list with that of each; it ends with a word.
            first: number of the first sentence, for messages (and ``--ablation-mode shuffle``).
            kwargs: further generation options, e.g. ``lenpen``.

        Returns:
            Plain target text: one string for a string, a list for a list.
        """
        if isinstance(sentences, str):
            return self.sample([sentences], beam, verbose, first=first, prefix=prefix, **kwargs)[0]
        if not sentences:
            return []
        self.task.restart_numbering(first - 1)
        tokens, _ = self.task.read_lines(list(sentences), prefix)
        hypotheses: Any = self.generate(tokens, beam, verbose, **kwargs)
        return [self.decode(nbest[0]["tokens"]) for nbest in hypotheses]

    def encode(self, sentence: str) -> torch.LongTensor:
        """Refuse: token ids alone would lose the features."""
        raise InputError(
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
        model_folder: folder of the checkpoints.
        checkpoint_file: file name; several, joined by ``:``, make an ensemble.
        data_folder: the prepared folder (default: see `checkpoints.folder_of`).
        spacy_model: pipeline for raw text, installed or a path (default: the data folder's, if
            bundled or installed); a checkpoint names none.
        overrides: options of task or model that replace those of the checkpoint, e.g.
            ``ablate_features="pos"``; options of fairseq's batches and generation.
    """
    checkpoints = []
    for name in checkpoint_file.split(os.pathsep):
        found = read_checkpoint(Path(model_folder) / name)
        task, arch = found.task["_name"], found.model["_name"]
        if not found.ours or task != TASK:
            raise InputError(
                f"{found.path} holds model {arch!r} of task {task!r}, not a syntax_transformer of "
                f"{TASK!r}"
            )
        checkpoints.append(found)
    given = _sorted_overrides(overrides)
    data = folder_of(checkpoints[0], data_folder)
    changes = {"eval_bleu": False, **given["task"], "data": data}  # --eval-bleu is for training
    changes["spacy_model"] = spacy_model
    task = set_up(task_options(checkpoints[0], **changes))
    models = [build(checkpoint, task, given["model"]) for checkpoint in checkpoints]
    cfg = OmegaConf.structured(FairseqConfig())  # without the checkpoint's other options
    cfg.dataset.update({"max_tokens": MAX_TOKENS, **given["dataset"]})
    cfg.generation.update(given["generation"])
    return SyntaxGenerator(cfg, task, models)


def _sorted_overrides(overrides: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the given options by the parts that have them, perhaps several."""
    known = {spec.name for part in PARTS.values() for spec in fields(part)} - {"_name"}
    for name in overrides:
        if name not in known:
            raise InputError(
                f"{name!r} is no option of {TASK} or its model; choices: {', '.join(sorted(known))}"
            )
    return {name: close(overrides, part, "the options given") for name, part in PARTS.items()}

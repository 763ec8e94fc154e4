"""``text_classification`` and ``sequence_labeling``: labels of texts, and of their words.

``text_classification`` learns a class, a score or a set of labels for one sentence or a pair;
``sequence_labeling`` a label for every word of a sentence, predicted at its first subword.
"""

import logging
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import register_task

from ..data import text_folders
from ..data.text_items import ERROR, SPLIT, TRUNCATE
from ..errors import InputError
from ..messages import named
from ..methods.options import write
from ..option_flags import option
from ..targets.label_weights import given_weights, label_weights
from . import _start
from ._text_task import TextTask, TextTaskConfig

logger = logging.getLogger(__name__)


@dataclass
class LabelTaskConfig(TextTaskConfig):
    """Options of both."""

    positive_label: Optional[str] = option(
        "class or error label for which F1 is computed (default: that of the data folder)", None
    )


class LabelTask(TextTask):
    """The common part of both."""

    chains = False  # whether the labels of a sentence depend on each other (--crf)

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        model = super().build_model(cfg, from_checkpoint)
        self.chains = getattr(model, "chain", None) is not None
        return model

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """Build the criterion; in training, weights of labels become numbers in its options."""
        given = (getattr(cfg, name, None) for name in ("class_weights", "label_smoothing"))
        if self.chains and any(given):
            raise InputError(
                "--class-weights and --label-smoothing are for labels that do not depend on each "
                "other: not with --crf"
            )
        if not self.of_checkpoint and (text := getattr(cfg, "class_weights", None)):
            write(cfg, class_weights=self._label_weights(str(text)))
        return super().build_criterion(cfg, from_checkpoint)

    def _label_weights(self, text: str) -> str:
        labels = self.manifest.labels
        if not self.target.weighs:
            return text  # the criterion refuses it
        try:
            found = label_weights(text, labels, self._training_gold)
        except FileNotFoundError:
            recorded = _start.resumed_state(self.cfg, "cfg", "criterion").get("class_weights")
            if not isinstance(recorded, str):
                raise
            found = given_weights(recorded, labels)
        shown = named(f"{label} {weight:g}" for label, weight in zip(labels, found))
        logger.info("weights in the loss: %s", shown)
        return ",".join(map(repr, found))

    def _training_gold(self) -> np.ndarray:
        split = str(self.cfg.train_subset)
        gold: Any = text_folders.read_gold(self.folder, self.manifest, split, required=True)
        return getattr(gold.values, "values", gold.values)  # of rows: all one after another


@dataclass
class TextClassificationConfig(LabelTaskConfig):
    """Options of ``text_classification``."""

    long_examples: ChoiceEnum([ERROR, TRUNCATE]) = option(
        "what to do with examples longer than --max-positions: stop with an error (error), or "
        "truncate them, the longer sentence of a pair first (truncate)",
        ERROR,
    )
    label_thresholds: Optional[str] = option(
        "sets of labels: probability from which on a label is predicted (default: 0.5); one "
        "number, or one for each label in the order of labels.txt, with commas between",
        None,
    )


@register_task("text_classification", dataclass=TextClassificationConfig)
class TextClassificationTask(LabelTask):
    """Learn classes, scores or sets of labels of sentences or pairs."""

    NAME = "text_classification"
    cfg: TextClassificationConfig

    @property
    def scoring(self) -> dict[str, Any]:
        """The positive label, and the thresholds of labels."""
        return {**super().scoring, "thresholds": self.inputs.thresholds}

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """Build a model (`TextTask.build_model`) that may begin at the mean training score."""
        model = super().build_model(cfg, from_checkpoint)
        split = str(self.cfg.train_subset)
        begins = hasattr(model, "begin_at") and not self.target.labelled
        if begins and not from_checkpoint and split in self.manifest.splits:
            gold: Any = text_folders.read_gold(self.folder, self.manifest, split, required=True)
            model.begin_at(float(gold.values.mean()))
        return model


@dataclass
class SequenceLabelingConfig(LabelTaskConfig):
    """Options of ``sequence_labeling``."""

    long_examples: ChoiceEnum([SPLIT, ERROR]) = option(
        "what to do with sentences longer than --max-positions: split them into overlapping "
        "windows and label each word in the window that shows most of its context (split), or "
        "stop with an error (error)",
        SPLIT,
    )


@register_task("sequence_labeling", dataclass=SequenceLabelingConfig)
class SequenceLabelingTask(LabelTask):
    """Learn labels of words."""

    NAME = "sequence_labeling"
    cfg: SequenceLabelingConfig

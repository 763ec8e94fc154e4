"""``text_classification`` and ``sequence_labeling``: labels of texts, and of their words.

``text_classification`` learns a class, a score or a set of labels for one sentence or a pair;
``sequence_labeling`` a label for every word of a sentence, predicted at its first subword.
"""

from dataclasses import dataclass
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import register_task

from ..data import text_folders
from ..data.text_items import ERROR, SPLIT, TRUNCATE
from ..option_flags import option
from ._text_task import TextTask, TextTaskConfig


@dataclass
class LabelTaskConfig(TextTaskConfig):
    """Options of both."""

    positive_label: Optional[str] = option(
        "class or error label for which F1 is computed (default: that of the data folder)", None
    )


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
class TextClassificationTask(TextTask):
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
class SequenceLabelingTask(TextTask):
    """Learn labels of words."""

    NAME = "sequence_labeling"
    cfg: SequenceLabelingConfig

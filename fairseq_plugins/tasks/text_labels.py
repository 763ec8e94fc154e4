"""``text_classification`` and ``sequence_labeling``: labels of texts, and of their words.

The one learns a class or a score for one sentence or for a pair of sentences, the other a label for
every word of a sentence, read off its first subword.
"""

from dataclasses import dataclass
from typing import Optional

from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import register_task

from ..data.text_items import ERROR, SPLIT, TRUNCATE
from ..option_flags import option
from ._text_task import TextTask, TextTaskConfig


@dataclass
class LabelTaskConfig(TextTaskConfig):
    """Options of both."""

    positive_label: Optional[str] = option(
        "class or error label that F1 is about (default: the data folder's)", None
    )


@dataclass
class TextClassificationConfig(LabelTaskConfig):
    """Options of ``text_classification``."""

    long_examples: ChoiceEnum([ERROR, TRUNCATE]) = option(
        "what becomes of examples longer than --max-positions: an error, or truncated, "
        "the longer sentence of a pair first",
        ERROR,
    )


@register_task("text_classification", dataclass=TextClassificationConfig)
class TextClassificationTask(TextTask):
    """Learn classes or scores of sentences or pairs."""

    NAME = "text_classification"
    cfg: TextClassificationConfig


@dataclass
class SequenceLabelingConfig(LabelTaskConfig):
    """Options of ``sequence_labeling``."""

    long_examples: ChoiceEnum([SPLIT, ERROR]) = option(
        "what becomes of sentences longer than --max-positions: split into overlapping "
        "windows, each word labelled in the one that shows most around it, or an error",
        SPLIT,
    )


@register_task("sequence_labeling", dataclass=SequenceLabelingConfig)
class SequenceLabelingTask(TextTask):
    """Learn labels of words."""

    NAME = "sequence_labeling"
    cfg: SequenceLabelingConfig

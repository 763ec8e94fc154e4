"""``text_classification``: a class or a score for one sentence, or for a pair of sentences."""

from dataclasses import dataclass

from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import register_task

from ..data.text_items import ERROR, TRUNCATE
from ..option_flags import option
from ._text_task import LabelTaskConfig, TextTask


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

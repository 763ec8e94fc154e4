"""``text_classification``: a class or a score for one sentence, or for a pair of sentences."""

from dataclasses import dataclass, field

from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import register_task

from ..data.text_items import ERROR, TRUNCATE
from ._text_task import LabelTaskConfig, TextTask


@dataclass
class TextClassificationConfig(LabelTaskConfig):
    """Options of ``text_classification``."""

    long_examples: ChoiceEnum([ERROR, TRUNCATE]) = field(
        default=ERROR,
        metadata={
            "help": "what becomes of examples longer than --max-positions: an error, or truncated, "
            "the longer sentence of a pair first"
        },
    )


@register_task("text_classification", dataclass=TextClassificationConfig)
class TextClassificationTask(TextTask):
    """Learn classes or scores of sentences or pairs."""

    NAME = "text_classification"
    cfg: TextClassificationConfig

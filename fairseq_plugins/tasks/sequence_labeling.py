"""``sequence_labeling``: a label for every word of a sentence, read off its first subword."""

from dataclasses import dataclass

from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import register_task

from ..data.text_items import ERROR, SPLIT
from ..option_flags import option
from ._text_task import LabelTaskConfig, TextTask


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

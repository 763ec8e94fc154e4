"""Registered criterions. Translation uses fairseq's own."""

from ..registration import register

register()  # first: it keeps logging as it is while fairseq loads

from .extractive_qa import ExtractiveQACriterion  # noqa: E402
from .sequence_labeling import SequenceLabelingCriterion  # noqa: E402
from .text_classification import TextClassificationCriterion  # noqa: E402

__all__ = ["ExtractiveQACriterion", "SequenceLabelingCriterion", "TextClassificationCriterion"]

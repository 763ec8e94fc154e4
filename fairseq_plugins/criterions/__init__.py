"""Registered criterions. Translation uses fairseq's own."""

from .extractive_qa import ExtractiveQACriterion
from .sequence_labeling import SequenceLabelingCriterion
from .text_classification import TextClassificationCriterion

__all__ = ["ExtractiveQACriterion", "SequenceLabelingCriterion", "TextClassificationCriterion"]

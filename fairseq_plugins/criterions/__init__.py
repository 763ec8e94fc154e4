"""Registered criterions. Translation uses fairseq's own."""

from .sequence_labeling import SequenceLabelingCriterion
from .text_classification import TextClassificationCriterion

__all__ = ["SequenceLabelingCriterion", "TextClassificationCriterion"]

"""Registered tasks: read options and folders, build datasets, adapt inference."""

from .extractive_qa import ExtractiveQATask
from .sequence_labeling import SequenceLabelingTask
from .syntax_translation import SyntaxTranslationTask
from .text_classification import TextClassificationTask

__all__ = [
    "ExtractiveQATask",
    "SequenceLabelingTask",
    "SyntaxTranslationTask",
    "TextClassificationTask",
]

"""Registered tasks: read options and folders, build datasets, adapt inference."""

from ..chosen_names import check_command_line
from ..registration import register

register()  # first: logging stays as it is while fairseq loads

from .extractive_qa import ExtractiveQATask  # noqa: E402
from .mrc_ner import MrcNerTask  # noqa: E402
from .syntax_translation import SyntaxTranslationTask  # noqa: E402
from .text_labels import SequenceLabelingTask, TextClassificationTask  # noqa: E402

__all__ = [
    "ExtractiveQATask",
    "MrcNerTask",
    "SequenceLabelingTask",
    "SyntaxTranslationTask",
    "TextClassificationTask",
]

check_command_line()  # last: fairseq loads this room first, which loads all others

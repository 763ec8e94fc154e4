"""Registered criterions. Translation uses fairseq's own."""

from ..registration import register

register()  # first: it keeps logging as it is while fairseq loads

from ._text_criterion import (  # noqa: E402
    ExtractiveQACriterion,
    SequenceLabelingCriterion,
    TextClassificationCriterion,
)

__all__ = ["ExtractiveQACriterion", "SequenceLabelingCriterion", "TextClassificationCriterion"]

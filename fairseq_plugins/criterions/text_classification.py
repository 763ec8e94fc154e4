"""``text_classification``: cross-entropy of classes, or squared error of scores."""

from __future__ import annotations

from fairseq.criterions import register_criterion
from fairseq.dataclass import FairseqDataclass

from ._text_criterion import TextCriterion


@register_criterion("text_classification", dataclass=FairseqDataclass)
class TextClassificationCriterion(TextCriterion):
    """Loss and metrics of classes or scores."""

    NAME = "text_classification"

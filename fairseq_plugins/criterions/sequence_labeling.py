"""``sequence_labeling``: cross-entropy of word labels, a mean over words."""

from __future__ import annotations

from fairseq.criterions import register_criterion
from fairseq.dataclass import FairseqDataclass

from ._text_criterion import TextCriterion


@register_criterion("sequence_labeling", dataclass=FairseqDataclass)
class SequenceLabelingCriterion(TextCriterion):
    """Loss and metrics of word labels."""

    NAME = "sequence_labeling"

"""Registered criterions; translation without target factors has fairseq's own."""

from ..registration import register

register()  # first: logging stays as it is while fairseq loads

from ._entity_criterion import MrcNerCriterion  # noqa: E402
from ._factored_cross_entropy import FactoredCrossEntropy  # noqa: E402
from ._text_criterion import (  # noqa: E402
    ExtractiveQACriterion,
    SequenceLabelingCriterion,
    TextClassificationCriterion,
)

__all__ = [
    "ExtractiveQACriterion",
    "FactoredCrossEntropy",
    "MrcNerCriterion",
    "SequenceLabelingCriterion",
    "TextClassificationCriterion",
]

"""``extractive_qa``: cross-entropy of the answer's first and last position, a mean over rows.

loss of a row = (-log p_start(first position) - log p_end(last position)) / 2
              + weight x binary cross-entropy of "this row shows the answer"

p is a softmax over all positions of the row; [CLS], position 0, is both where the row does not show
the answer. Rows of a question whose answer none of them shows do not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fairseq.criterions import register_criterion
from fairseq.dataclass import FairseqDataclass
from torch import Tensor
from torch.nn import functional

from ._tallies import Spans
from ._text_criterion import TextCriterion

IGNORED = -100
NO_THRESHOLDS = "threshold"


@register_criterion("extractive_qa", dataclass=FairseqDataclass)
class ExtractiveQACriterion(TextCriterion):
    """Loss and metrics of answers.

    Attributes:
        metrics: names of the metrics that checkpoints can be chosen by; the best threshold, which
            validation logs as well, is none.
    """

    NAME = "extractive_qa"
    SHARE = "exact_span"

    def __init__(self, task: Any) -> None:
        super().__init__(task)
        self.metrics = tuple(name for name in self.metrics if not name.endswith(NO_THRESHOLDS))

    def _tally(self, task: Any) -> Spans:
        return Spans(task.cfg.null_threshold, task.cfg.max_answer_length)

    def _size(self, target: Tensor) -> int:
        return int((target[:, 0] != IGNORED).sum())

    def _loss(self, logits: Tensor, target: Tensor) -> Tensor:
        return functional.cross_entropy(logits, target, ignore_index=IGNORED, reduction="sum") / 2

    def _own_losses(self, model: Any, extra: Mapping[str, Any], target: Tensor) -> dict[str, Any]:
        if "answerability" not in extra:
            return {}
        counted = target[:, 0] != IGNORED  # (B,)
        shown = (target[:, 0] > 0)[counted].float()
        loss = functional.binary_cross_entropy_with_logits(
            extra["answerability"].float()[counted], shown, reduction="sum"
        )
        return {"answerability": model.answerability_weight * loss}

    def _right(self, logits: Tensor, target: Tensor) -> Tensor:
        return (logits.argmax(1) == target).all(1).sum()  # none of those that do not count

"""The criterion of entities that are found by questions (BERT-MRC, section 3.5).

loss = sum over words of questions (alpha L_start + beta L_end) + (number of them) x gamma L_span

L_start and L_end are cross-entropies of "an entity begins (ends) here", L_span is the mean of the
binary cross-entropy of "this is an entity" over the candidates of a batch: the pairs of a start and
an end that are both predicted, or both gold, as in the authors' program (its ``pred_and_gold``).
Divided by the number of words, which is the sample size, that is the paper's loss.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.criterions import register_criterion
from fairseq.dataclass import FairseqDataclass
from torch import Tensor, nn
from torch.nn import functional

from ..nn.entity_spans import predicted_marks
from ..option_flags import option
from . import _tallies
from ._text_criterion import TextCriterion


@dataclass
class MrcNerCriterionConfig(FairseqDataclass):
    """Weights of the losses; the authors' program begins with equal ones."""

    start_loss_weight: float = option(
        "alpha: weight of the loss for where entities begin", 1.0, least=0
    )
    end_loss_weight: float = option("beta: weight of the loss for where entities end", 1.0, least=0)
    span_loss_weight: float = option(
        "gamma: weight of the loss for whether a first and a last word form an entity", 1.0, least=0
    )


@register_criterion("mrc_ner", dataclass=MrcNerCriterionConfig)
class MrcNerCriterion(TextCriterion):
    """Loss and metrics of entities found by questions."""

    NAME = "mrc_ner"
    SHARE = "marks"

    def __init__(
        self,
        task: Any,
        start_loss_weight: float = 1.0,
        end_loss_weight: float = 1.0,
        span_loss_weight: float = 1.0,
    ) -> None:
        super().__init__(task)
        self.side_weights = (start_loss_weight, end_loss_weight)
        self.span_weight = span_loss_weight

    def _tally(self, task: Any) -> _tallies.Entities:
        return _tallies.Entities(task.manifest.labels, task.inputs.overlap)

    def _loss(self, logits: Tensor, target: Tensor) -> Tensor:
        sides = (logits.flatten(0, 1), target.flatten())
        losses = functional.cross_entropy(*sides, reduction="none").view_as(target)  # (W, 2)
        start, end = losses.sum(0)
        return start * self.side_weights[0] + end * self.side_weights[1]

    def _own_losses(
        self, model: nn.Module, extra: Mapping[str, Any], sample: Mapping[str, Any]
    ) -> dict[str, Any]:
        words, match = len(sample["target"]), extra["match"].float()
        pairs, spans = (
            first * words + last
            for first, last in ((extra["first"], extra["last"]), sample["spans"].unbind(1))
        )
        spans = functional.pad(spans.sort().values, (0, 1), value=words**2)  # beyond all pairs
        gold = (spans[torch.searchsorted(spans, pairs)] == pairs).to(match)  # (P,)
        weight, count = None, max(1, len(match))
        if "kept" in extra:
            weight, count = extra["kept"].to(match), extra["kept"].sum().clamp(min=1)
        loss = functional.binary_cross_entropy_with_logits(match, gold, weight, reduction="sum")
        return {"span": self.span_weight * words * loss / count}

    def _right(self, logits: Tensor, target: Tensor) -> Tensor:
        return (predicted_marks(logits) == target.bool()).all(1).sum()

    def _count(
        self, logits: Tensor, extra: Mapping[str, Any], sample: Mapping[str, Any]
    ) -> dict[str, Any]:
        return self.tally.count(logits, {**sample, "pairs": extra})

"""Label-smoothed cross entropy of words, plus cross entropy of their factors.

loss = fairseq's loss of the words + weight x sum of -log p(factor) over words and factors

Factors are few, and are not smoothed. A model without target factors has fairseq's loss alone.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from fairseq.criterions import register_criterion
from fairseq.criterions.label_smoothed_cross_entropy import (
    LabelSmoothedCrossEntropyCriterion,
    LabelSmoothedCrossEntropyCriterionConfig,
)
from fairseq.logging import metrics
from torch import Tensor

from ..errors import InputError
from ..nn.target_factors import FIRST_LABEL, factor_losses
from ..option_flags import option
from . import _tallies

NAME = "label_smoothed_cross_entropy_with_factors"
RIGHT, WORDS = "_right_", "_words_"  # prefixes of a factor's counts


@dataclass
class FactoredCrossEntropyConfig(LabelSmoothedCrossEntropyCriterionConfig):
    """fairseq's options, and the weight of factors."""

    target_factor_weight: float = option(
        "weight of the loss of target factors, which is added to the loss of the words",
        1.0,
        least=0.0,
    )


@register_criterion(NAME, dataclass=FactoredCrossEntropyConfig)
class FactoredCrossEntropy(LabelSmoothedCrossEntropyCriterion):
    """Trains words and the factors of target words together.

    Attributes:
        takes_target_factors: makes the task load factors.
    """

    takes_target_factors = True

    def __init__(
        self,
        task: Any,
        sentence_avg: bool,
        label_smoothing: float,
        ignore_prefix_size: int = 0,
        report_accuracy: bool = False,
        target_factor_weight: float = 1.0,
    ) -> None:
        super().__init__(task, sentence_avg, label_smoothing, ignore_prefix_size, report_accuracy)
        if not 0 <= target_factor_weight < math.inf:
            raise InputError(f"--target-factor-weight {target_factor_weight} must be at least 0")
        self.weight = target_factor_weight
        self._found: dict[str, Tensor] = {}  # logged values of the factors of a batch

    def forward(
        self, model: Any, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, Any, dict[str, Any]]:
        """Return the loss of a batch, its sample size and the logged values, as in fairseq."""
        loss, size, log = super().forward(model, sample, reduce)
        return loss, size, log | self._found

    def compute_loss(
        self, model: Any, net_output: Any, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, Tensor]:
        """Return the loss of words and factors, and fairseq's ``nll_loss`` of the words."""
        loss, words_loss = super().compute_loss(model, net_output, sample, reduce)
        scores, self._found = net_output[1].get("factors"), {}
        if scores is None:
            return loss, words_loss
        factors = model.get_target_factors(sample)  # (B, T, K)
        if self.ignore_prefix_size:  # a factor stands behind its word
            first = self.ignore_prefix_size + 1
            scores, factors = [score[:, first:] for score in scores], factors[:, first:]
        found = factor_losses(scores, factors)
        total = torch.stack([loss for loss, _ in found]).sum()
        self._found["factor_loss"] = total.data
        for k, name in enumerate(model.needs.targets):
            words = (factors[..., k] >= FIRST_LABEL).sum()
            self._found |= {f"{RIGHT}{name}": found[k][1].data, f"{WORDS}{name}": words.data}
        return loss + self.weight * total, words_loss

    @classmethod
    def reduce_metrics(cls, logging_outputs: Sequence[Mapping[str, Any]]) -> None:
        """Log fairseq's figures, ``factor_loss`` in bits per factor, and accuracies in percent."""
        super().reduce_metrics(logging_outputs)
        sums = _tallies.sums(logging_outputs, (RIGHT, WORDS, "factor_loss"))
        names = [key.removeprefix(WORDS) for key in sums if key.startswith(WORDS)]
        total = sum(sums[f"{WORDS}{name}"] for name in names)
        if total:
            bits = sums["factor_loss"] / total / math.log(2)
            metrics.log_scalar("factor_loss", bits, total, round=3)
        for name in names:
            if words := sums[f"{WORDS}{name}"]:
                share = 100 * sums[f"{RIGHT}{name}"] / words
                metrics.log_scalar(f"{name}_accuracy", share, words, round=3)

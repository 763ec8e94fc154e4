"""The criterions of classes and scores, word labels, and answers.

loss = sum over targets of the task's loss + (number of targets) x (sum of auxiliary losses)

The sample size is the number of targets (examples, words, or rows that may show an answer), so that
fairseq makes a mean of it however updates are split over workers and ``--update-freq``. Losses are
logged in nats, as means, and not in bits as fairseq's own.

Of ``extractive_qa`` a target is a row:

loss of a row = (-log p_start(first position) - log p_end(last position)) / 2
              + weight x binary cross-entropy of "this row shows the answer"

p is a softmax over all positions of the row; [CLS], position 0, is both where the row does not show
the answer. Rows of a question whose answer none of them shows do not count.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from torch import Tensor, nn
from torch.nn import functional

from ..errors import InputError
from ..evaluation.predictions import SCORE, WORD_LABELS
from . import _tallies

IGNORED = -100
NO_THRESHOLDS = "threshold"
BFLOAT16 = "bfloat16"
GATE = "gate_"
FUSION = ("fusion_gate_", "filter_gate_")
SHARES = (GATE, *FUSION)  # logged as means over the tokens


class TextCriterion(FairseqCriterion):
    """Cross-entropy of labels, or squared error of scores, and auxiliary losses of the model.

    Args:
        task: one of our text tasks.

    Attributes:
        NAME: name of the criterion and of its task.
        SHARE: what the share of right predictions is called in training's log.
        metrics: names of the metrics that validation logs.

    Raises:
        InputError: another task.
    """

    NAME: str
    SHARE = "accuracy"

    def __init__(self, task: Any) -> None:
        super().__init__(task)
        if getattr(task, "NAME", None) != self.NAME:
            raise InputError(f"--criterion {self.NAME} needs --task {self.NAME}")
        self.target = task.manifest.target
        self.tally = self._tally(task)
        self.metrics = self.tally.metrics
        self.autocast = str(task.cfg.autocast) == BFLOAT16

    def _tally(self, task: Any) -> Any:
        """Return what counts predictions.

        Its ``count`` makes counts of a batch (numbers, or tensors of one shape for the whole
        split), its ``score`` of their sums the metrics that ``metrics`` names, 0.0 where one is
        undefined.
        """
        if self.target == SCORE:
            return _tallies.Scores()
        kind = _tallies.WordLabels if self.target == WORD_LABELS else _tallies.Classes
        return kind(task.manifest.labels, task.positive)

    def forward(
        self, model: nn.Module, sample: Mapping[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """Compute the loss of a batch.

        Args:
            model: returns logits (n, C), (n, 1), (W, C) or (B, S, 2), and ``losses``: names and
                means of auxiliary losses, already weighted; and maybe ``gates``: layers and the
                shares of their local attentions, (N, C), and ``fusion``: layers and the fusion and
                filter gates of their dual attention, (N, 2).
            sample: batch of `data.text_dataset`.
            reduce: part of fairseq's interface; the loss is always one number.

        Returns:
            Loss, sample size, and what is logged: sums of losses, and right predictions in
            training or the counts of all metrics in validation.

        Raises:
            InputError: the batch has no labels.
        """
        if "target" not in sample:
            raise InputError("this split has no labels: training and metrics need gold labels")
        with self._precision(model, sample):
            logits, extra = model(**sample["net_input"])
        logits, target = logits.float(), sample["target"]
        size = self._size(sample)
        losses = {name: size * value for name, value in extra["losses"].items()}
        losses |= self._own_losses(model, extra, sample)
        loss = sum(losses.values(), self._loss(logits, target))
        output = {f"loss_{name}": value.detach() for name, value in losses.items()}
        output |= {"loss": loss.detach(), "sample_size": size}
        output |= {"ntokens": sample["ntokens"], "nsentences": sample["nsentences"]}
        output |= _gate_sums(extra)
        if not model.training:
            output |= self._count(logits.detach(), extra, sample)
        elif self.target != SCORE:
            output["right"] = self._right(logits.detach(), target)
        return loss, size, output

    def _size(self, sample: Mapping[str, Any]) -> int:
        return len(sample["target"])

    def _loss(self, logits: Tensor, target: Tensor) -> Tensor:
        if self.target == SCORE:
            return functional.mse_loss(logits[:, 0], target.float(), reduction="sum")
        return functional.cross_entropy(logits, target, reduction="sum")

    def _own_losses(
        self, model: Any, extra: Mapping[str, Any], sample: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return names and sums of auxiliary losses that need the targets, already weighted."""
        return {}

    def _count(
        self, logits: Tensor, extra: Mapping[str, Any], sample: Mapping[str, Any]
    ) -> dict[str, Any]:
        return self.tally.count(logits, sample)

    def _right(self, logits: Tensor, target: Tensor) -> Tensor:
        return (logits.argmax(-1) == target).sum()

    def _precision(self, model: nn.Module, sample: Mapping[str, Any]) -> AbstractContextManager:
        """Compute products in bfloat16 where that is wanted, in training alone; elsewhere leave
        them as they are (``--amp`` has an autocast of its own around this one).
        """
        if not (self.autocast and model.training):
            return nullcontext()
        return torch.autocast(sample["target"].device.type, torch.bfloat16)

    @classmethod
    def reduce_metrics(cls, logging_outputs: Sequence[Mapping[str, Any]]) -> None:
        """Log losses in nats, each the mean over targets, and training's share of right ones.

        Beside them the mean share of local attention over the tokens, ``gate_<layer>``, and of
        the gates of dual attention, ``fusion_gate_<layer>`` and ``filter_gate_<layer>``.
        """
        sums = _tallies.sums(logging_outputs, ("sample_size", "ntokens", "loss", "right", *SHARES))
        size = sums.get("sample_size")
        if not size:
            return
        tokens = sums["ntokens"]
        for name, total in sums.items():
            if name.startswith(SHARES):
                metrics.log_scalar(name, total / tokens, tokens, round=3)
            if name.startswith("loss") or name == "right":
                shown = cls.SHARE if name == "right" else name
                metrics.log_scalar(shown, total / size, size, round=None if shown == name else 4)

    def log_metrics(self, logging_outputs: Sequence[Mapping[str, Any]]) -> None:
        """Log the metrics of validation from the counts of batches."""
        _tallies.log(self.tally, logging_outputs)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """True: all that is logged are sums."""
        return True


def _gate_sums(extra: Mapping[str, Any]) -> dict[str, Tensor]:
    """Sum the shares of local attention, and both gates of dual attention, over the tokens."""
    local = extra.get("gates", {}).items()
    sums = {f"{GATE}{layer}": found.float().sum() for layer, found in local}
    for layer, found in extra.get("fusion", {}).items():
        sums |= {f"{name}{layer}": column for name, column in zip(FUSION, found.float().sum(0))}
    return sums


@register_criterion("text_classification", dataclass=FairseqDataclass)
class TextClassificationCriterion(TextCriterion):
    """Loss and metrics of classes (cross-entropy) or scores (squared error), means over them."""

    NAME = "text_classification"


@register_criterion("sequence_labeling", dataclass=FairseqDataclass)
class SequenceLabelingCriterion(TextCriterion):
    """Loss and metrics of word labels: cross-entropy, a mean over words."""

    NAME = "sequence_labeling"


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

    def _tally(self, task: Any) -> _tallies.Spans:
        return _tallies.Spans(task.cfg.null_threshold, task.cfg.max_answer_length)

    def _size(self, sample: Mapping[str, Any]) -> int:
        return len(sample["counted"])

    def _loss(self, logits: Tensor, target: Tensor) -> Tensor:
        return functional.cross_entropy(logits, target, ignore_index=IGNORED, reduction="sum") / 2

    def _own_losses(
        self, model: Any, extra: Mapping[str, Any], sample: Mapping[str, Any]
    ) -> dict[str, Any]:
        if "answerability" not in extra:
            return {}
        counted = sample["counted"]  # (n,)
        shown = (sample["target"][counted, 0] > 0).float()
        loss = functional.binary_cross_entropy_with_logits(
            extra["answerability"].float()[counted], shown, reduction="sum"
        )
        return {"answerability": model.answerability_weight * loss}

    def _right(self, logits: Tensor, target: Tensor) -> Tensor:
        return (logits.argmax(1) == target).all(1).sum()  # none of those that do not count

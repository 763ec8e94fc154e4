"""The criterions of understanding; targets define the losses (`targets`).

loss = sum over targets of the task's loss + (number of targets) x (sum of auxiliary losses)

The sample size is the number of targets (examples, words, or rows that may show an answer),
whatever the weights of their labels, so that fairseq takes a mean over targets however updates are
split over workers and ``--update-freq``.
Losses are logged as means in nats, not in bits as fairseq's own.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import FairseqDataclass
from fairseq.logging import metrics
from torch import Tensor, nn

from ..errors import InputError
from ..methods.table import METHODS
from ..option_flags import option
from ..targets.label_weights import given_weights
from ..targets.target import LABEL_WEIGHTS, SMOOTHING, Target, Weights
from . import _tallies

NO_CHOICE = "threshold"  # ending of metrics that choose no checkpoint
RIGHT = "right_"
BFLOAT16 = "bfloat16"
# output of a model by layers -> names of its columns; logged as means over tokens
LOGGED = {name: columns for method in METHODS for name, columns in method.logged.items()}
SHARES = tuple(name for columns in LOGGED.values() for name in columns)


@dataclass
class LabelLossConfig(FairseqDataclass):
    """Options of the loss of labels; a checkpoint holds the weights as numbers."""

    class_weights: str = field(
        default="",
        metadata={
            "help": "weights of classes, or of labels of words, in the loss: balanced (training "
            "targets over labels and targets with the label), a file with a label and a number a "
            "line, or numbers with commas in the order of labels.txt (default: all 1)",
            "longest": 10_000_000,
        },
    )
    label_smoothing: float = option(
        "share of the target that all classes, or labels of words, divide equally",
        0.0,
        least=0,
        most=1,
    )


class TextCriterion(FairseqCriterion):
    """Cross-entropy of labels, or squared error of scores, and auxiliary losses of the model.

    Attributes:
        NAME: name of the criterion and of its task.
        target: the learnt target.
        metrics: names of the metrics that can choose checkpoints.
    """

    NAME: str
    target: Target

    def __init__(self, task: Any, class_weights: str = "", label_smoothing: float = 0.0) -> None:
        super().__init__(task)
        if getattr(task, "NAME", None) != self.NAME:
            raise InputError(f"--criterion {self.NAME} needs --task {self.NAME}")
        self.target = task.target
        self.tally = self.target.tally(task.manifest.labels, **task.scoring)
        self.metrics = tuple(name for name in self.tally.metrics if not name.endswith(NO_CHOICE))
        self.autocast = str(task.cfg.autocast) == BFLOAT16
        self.weights: Weights = {}
        if class_weights or label_smoothing:
            if not self.target.weighs:
                raise InputError(
                    "--class-weights and --label-smoothing are for classes and labels of words, "
                    f"not for {self.target.said}"
                )
            self.weights = {SMOOTHING: label_smoothing}
        if class_weights:
            each = given_weights(class_weights, task.manifest.labels)
            self.weights = {**self.weights, LABEL_WEIGHTS: torch.tensor(each)}

    def forward(
        self, model: nn.Module, sample: Mapping[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """Compute the loss of a batch.

        Args:
            model: returns logits (n, C), (n, 1), (W, C) or (B, S, 2), and ``losses``: names and
                means of auxiliary losses, already weighted; maybe ``gates``: layers and the shares
                of their local attentions, (N, C), and ``fusion``: layers and the fusion and filter
                gates of their dual attention, (N, 2).
            sample: batch of `data.text_dataset`.
            reduce: part of fairseq's interface; the loss is always one number.

        Returns:
            Loss, sample size, and logged values: sums of losses, and right predictions in training
            or the counts of all metrics in validation.
        """
        if "target" not in sample:
            raise InputError("this split has no labels: training and metrics need gold labels")
        with self._precision(model, sample):
            logits, extra = model(**sample["net_input"])
        logits, target = logits.float(), sample["target"]
        size = self.target.size(sample)
        losses = {name: size * value for name, value in extra["losses"].items()}
        if LABEL_WEIGHTS in self.weights:  # no buffer: fp16 would halve it
            on_device = self.weights[LABEL_WEIGHTS].to(logits.device)
            self.weights = {**self.weights, LABEL_WEIGHTS: on_device}
        weights = self.weights
        if "answerability" in extra:
            model_weights: Any = model.loss_weights
            weights = {"answerability": model_weights["answerability"]}
        first, own = self.target.losses(logits, extra, sample, weights)
        losses |= own
        loss = sum(losses.values(), first)
        output = {f"loss_{name}": value.detach() for name, value in losses.items()}
        output |= {"loss": loss.detach(), "sample_size": size}
        output |= {"ntokens": sample["ntokens"], "nsentences": sample["nsentences"]}
        output |= _gate_sums(extra)
        if not model.training:
            output |= _tallies.counted(self.tally, logits.detach(), extra, sample)
        elif self.target.share and "chain" not in extra:  # searched in validation alone
            output[f"{RIGHT}{self.target.share}"] = self.target.right(logits.detach(), target)
        return loss, size, output

    def _precision(self, model: nn.Module, sample: Mapping[str, Any]) -> AbstractContextManager:
        """Return autocast to bfloat16 for training, if chosen; ``--amp`` has its own autocast."""
        if not (self.autocast and model.training):
            return nullcontext()
        return torch.autocast(sample["target"].device.type, torch.bfloat16)

    @classmethod
    def reduce_metrics(cls, logging_outputs: Sequence[Mapping[str, Any]]) -> None:
        """Log mean losses per target in nats, the share of right predictions, and gates.

        ``gate_<layer>`` is the mean share of local attention over tokens, ``fusion_gate_<layer>``
        and ``filter_gate_<layer>`` are the mean gates of dual attention.
        """
        sums = _tallies.sums(logging_outputs, ("sample_size", "ntokens", "loss", RIGHT, *SHARES))
        size = sums.get("sample_size")
        if not size:
            return
        tokens = sums["ntokens"]
        for name, total in sums.items():
            if name.startswith(SHARES):
                metrics.log_scalar(name, total / tokens, tokens, round=3)
            if name.startswith(("loss", RIGHT)):
                shown = name.removeprefix(RIGHT)
                metrics.log_scalar(shown, total / size, size, round=None if shown == name else 4)

    def log_metrics(self, logging_outputs: Sequence[Mapping[str, Any]]) -> None:
        """Log the metrics of validation."""
        _tallies.log(self.tally, logging_outputs)

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """True: all logged values are sums."""
        return True


def _gate_sums(extra: Mapping[str, Any]) -> dict[str, Tensor]:
    """Sum the logged values of methods, such as shares of local attention, over tokens."""
    sums: dict[str, Tensor] = {}
    for name, columns in LOGGED.items():
        for layer, found in extra.get(name, {}).items():
            each = found.float().sum(0) if len(columns) > 1 else found.float().sum()[None]
            sums |= {f"{column}{layer}": total for column, total in zip(columns, each)}
    return sums


@register_criterion("text_classification", dataclass=LabelLossConfig)
class TextClassificationCriterion(TextCriterion):
    """Loss and metrics of classes (cross-entropy) or scores (squared error)."""

    NAME = "text_classification"


@register_criterion("sequence_labeling", dataclass=LabelLossConfig)
class SequenceLabelingCriterion(TextCriterion):
    """Loss and metrics of word labels: mean cross-entropy over words."""

    NAME = "sequence_labeling"


@register_criterion("extractive_qa", dataclass=FairseqDataclass)
class ExtractiveQACriterion(TextCriterion):
    """Loss and metrics of answers, see `targets.spans`."""

    NAME = "extractive_qa"

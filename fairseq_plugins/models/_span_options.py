"""Options of extractive question answering: coattention and the span head, with their checks.

Chadha and Sood 2019, "BERTQA - Attention on Steroids".
"""

import math
from argparse import Namespace
from dataclasses import dataclass, field
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from ..nn.bert import BertShape
from ..nn.checks import check_choice
from ..nn.coattention import LOCAL, SKIPS, WIRINGS, DirectedCoattention
from ..nn.span_heads import (
    JOINED_LAYERS,
    LSTMS,
    Answerability,
    JointSpanHead,
    LayerInputs,
    SeparateSpanHead,
    SpanReader,
)
from ._options import preset

SPANS = "spans"  # the target of question answering
HEADS = ("joint", "separate")
INPUTS = ("last", "layers")
MERGE_ACTIVATIONS = ("none", "gelu")


@dataclass
class SpanOptions(FairseqDataclass):
    """Options that decide what makes answers of an encoder's states."""

    coattention_blocks: Optional[int] = preset(
        "BERTQA: directed coattention blocks between the encoder and the span head; 0 for none"
    )
    coattention: Optional[ChoiceEnum(list(WIRINGS))] = preset(
        "BERTQA: the context attends to the question and is added to itself, and the other way "
        "round (query); or as published, in which what attends is lost and the question never "
        "reaches the context's rows (literal)"
    )
    coattention_skip: Optional[ChoiceEnum(list(SKIPS))] = preset(
        "BERTQA: how BERT's states join the merged streams: not at all, added (simple), added "
        "after one more layer (transformer), or by a learnt gate (highway)"
    )
    local_convolutions: ChoiceEnum(list(LOCAL)) = field(
        default="none",
        metadata={
            "help": "BERTQA: convolutions on BERT's states, added to coattention: the same for all "
            "blocks, or of each block its own"
        },
    )
    merge_activation: ChoiceEnum(list(MERGE_ACTIVATIONS)) = field(
        default="none",
        metadata={"help": "BERTQA: between the two convolutions that merge the streams"},
    )
    span_head: Optional[ChoiceEnum(list(HEADS))] = preset(
        "question answering: one map to both logits (joint), or an encoder layer for each first "
        "(separate)"
    )
    span_lstm: ChoiceEnum(list(LSTMS)) = field(
        default="forward",
        metadata={
            "help": "BERTQA: LSTM over the states of end and start before the end's logit, with "
            "--span-head separate"
        },
    )
    span_inputs: ChoiceEnum(list(INPUTS)) = field(
        default="last",
        metadata={
            "help": "BERTQA: what the span head reads: the last states, or with them those of the "
            f"encoder's last {JOINED_LAYERS} layers"
        },
    )
    answerability_loss_weight: float = field(
        default=0.0,
        metadata={
            "help": "BERTQA: weight of the loss of judging by [CLS] whether there is an answer; 0 "
            "for none"
        },
    )


@dataclass(frozen=True)
class SpanPlan:
    """What makes answers of an encoder's states.

    Args:
        coattention: keywords of `nn.coattention.DirectedCoattention`; empty for none.
        head: of `HEADS`.
        lstm: of `nn.span_heads.LSTMS`.
        inputs: of `INPUTS`.
        answerability_weight: of the loss; 0 for none.
    """

    coattention: dict[str, Any]
    head: str
    lstm: str
    inputs: str
    answerability_weight: float

    def reader(self, shape: BertShape) -> SpanReader:
        """Make the parts."""
        joined = min(JOINED_LAYERS, shape.layers)
        return SpanReader(
            JointSpanHead(shape) if self.head == "joint" else SeparateSpanHead(shape, self.lstm),
            DirectedCoattention(shape, **self.coattention) if self.coattention else None,
            LayerInputs(shape.hidden, joined) if self.inputs == "layers" else None,
            Answerability(shape.hidden) if self.answerability_weight else None,
        )


def read_spans(args: Namespace) -> SpanPlan:
    """Read the plan off resolved options.

    Raises:
        ValueError: a value that does not fit; names its option and the choices.
    """
    for name, choices in (
        ("coattention", WIRINGS),
        ("coattention_skip", SKIPS),
        ("local_convolutions", LOCAL),
        ("merge_activation", MERGE_ACTIVATIONS),
        ("span_head", HEADS),
        ("span_lstm", LSTMS),
        ("span_inputs", INPUTS),
    ):
        check_choice(f"--{name.replace('_', '-')}", str(getattr(args, name)), choices)
    for name in ("coattention_blocks", "answerability_loss_weight"):
        if not 0 <= getattr(args, name) < math.inf:
            raise ValueError(
                f"--{name.replace('_', '-')} {getattr(args, name)}: must be at least 0, and finite"
            )
    blocks = int(args.coattention_blocks)
    _check_used(args)
    coattention = {
        "blocks": blocks,
        "wiring": str(args.coattention),
        "skip": str(args.coattention_skip),
        "local": str(args.local_convolutions),
        "merge_activation": str(args.merge_activation),
    }
    return SpanPlan(
        coattention=coattention if blocks else {},
        head=str(args.span_head),
        lstm=str(args.span_lstm),
        inputs=str(args.span_inputs),
        answerability_weight=float(args.answerability_loss_weight),
    )


def _check_used(args: Namespace) -> None:
    """Refuse options of parts that the model does not have.

    Raises:
        ValueError: says which part is missing.
    """
    for name in ("local_convolutions", "merge_activation"):
        if str(getattr(args, name)) != "none" and not args.coattention_blocks:
            raise ValueError(
                f"--{name.replace('_', '-')} {getattr(args, name)}: there is no coattention "
                "(--coattention-blocks 0)"
            )
    if str(args.span_lstm) == "bidirectional" and str(args.span_head) == "joint":
        raise ValueError(
            "--span-lstm bidirectional: --span-head joint has no LSTM; choose --span-head separate"
        )


def check_target(plan: SpanPlan, target: str, classifier_dropout: Optional[float]) -> None:
    """Refuse parts of question answering for a data folder without questions, and the other way
    round dropout before a classifier, which questions do not have.

    Raises:
        ValueError: says what to choose.
    """
    if target == SPANS:
        if classifier_dropout is not None:
            raise ValueError(
                f"--classifier-dropout {classifier_dropout}: what finds answers has no dropout "
                "before its output layer; leave it out"
            )
        return
    asked = {
        "--coattention-blocks": bool(plan.coattention),
        "--span-head separate": plan.head == "separate",
        "--span-inputs layers": plan.inputs == "layers",
        "--answerability-loss-weight": bool(plan.answerability_weight),
    }
    found = [option for option, given in asked.items() if given]
    if found:
        raise ValueError(
            f"{', '.join(found)}: this model answers questions, but the data folder is for "
            f"{target}: take another architecture, or a folder of `prepare questions`"
        )

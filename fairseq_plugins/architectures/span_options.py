"""Options of extractive question answering: coattention and the span head, with their checks.

Chadha and Sood 2019, "BERTQA - Attention on Steroids".
"""

from dataclasses import dataclass
from typing import Any, Optional

import torch

from ..errors import InputError
from ..nn.bert import BertShape
from ..nn.coattention import LOCAL, SKIPS, WIRINGS, DirectedCoattention
from ..nn.plain_layers import PlainLayers
from ..nn.span_heads import (
    JOINED_LAYERS,
    LSTMS,
    Answerability,
    JointSpanHead,
    LayerInputs,
    SeparateSpanHead,
    SpanReader,
)
from ..nn.starts import own_start
from ..option_flags import choice, option
from ..syntax.controls import GIVEN
from ..targets.target import OF_SPANS, Target
from .control_options import QuestionControls
from .model_parts import size
from .options import preset

HEADS = ("joint", "separate")
NONE, PLAIN_LAYERS = CONTROLS = ("none", "plain-layers")
INPUTS = ("last", "layers")
MERGE_ACTIVATIONS = ("none", "gelu")


@dataclass
class SpanOptions(QuestionControls):
    """Options that decide what makes answers of an encoder's states."""

    coattention_blocks: Optional[int] = preset(
        "BERTQA: number of directed coattention blocks between the encoder and the span head; 0 "
        "for none",
        least=0,
    )
    coattention: Optional[choice(list(WIRINGS))] = preset(
        "BERTQA: context and question attend to each other, each with its own states as the "
        "residual (query); or as published: the rows that attend are lost, and the question "
        "never reaches the context's rows (literal)"
    )
    coattention_skip: Optional[choice(list(SKIPS))] = preset(
        "BERTQA: how BERT's states join the merged streams of coattention: not at all (none), "
        "added (simple), added after one more layer (transformer), or mixed in by a learnt gate "
        "(highway)"
    )
    coattention_control: choice(CONTROLS) = option(
        "BERTQA, a control: replaces blocks, merge and skip connection by as many plain layers "
        "as blocks, wide enough for nearly as many parameters",
        CONTROLS[0],
    )
    local_convolutions: choice(list(LOCAL)) = option(
        "BERTQA: convolutions on BERT's states, added to coattention: the same for all blocks "
        "(shared), separate ones for each block (per-block), or none",
        "none",
    )
    merge_activation: choice(list(MERGE_ACTIVATIONS)) = option(
        "BERTQA: activation function between the two convolutions that merge the streams of "
        "coattention",
        "none",
    )
    span_head: Optional[choice(list(HEADS))] = preset(
        "question answering: one linear map to the logits of start and end (joint), or first an "
        "encoder layer for each of them (separate)"
    )
    span_lstm: choice(list(LSTMS)) = option(
        "BERTQA: LSTM that reads the states of end and start together before the end's logit, "
        "with --span-head separate",
        "forward",
    )
    span_inputs: choice(list(INPUTS)) = option(
        "BERTQA: what the span head reads: the last states alone (last), or together with those "
        f"of the encoder's last {JOINED_LAYERS} layers (layers)",
        "last",
    )
    answerability_loss_weight: float = option(
        "BERTQA: weight of the loss for predicting from [CLS] whether there is an answer; 0 for "
        "no such loss",
        0.0,
        least=0,
    )


def span_reader(args: SpanOptions, shape: BertShape) -> SpanReader:
    """Make what turns an encoder's states into answers."""
    joint = args.span_head == "joint"
    head = JointSpanHead(shape) if joint else SeparateSpanHead(shape, args.span_lstm)
    joined = min(JOINED_LAYERS, shape.layers)
    with own_start("coattention"):
        between = _coattention(args, shape) if args.coattention_blocks else None
    with own_start("layers"):
        layers = LayerInputs(shape.hidden, joined) if args.span_inputs == "layers" else None
    with own_start("answerability"):
        judge = Answerability(shape.hidden) if args.answerability_loss_weight else None
    return SpanReader(head, between, layers, judge)


def _coattention(args: SpanOptions, shape: BertShape) -> DirectedCoattention | PlainLayers:
    how = {
        "wiring": args.coattention,
        "skip": args.coattention_skip,
        "local": args.local_convolutions,
        "merge_activation": args.merge_activation,
    }
    if args.coattention_control == NONE:
        return DirectedCoattention(shape, args.coattention_blocks, **how)
    with torch.device("meta"):  # it is counted alone
        replaced = DirectedCoattention(shape, args.coattention_blocks, **how)
    return PlainLayers(shape, args.coattention_blocks, size(replaced))


def check_spans(args: Any, target: Target) -> None:
    """Refuse options of parts that the model does not have, or whose data are of another kind.

    Args:
        args: options of a model.
        target: what the data folder is for.

    Raises:
        InputError: says which part is missing, or what to choose.
    """
    if args.span_lstm == "bidirectional" and args.span_head == "joint":
        raise InputError(
            "--span-lstm bidirectional: --span-head joint has no LSTM; choose --span-head separate"
        )
    if target.head == OF_SPANS:
        if args.classifier_dropout is not None:
            raise InputError(
                f"--classifier-dropout {args.classifier_dropout}: what finds answers has no "
                "dropout before its output layer; leave it out"
            )
        return
    asked = {
        "--coattention-blocks": args.coattention_blocks,
        "--span-head separate": args.span_head == "separate",
        "--span-inputs layers": args.span_inputs == "layers",
        "--answerability-loss-weight": args.answerability_loss_weight,
        f"--question-source {args.question_source}": args.question_source != GIVEN,
    }
    found = [flag for flag, given in asked.items() if given]
    if found:
        raise InputError(
            f"{', '.join(found)}: this model answers questions, but the data folder is for "
            f"{target.said}: take another architecture, or a folder of `prepare questions`"
        )

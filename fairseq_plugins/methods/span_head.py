"""The head that finds answers: logits of their first and last tokens.

Devlin et al. 2019, section 4.2 (joint); Chadha and Sood 2019, "BERTQA" (separate, LSTM, layers,
answerability); see `nn.span_heads`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional

from torch import nn

from ..errors import InputError
from ..nn.bert import BertShape
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
from .coattention import NO_QUESTIONS
from .method import Method, around, flag_and_value
from .options import preset

HEADS = JOINT, SEPARATE = ("joint", "separate")
INPUTS = LAST, LAYERS = ("last", "layers")


@dataclass(frozen=True)
class SpanHead(Method):
    """The head from an encoder's states to answers."""

    off = {"span_head": JOINT}
    answers = OF_SPANS

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
    question_source: str = around(GIVEN)
    classifier_dropout: Optional[float] = around()

    @property
    def loss_weights(self) -> dict[str, float]:
        """Weight of the loss of answerability."""
        return {"answerability": self.answerability_loss_weight}

    def check_target(self, target: Target) -> None:
        """Refuse options of absent parts, and this head for another target."""
        if self.span_lstm == "bidirectional" and self.span_head == JOINT:
            raise InputError(
                "--span-lstm bidirectional: --span-head joint has no LSTM; choose --span-head "
                "separate"
            )
        if target.head == OF_SPANS:
            if self.classifier_dropout is not None:
                raise InputError(
                    f"--classifier-dropout {self.classifier_dropout}: what finds answers has no "
                    "dropout before its output layer; leave it out"
                )
            return
        plain = {
            "span_head": JOINT,
            "span_inputs": LAST,
            "answerability_loss_weight": 0,
            "question_source": GIVEN,
        }
        for name, value in plain.items():
            if getattr(self, name) not in (None, value):
                flag = flag_and_value(self, name)
                raise InputError(f"{flag}: {NO_QUESTIONS.format(target.said)}")

    def head(self, shape: BertShape, between: Callable[[], nn.Module | None]) -> SpanReader:
        """Return the head, after the module that ``between`` makes."""
        joint = self.span_head == JOINT
        head = JointSpanHead(shape) if joint else SeparateSpanHead(shape, self.span_lstm)
        joined = min(JOINED_LAYERS, shape.layers)
        coattention: Any = between()
        with own_start("layers"):
            layers = LayerInputs(shape.hidden, joined) if self.span_inputs == LAYERS else None
        with own_start("answerability"):
            judge = Answerability(shape.hidden) if self.answerability_loss_weight else None
        return SpanReader(head, coattention, layers, judge)

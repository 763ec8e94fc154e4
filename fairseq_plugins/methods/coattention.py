"""BERTQA: directed coattention of question and context, before the head that finds answers.

Chadha and Sood 2019, "BERTQA - Attention on Steroids"; see `nn.coattention`.
"""

from dataclasses import dataclass
from typing import Any, Optional

import torch

from ..errors import InputError
from ..nn.bert import BertShape
from ..nn.coattention import LOCAL, SKIPS, WIRINGS, DirectedCoattention
from ..nn.plain_layers import PlainLayers
from ..nn.starts import own_start
from ..option_flags import choice, option
from ..targets.target import OF_SPANS, Target
from .method import Method, flag_and_value
from .options import NONE, preset

CONTROLS = (NONE, "plain-layers")
MERGE_ACTIVATIONS = (NONE, "gelu")
NO_QUESTIONS = (
    "this model answers questions, but the data folder is for {}: take another architecture, or a "
    "folder of `prepare questions`"
)


@dataclass(frozen=True)
class Coattention(Method):
    """Blocks of coattention between the encoder and the span head."""

    called = "coattention"
    switch = "coattention_blocks"
    parts = {"coattention": "head.coattention."}
    off = {"coattention_blocks": 0, "coattention": "query", "coattention_skip": "simple"}
    architectures = {
        "bertqa": {"coattention_blocks": 7, "span_head": "separate"},
        "bertqa_literal": {
            "coattention_blocks": 7,
            "span_head": "separate",
            "coattention": "literal",
        },
    }

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

    def check_target(self, target: Target) -> None:
        """Refuse other targets than answers."""
        if self.is_there and target.head != OF_SPANS:
            flag = flag_and_value(self, "coattention_blocks")
            raise InputError(f"{flag}: {NO_QUESTIONS.format(target.said)}")

    def between(self, shape: BertShape) -> DirectedCoattention | PlainLayers | None:
        """Return the blocks, or as a control plain layers."""
        if not self.is_there:
            return None
        with own_start("coattention"):
            if self.coattention_control == NONE:
                return self._blocks(shape)
            with torch.device("meta"):  # only to count its parameters
                replaced = self._blocks(shape)
            count = sum(parameter.numel() for parameter in replaced.parameters())
            return PlainLayers(shape, len(replaced.blocks), count)

    def _blocks(self, shape: BertShape) -> DirectedCoattention:
        how: dict[str, Any] = {
            "blocks": self.coattention_blocks,
            "wiring": self.coattention,
            "skip": self.coattention_skip,
            "local": self.local_convolutions,
            "merge_activation": self.merge_activation,
        }
        return DirectedCoattention(shape, **how)

"""Syntax-guided layers on top of BERT: each word sees its ancestors in the tree.

Zhang et al. 2020, "SG-Net", in the form that Li et al. 2020 compare with. N further layers whose
attention is limited to ancestors (`nn.tree_masks.AncestorRule`) read BERT's states H and return H';
the encoder's output is

    gamma (s_0 H + s_1 H'),   s = softmax([0.5, 0.5]) and gamma = 1 at the start, learnt   (scalar)
    0.5 H + 0.5 H'                                                                       (fixed)

One layer adds 7,087,875 parameters to a base encoder and 12,596,227 to a large one.
"""

from typing import Any

import torch
from torch import Tensor, nn

from .attention import SelfAttention
from .bert import BertLayer, BertShape, draw
from .context import AttentionContext
from .local_attention import LocalMixer
from .tree_masks import AncestorRule, Rule

MIXES = ("scalar", "fixed")


class ScalarMix(nn.Module):
    """Two states as one, weighted by three learnt numbers (Peters et al. 2018)."""

    def __init__(self) -> None:
        super().__init__()
        self.wishes = nn.Parameter(torch.full((2,), 0.5))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, below: Tensor, above: Tensor) -> Tensor:
        """Mix two tensors of one shape."""
        first, second = self.wishes.softmax(0).unbind()
        return self.gamma * (first * below + second * above)


class SyntaxLayers(nn.Module):
    """The layers on top, and their mixture with the states below.

    Args:
        shape: sizes.
        layers: number of layers.
        mix: ``scalar`` or ``fixed``.
        rule: allowed keys, in place of ancestors.
        ancestors: keywords of `AncestorRule`.
    """

    def __init__(
        self,
        shape: BertShape,
        layers: int = 1,
        *,
        mix: str = "scalar",
        rule: Rule | None = None,
        **ancestors: Any,
    ) -> None:
        super().__init__()
        rules = (rule or AncestorRule(**ancestors),)
        mixers = [LocalMixer(rules, dropout=shape.attention_dropout) for _ in range(layers)]
        self.layers = nn.ModuleList(
            BertLayer(shape.added, SelfAttention(shape.hidden, shape.heads, mixer))
            for mixer in mixers
        )
        self.mix = ScalarMix() if mix == "scalar" else None
        self.layers.apply(draw)

    def forward(self, rows: Tensor, context: AttentionContext) -> Tensor:
        """Return new states (N, D) from BERT's states (N, D)."""
        above = rows
        for layer in self.layers:
            above = layer(above, context)
        return 0.5 * (rows + above) if self.mix is None else self.mix(rows, above)

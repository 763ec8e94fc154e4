"""Local attention mixed with global attention by a gate of each token.

Li et al. 2020, "Improving BERT with Syntax-aware Local Attention", eq. 4 to 6:

  S_loc = softmax(Q K' / sqrt(K) + M_loc),  S_glb = softmax(Q K' / sqrt(K))
  g_i = sigmoid(w h_i + b),   output_i = (g_i S_loc,i + (1 - g_i) S_glb,i) V

with one gate per token and layer, shared by the heads: D + 1 parameters a layer. A rule of
`nn.tree_masks` defines what is local: the tree (SLA), a window (WLA), or a relation. Each of
several rules has its own local softmax, and the shares of all, the global one included, are a
softmax of 0, z_1, ..., z_C, which for one rule is the gate above. Dropout applies to each softmax
separately, as in the authors' program, or once to the mixture (`nn.mixed_attention`), on every
device.

[CLS] also sees all tokens locally. If only its last state is read, as in classification, the gate
of the last layer therefore weighs two equal mixtures: without dropout, or with dropout on the
mixture, it learns nothing, as in the paper's equations; with separate dropout it gets only noise.

Letters: N packed tokens, n sentences of l tokens in a block, H heads, D width, C rules.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from .attention import Mixer
from .context import AttentionContext
from .masks import AdditiveMask
from .mixed_attention import fused, openly
from .packing import SentenceBlock
from .tree_masks import Rule

GATE_STD = 0.02


class Gate(nn.Module):
    """Each token's shares of local attentions.

    Args:
        hidden: width D.
        rules: number of local attentions C.
        bias: start of b; far below 0 starts near plain attention.
    """

    def __init__(self, hidden: int, rules: int = 1, bias: float = 0.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rules, hidden))
        self.bias = nn.Parameter(torch.full((rules,), float(bias)))
        nn.init.normal_(self.weight, std=GATE_STD)

    def forward(self, states: Tensor) -> Tensor:
        """Return shares: (..., D) to (..., 1 + C), the share of global attention first."""
        wish = functional.linear(states, self.weight, self.bias)  # (..., C)
        if wish.shape[-1] == 1:
            local = wish.sigmoid()
            return torch.cat([1 - local, local], -1)
        return torch.cat([torch.zeros_like(wish[..., :1]), wish], -1).softmax(-1)


class LocalMixer(Mixer):
    """Attention limited by rules, beside global attention if there is a gate.

    Args:
        rules: of local attention; at least one, exactly one without a gate.
        gate: weighs global and local attention; None for local attention alone.
        dropout: on the weights.
        layer: number of the layer, key of the stored shares.
        similar: see `Mixer`.
        separate: whether dropout applies to each softmax, not to the mixture.

    Raises:
        ValueError: several rules and no gate, or none.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        gate: Gate | None = None,
        dropout: float = 0.0,
        layer: int = 0,
        similar: bool = False,
        *,
        separate: bool = True,
    ) -> None:
        super().__init__(dropout, similar)
        if not rules or (gate is None and len(rules) > 1):
            raise ValueError(f"{len(rules)} rules of attention without a gate to weigh them")
        self.rules = tuple(rules)
        self.gate = gate
        self.layer = layer
        self.separate = separate

    def additive_masks(
        self, block: SentenceBlock, context: AttentionContext, dtype: torch.dtype
    ) -> tuple[AdditiveMask | None, ...]:
        """Return the masks of global attention, if there is a gate, and of each rule."""
        rules = self.rules if self.gate is None else (None, *self.rules)
        return tuple(context.additive_mask(rule, block, dtype, self.reach) for rule in rules)

    def extras(self, rows: Tensor, context: AttentionContext) -> Tensor | None:
        """Return the shares of global and local attention, (N, 1 + C), and store the local ones."""
        if self.gate is None:
            return None
        shares = self.gate(rows)  # (N, 1 + C)
        context.outputs.gates[self.layer] = shares[:, 1:].detach()
        return shares

    def mix(
        self,
        qkv: Tensor,
        extras: Tensor | None,
        block: SentenceBlock,
        context: AttentionContext,
        bias: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Mix one block by fused kernels, or with explicit weights if necessary; see `Mixer`."""
        query, key, value = qkv
        masks = self.additive_masks(block, context, query.dtype)
        one_by_one = self.separate or not self.drop or extras is None
        if one_by_one and not context.need_weights and not self.similar:
            return fused(qkv, masks, extras, self.drop, bias), None
        scores = self.scores(query, key, block, context, bias)  # (n, H, l, l)
        how = {"dropout": self.dropout, "separate": self.separate and self.drop > 0}
        return openly(scores, value, masks, extras, **how)

"""DABERT: difference attention, fused with a layer's own (affinity) attention.

Wang et al. 2022, "DABERT"; see `nn.dual_attention` and `nn.fusion`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional

from ..errors import InputError
from ..nn.attention import GlobalMixer
from ..nn.bert import BertShape, draw
from ..nn.dual_attention import (
    CONTROLS,
    DIFFERENCES,
    NO_DIFFERENCE,
    SCOPES,
    DifferenceMixer,
    DualAttention,
)
from ..nn.fusion import ABLATIONS, GUIDES, INITS, OUTPUTS, AdaptiveFusion
from ..nn.starts import own_start
from ..option_flags import choice, option
from ..syntax.needs import Needs
from .method import AttentionParts, Method, around, flag_and_value
from .options import NONE, preset, read_some_layers

WITHOUT = "difference"  # ablation that leaves a plain layer
LAYERS = "none, all, or their numbers from 0, e.g. 0,2"


@dataclass(frozen=True)
class DifferenceAttention(Method):
    """Dual attention: affinity and difference, fused."""

    called = "dual attention"
    switch = "dual_layers"
    parts = {"dual attention": "attention.dual."}
    off = {"dual_layers": NONE, "difference": "l1", "guide": "additive", "fusion_output": "add"}
    architectures = {
        "dabert": {"dual_layers": "0"},
        "dabert_literal": {
            "dual_layers": "0",
            "difference": "signed",
            "guide": "concat",
            "fusion_output": "replace",
        },
    }
    logged = {"fusion": ("fusion_gate_", "filter_gate_")}

    dual_layers: Optional[str] = preset(
        "DABERT: layers in which difference attention is fused with the layer's own attention: "
        f"{LAYERS}"
    )
    difference: Optional[choice(list(DIFFERENCES))] = preset(
        "DABERT: distance of a key from a query: sum of absolute differences (l1), Euclidean "
        "(l2), squared Euclidean (squared), or, as printed in the paper, the plain sum of "
        "differences, with which all queries attend alike (signed)"
    )
    difference_scope: choice(list(SCOPES)) = option(
        "DABERT: what difference attention sees: all tokens (all), or only those of the other "
        "sentence and the special tokens (cross)",
        "all",
    )
    guide: Optional[choice(list(GUIDES))] = preset(
        "DABERT: how affinity guides the choice among differences: added to them before the "
        "tanh (additive), or, as printed in the paper, concatenated with them, so that the "
        "guide cancels out (concat)"
    )
    guide_dim: int = option("DABERT: hidden width of the guide attentions", 128, least=1)
    fusion_output: Optional[choice(list(OUTPUTS))] = preset(
        "DABERT: the result of the fusion is added to the layer's own attention (add), or "
        "replaces it (replace)"
    )
    fusion_init: choice(list(INITS)) = option(
        "DABERT: initial weights of the fusion's last linear map: N(0, 0.02) (normal), or zero "
        "(the model starts as exactly BERT if the fusion is added)",
        "normal",
    )
    ablate: choice(list(ABLATIONS)) = option(
        "DABERT: part to leave out, as in the paper's Table 5: affinity attention, difference "
        "attention (leaves plain BERT), guide attentions, fusion gate (replaced by the mean), "
        "filter gate, or the whole regulation (replaced by the mean of both attentions)",
        "none",
    )
    dual_control: choice(list(CONTROLS)) = option(
        "DABERT, a control with as many parameters: replaces difference attention by a second "
        "affinity attention of the same queries and keys, with a softmax of its own "
        "(second-affinity), or by zeros, D = 0 (no-difference)",
        NONE,
    )
    num_hidden_layers: int = around(0)

    def __post_init__(self) -> None:
        control, left_out = self.dual_control, self.ablate
        nothing = left_out == WITHOUT or (left_out, control) == ("affinity", NO_DIFFERENCE)
        if self.named and control != NONE and nothing:
            raise InputError(
                f"{flag_and_value(self, 'dual_control')}: --ablate {left_out} leaves nothing to "
                "compare"
            )

    @cached_property
    def named(self) -> tuple[int, ...]:
        """Numbers of the named layers, including those that the ablation makes plain."""
        return read_some_layers(self.dual_layers, self.num_hidden_layers, "--dual-layers")

    @property
    def layers(self) -> tuple[int, ...]:
        """Numbers of the layers with dual attention."""
        return () if self.ablate == WITHOUT else self.named

    @property
    def unread_affinity(self) -> tuple[int, ...]:
        """Numbers of the layers whose own attention the ablation removes."""
        return self.named if self.ablate == "affinity" else ()

    @property
    def needs(self) -> Needs:
        """Pairs, and for differences across sentences the word of each token."""
        crosses = bool(self.layers) and self.difference_scope == "cross"
        return Needs(words=crosses, pairs=bool(self.layers))

    def attend(self, parts: AttentionParts, shape: BertShape, layer: int) -> None:
        """Fuse difference attention with the layer's own; an ablation leaves no unused parts."""
        if layer in self.unread_affinity:
            parts.mixer = GlobalMixer(shape.attention_dropout)
        if layer in self.layers:
            parts.dual = self._fused(shape, layer)

    def _fused(self, shape: BertShape, layer: int) -> DualAttention:
        how: dict[str, Any] = {
            "guide": self.guide,
            "guide_dim": self.guide_dim,
            "ablate": self.ablate,
        }
        how |= {"output": self.fusion_output, "init": self.fusion_init}
        with own_start("fusion"):
            fusion = AdaptiveFusion(shape.hidden, **how).apply(draw)
        how = {"dropout": shape.attention_dropout, "control": self.dual_control}
        difference = DifferenceMixer(str(self.difference), self.difference_scope, **how)
        return DualAttention(difference, fusion, layer)

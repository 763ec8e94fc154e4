"""Options of dual attention and of word similarities, with their checks.

Wang et al. 2022, "DABERT"; Xia et al. 2021, "UER-BERT" (similarities on the scores).
"""

from dataclasses import dataclass
from typing import Any, Optional

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
from ..option_flags import choice, flag_of, option
from .local_options import read_layers
from .options import NONE, Options, preset

WITHOUT = "difference"  # the ablation that leaves a plain layer
LAYERS = "none, all, or their numbers from 0, e.g. 0,2"


@dataclass
class DualOptions(Options):
    """Options that decide where and how differences join attention."""

    dual_layers: Optional[str] = preset(
        f"DABERT: layers in which difference attention is fused with their own: {LAYERS}"
    )
    difference: Optional[choice(list(DIFFERENCES))] = preset(
        "DABERT: how far a key is from a query: sum of absolute differences (l1), Euclidean (l2), "
        "squared Euclidean, or the plain sum of differences as printed, by which all queries "
        "attend alike (signed)"
    )
    difference_scope: choice(list(SCOPES)) = option(
        "DABERT: what difference attention sees: all tokens, or those of the other "
        "sentence and special ones (cross)",
        "all",
    )
    guide: Optional[choice(list(GUIDES))] = preset(
        "DABERT: how affinity guides the choice among differences: a sum before the tanh "
        "(additive), or a concatenation as printed, in which the guide cancels (concat)"
    )
    guide_dim: int = option("DABERT: width of the guide attentions", 128, least=1)
    fusion_output: Optional[choice(list(OUTPUTS))] = preset(
        "DABERT: what is fused is added to the layer's own attention, or replaces it"
    )
    fusion_init: choice(list(INITS)) = option(
        "DABERT: start of the last map of the fusion: N(0, 0.02), or zero (exactly "
        "BERT at step 0 where it is added)",
        "normal",
    )
    ablate: choice(list(ABLATIONS)) = option(
        "DABERT: part to leave out (the paper's Table 5): affinity attention, "
        "difference attention (plain BERT), guide attentions, fusion gate (the mean instead), "
        "filter gate, or the whole regulation (the mean of both attentions instead)",
        "none",
    )
    dual_control: choice(list(CONTROLS)) = option(
        "DABERT, a control with as many parameters: in the place of difference attention a second "
        "affinity attention of the same queries and keys, with a softmax of its own "
        "(second-affinity), or nothing, D = 0 (no-difference)",
        NONE,
    )
    similarity_layers: Optional[str] = preset(
        "UER-BERT: layers whose attention scores are multiplied by the similarity of words in "
        f"WordNet: {LAYERS}"
    )


def dual_layers(args: Any) -> tuple[int, ...]:
    """Return the numbers of the layers with dual attention; see `read_layers`.

    Raises:
        ValueError: also for an ablation without dual attention.
    """
    layers = _layers(args, "dual_layers")
    if args.ablate != NONE and not layers:
        raise ValueError(f"--ablate {args.ablate}: there is no dual attention (--dual-layers none)")
    control = args.dual_control
    if control != NONE and not layers:
        raise ValueError(
            f"--dual-control {control}: there is no dual attention (--dual-layers none)"
        )
    if control != NONE and (
        args.ablate == WITHOUT or (args.ablate, control) == ("affinity", NO_DIFFERENCE)
    ):
        raise ValueError(
            f"--dual-control {control}: --ablate {args.ablate} leaves nothing to compare"
        )
    return () if args.ablate == WITHOUT else layers


def similarity_layers(args: Any) -> tuple[int, ...]:
    """Return the numbers of the layers that read word similarities; see `read_layers`.

    Raises:
        ValueError: also for layers without affinity attention, whose scores they multiply.
    """
    found = _layers(args, "similarity_layers")
    if found and args.ablate == "affinity" and set(found) <= set(_layers(args, "dual_layers")):
        raise ValueError(
            f"--similarity-layers {args.similarity_layers}: --ablate affinity leaves these layers "
            "no scores to multiply"
        )
    return found


def _layers(args: Any, name: str) -> tuple[int, ...]:
    text = getattr(args, name)
    if text is None or text.strip() == NONE:
        return ()
    return read_layers(text, args.num_hidden_layers, flag_of(name))


def dual_attention(args: Any, shape: BertShape, layer: int) -> DualAttention:
    """Make the dual attention of a layer."""
    how = {"guide": args.guide, "guide_dim": args.guide_dim, "ablate": args.ablate}
    how |= {"output": args.fusion_output, "init": args.fusion_init}
    with own_start("fusion"):
        fusion = AdaptiveFusion(shape.hidden, **how).apply(draw)
    how = (args.difference, args.difference_scope, shape.attention_dropout, args.dual_control)
    difference = DifferenceMixer(*how)
    return DualAttention(difference, fusion, layer)

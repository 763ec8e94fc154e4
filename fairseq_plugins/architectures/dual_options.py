"""Options of dual attention and of word similarities, with their checks.

Wang et al. 2022, "DABERT"; Xia et al. 2021, "UER-BERT" (similarities on the scores).
"""

from dataclasses import dataclass
from typing import Any, Optional

from ..errors import InputError
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
    similarity_layers: Optional[str] = preset(
        "UER-BERT: layers whose attention scores are multiplied by the WordNet similarity of "
        f"the words: {LAYERS}"
    )


def dual_layers(args: Any) -> tuple[int, ...]:
    """Return the numbers of the layers with dual attention; see `read_layers`.

    Raises:
        InputError: also for an ablation without dual attention.
    """
    layers = _layers(args, "dual_layers")
    if args.ablate != NONE and not layers:
        raise InputError(f"--ablate {args.ablate}: there is no dual attention (--dual-layers none)")
    control = args.dual_control
    if control != NONE and not layers:
        raise InputError(
            f"--dual-control {control}: there is no dual attention (--dual-layers none)"
        )
    if control != NONE and (
        args.ablate == WITHOUT or (args.ablate, control) == ("affinity", NO_DIFFERENCE)
    ):
        raise InputError(
            f"--dual-control {control}: --ablate {args.ablate} leaves nothing to compare"
        )
    return () if args.ablate == WITHOUT else layers


def similarity_layers(args: Any) -> tuple[int, ...]:
    """Return the numbers of the layers that read word similarities; see `read_layers`.

    Raises:
        InputError: also for layers without affinity attention, whose scores they multiply.
    """
    found = _layers(args, "similarity_layers")
    if found and args.ablate == "affinity" and set(found) <= set(_layers(args, "dual_layers")):
        raise InputError(
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

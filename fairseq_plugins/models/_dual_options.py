"""Options of dual attention and of word similarities, with their checks.

Wang et al. 2022, "DABERT"; Xia et al. 2021, "UER-BERT" (similarities on the scores).
"""

from argparse import Namespace
from dataclasses import dataclass, field
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from ..nn.checks import check_choice
from ..nn.dual_attention import DIFFERENCES, SCOPES, DifferenceMixer, DualAttention
from ..nn.fusion import ABLATIONS, GUIDES, INITS, OUTPUTS, AdaptiveFusion
from ._local_options import read_layers
from ._options import preset

NO_LAYERS = "none"
WITHOUT = "difference"  # the ablation that leaves a plain layer
LAYERS = "none, all, or their numbers from 0, e.g. 0,2"


@dataclass
class DualOptions(FairseqDataclass):
    """Options that decide where and how differences join attention."""

    dual_layers: Optional[str] = preset(
        f"DABERT: layers in which difference attention is fused with their own: {LAYERS}"
    )
    difference: Optional[ChoiceEnum(list(DIFFERENCES))] = preset(
        "DABERT: how far a key is from a query: sum of absolute differences (l1), Euclidean (l2), "
        "squared Euclidean, or the plain sum of differences as printed, by which all queries "
        "attend alike (signed)"
    )
    difference_scope: ChoiceEnum(list(SCOPES)) = field(
        default="all",
        metadata={
            "help": "DABERT: what difference attention sees: all tokens, or those of the other "
            "sentence and special ones (cross)"
        },
    )
    guide: Optional[ChoiceEnum(list(GUIDES))] = preset(
        "DABERT: how affinity guides the choice among differences: a sum before the tanh "
        "(additive), or a concatenation as printed, in which the guide cancels (concat)"
    )
    guide_dim: int = field(default=128, metadata={"help": "DABERT: width of the guide attentions"})
    fusion_output: Optional[ChoiceEnum(list(OUTPUTS))] = preset(
        "DABERT: what is fused is added to the layer's own attention, or replaces it"
    )
    fusion_init: ChoiceEnum(list(INITS)) = field(
        default="normal",
        metadata={
            "help": "DABERT: start of the last map of the fusion: N(0, 0.02), or zero (exactly "
            "BERT at step 0 where it is added)"
        },
    )
    ablate: ChoiceEnum(list(ABLATIONS)) = field(
        default="none",
        metadata={
            "help": "DABERT: part to leave out (the paper's Table 5): affinity attention, "
            "difference attention (plain BERT), guide attentions, fusion gate (the mean instead), "
            "filter gate, or the whole regulation (the mean of both attentions instead)"
        },
    )
    similarity_layers: Optional[str] = preset(
        "UER-BERT: layers whose attention scores are multiplied by the similarity of words in "
        f"WordNet: {LAYERS}"
    )


@dataclass(frozen=True)
class DualPlan:
    """Where and how differences and similarities join attention.

    Args:
        layers: numbers of the layers with dual attention; empty for none.
        difference: of `nn.dual_attention.DIFFERENCES`.
        scope: of `nn.dual_attention.SCOPES`.
        fusion: keywords of `nn.fusion.AdaptiveFusion`.
        similar_layers: numbers of the layers that read word similarities.
    """

    layers: tuple[int, ...]
    difference: str
    scope: str
    fusion: dict[str, Any]
    similar_layers: tuple[int, ...]

    @property
    def reads_similarity(self) -> bool:
        """Whether the model needs the similarity of words."""
        return bool(self.similar_layers)

    @property
    def needs_pairs(self) -> bool:
        """Whether there must be two sentences to compare."""
        return bool(self.layers or self.similar_layers)

    @property
    def reads_affinity(self) -> bool:
        """Whether layers with dual attention read their own attention."""
        return self.fusion["ablate"] != "affinity"

    @property
    def reads_words(self) -> bool:
        """Whether the model needs to know the word of each token."""
        return self.reads_similarity or (bool(self.layers) and self.scope == "cross")

    def dual(self, hidden: int, dropout: float, layer: int) -> Optional[DualAttention]:
        """Return the dual attention of a layer, or None."""
        if layer not in self.layers:
            return None
        difference = DifferenceMixer(self.difference, self.scope, dropout)
        return DualAttention(difference, AdaptiveFusion(hidden, **self.fusion), layer)


def read_dual(args: Namespace) -> DualPlan:
    """Read the plan off resolved options.

    Raises:
        ValueError: a value that does not fit; names its option and the choices.
    """
    for name, choices in (
        ("difference", DIFFERENCES),
        ("difference_scope", SCOPES),
        ("guide", GUIDES),
        ("fusion_output", OUTPUTS),
        ("fusion_init", INITS),
        ("ablate", ABLATIONS),
    ):
        check_choice(f"--{name.replace('_', '-')}", str(getattr(args, name)), choices)
    if args.guide_dim < 1:
        raise ValueError(f"--guide-dim {args.guide_dim}: must be at least 1")
    layers = _layers(args, "dual_layers")
    ablate = str(args.ablate)
    if ablate != "none" and not layers:
        raise ValueError(f"--ablate {ablate}: there is no dual attention (--dual-layers none)")
    return DualPlan(
        layers=() if ablate == WITHOUT else layers,
        difference=str(args.difference),
        scope=str(args.difference_scope),
        fusion={
            "guide": str(args.guide),
            "guide_dim": args.guide_dim,
            "output": str(args.fusion_output),
            "init": str(args.fusion_init),
            "ablate": ablate,
        },
        similar_layers=_similarity_layers(args, layers),
    )


def _similarity_layers(args: Namespace, dual: tuple[int, ...]) -> tuple[int, ...]:
    """Return the layers that read similarities; ``dual`` are those with dual attention."""
    found = _layers(args, "similarity_layers")
    if found and str(args.ablate) == "affinity" and set(found) <= set(dual):
        raise ValueError(
            f"--similarity-layers {args.similarity_layers}: --ablate affinity leaves these layers "
            "no scores to multiply"
        )
    return found


def _layers(args: Namespace, name: str) -> tuple[int, ...]:
    text = getattr(args, name)
    if text is None or text.strip() == NO_LAYERS:
        return ()
    return read_layers(text, args.num_hidden_layers, f"--{name.replace('_', '-')}")

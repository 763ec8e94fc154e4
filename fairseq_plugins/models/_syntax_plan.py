"""From the options of a BERT model to its attention: which layers do what, with the checks."""

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

from ..nn.ancestor_attention import SyntaxLayers
from ..nn.attention import GlobalMixer, Mixer, SelfAttention
from ..nn.bert import BertShape
from ..nn.local_attention import Gate, LocalMixer
from ..nn.parent_attention import ParentSupervision
from ..nn.tree_masks import Rule
from ..syntax.needs import Needs
from ._dual_options import DualPlan, read_dual
from ._local_options import read_layers, read_local, rules


@dataclass(frozen=True)
class SyntaxPlan:
    """What the layers do beside plain attention.

    Args:
        rules: of local attention; empty for none.
        layers: numbers of the layers that have it.
        gate_bias: start of its gates' bias.
        parent_weight: weight of the loss of supervised heads; 0 for none.
        ancestor_layers: number of syntax-guided layers on top.
        span: whether their ancestors are those of SG-Net's program.
        pairs: whether words of a pair see the other sentence in them.
        mix: how they are mixed with what is below.
        dual: of difference attention and word similarities.
    """

    rules: tuple[Rule, ...]
    layers: tuple[int, ...]
    gate_bias: float
    parent_weight: float
    ancestor_layers: int
    span: bool
    pairs: str
    mix: str
    dual: DualPlan

    def needs(self, features: tuple[str, ...]) -> Needs:
        """Return what a model with this attention and these features reads."""
        answering = any(rule.needs_heads for rule in self.rules) or self.ancestor_layers > 0
        compared = self.dual.reads_similarity
        taught = ("heads",) if self.parent_weight > 0 else ()  # supervised heads learn alone
        syntax = answering or bool(taught) or bool(self.rules) or self.dual.reads_words
        layers = (*(("heads",) if answering else ()), *(("similarity",) if compared else ()))
        return Needs(features, layers, taught, words=syntax, pairs=self.dual.needs_pairs)

    def attention(self, shape: BertShape) -> Callable[[int], SelfAttention]:
        """Return what makes the self-attention of a layer."""

        def make(layer: int) -> SelfAttention:
            supervision = ParentSupervision() if self.parent_weight > 0 else None
            return SelfAttention(
                shape.hidden,
                shape.heads,
                self._mixer(shape, layer),
                supervision,
                self.dual.dual(shape.hidden, shape.attention_dropout, layer),
            )

        return make

    def _mixer(self, shape: BertShape, layer: int) -> Mixer:
        similar = layer in self.dual.similar_layers
        unread = layer in self.dual.layers and not self.dual.reads_affinity
        if not self.rules or layer not in self.layers or unread:
            return GlobalMixer(shape.attention_dropout, similar)
        gate = Gate(shape.hidden, len(self.rules), self.gate_bias)
        return LocalMixer(self.rules, gate, shape.attention_dropout, layer, similar)

    def top(self, shape: BertShape) -> Optional[SyntaxLayers]:
        """Return the layers on top, or None."""
        if not self.ancestor_layers:
            return None
        how = {"span": self.span, "pairs": self.pairs, "mix": self.mix}
        return SyntaxLayers(shape, self.ancestor_layers, **how)


def read_syntax(args: Namespace) -> SyntaxPlan:
    """Read the plan off resolved options.

    Raises:
        ValueError: a value that does not fit; names its option and the choices.
    """
    weight, layers = float(args.parent_loss_weight), int(args.ancestor_layers)
    for value, option in ((weight, "--parent-loss-weight"), (layers, "--ancestor-layers")):
        if value < 0:
            raise ValueError(f"{option} {value}: must be at least 0")
    found = rules(
        read_local(args.local_attention),
        args.tree_threshold,
        str(args.tree_neighbours),
        args.window,
        str(args.window_unit),
    )
    return SyntaxPlan(
        rules=found,
        layers=read_layers(args.local_layers, args.num_hidden_layers),
        gate_bias=args.gate_bias_init,
        parent_weight=weight,
        ancestor_layers=layers,
        span=str(args.ancestor_mask) == "span",
        pairs=str(args.ancestor_pairs),
        mix=str(args.ancestor_mix),
        dual=read_dual(args),
    )

"""Local attention, mixed with the global one by a gate of each token.

Li et al. 2020, "Improving BERT with Syntax-aware Local Attention" (sla; wla is its window
baseline); Bai et al. 2021, "Syntax-BERT" (parent, child, sibling).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Optional

from ..nn import tree_masks
from ..nn.bert import BertShape
from ..nn.local_attention import Gate, LocalMixer
from ..nn.starts import own_start
from ..nn.tree_masks import (
    PUNCTUATION,
    RELATIONS,
    OpenRule,
    RelationRule,
    Rule,
    TreeRule,
    WindowRule,
)
from ..option_flags import choice, flag_of, option
from ..syntax.controls import FULL, PARSE
from ..syntax.layers import TREES
from ..syntax.needs import Needs
from .method import AttentionParts, Method, around
from .options import ALL_LAYERS, NONE, preset, read_layers, read_names

LOCAL = ("sla", "wla", *RELATIONS)
TREELESS = ("wla",)
OF_KINDS = {  # kind -> options of this kind only
    "sla": ("tree_threshold", "tree_neighbours", "tree_open"),
    "wla": ("window", "window_unit"),
}
SEPARATE, MIXTURE = LOCAL_DROPOUT = ("separate", "mixture")

LOCAL_HELP = (
    "local attention, mixed with the global one by a learnt gate: sla (words near in the "
    "dependency tree), wla (tokens in a window), parent, child, sibling (relations in the "
    "tree); several joined by commas, or none"
)
LAYERS_HELP = "layers that have local attention: all, or their numbers counted from 0, e.g. 0,2,5"


@dataclass(frozen=True)
class LocalRules(Method):
    """Rules, gates and dropout of local attention."""

    called = "local attention"
    before = {"local_dropout": MIXTURE}
    where: ClassVar[str]  # option with its layers
    depth: ClassVar[str]  # option with the number of all layers

    tree_threshold: int = option(
        "sla: greatest distance in the dependency tree at which words see each other", 4, least=0
    )
    tree_neighbours: choice(list(tree_masks.NEIGHBOURS)) = option(
        "sla: whether a word also counts as near where one of its two neighbours in the "
        "sentence is near: as a query (asymmetric, as in the paper), as query or key "
        "(symmetric), or never (none)",
        "asymmetric",
    )
    tree_open: choice(list(tree_masks.OPENED)) = option(
        "sla: what all words see at any distance in the tree: punctuation signs, as in the "
        "authors' program (subwords in !\"#$%&'()*+,.-/:;<=>?@[\\]^_), or nothing (none)",
        tree_masks.NONE,
    )
    window: int = option(
        "wla: how far local attention reaches to each side (see --window-unit)", 4, least=0
    )
    window_unit: choice(list(tree_masks.UNITS)) = option(
        "wla: whether --window counts subwords or words", "subwords"
    )
    gate_bias_init: float = option(
        "initial bias of the gates: 0 gives all attentions, global and local, equal weight "
        "(half each with a single local one)",
        0.0,
    )
    local_dropout: choice(list(LOCAL_DROPOUT)) = option(
        "where attention dropout falls in training: on the global and on each local softmax, "
        "before the gate mixes them (separate), or once on their mixture (mixture)",
        SEPARATE,
    )
    tree_source: str = around(PARSE)

    def __post_init__(self) -> None:
        _ = self.rules, self.layers

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The kinds of local attention, in order."""
        return read_local(getattr(self, self.switch), flag_of(self.switch))

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rule of each kind; with ``--tree-source full`` the tree rules allow every key."""
        found: dict[str, Rule] = {
            "sla": TreeRule(self.tree_threshold, self.tree_neighbours, self.tree_open),
            "wla": WindowRule(self.window, self.window_unit),
            **{name: RelationRule(name) for name in RELATIONS},
        }
        rules = tuple(found[name] for name in self.names)
        opened = self.tree_source == FULL
        return tuple(OpenRule() if rule.needs_heads and opened else rule for rule in rules)

    @cached_property
    def layers(self) -> tuple[int, ...]:
        named = read_layers(
            getattr(self, self.where), getattr(self, self.depth), flag_of(self.where)
        )
        return named if self.rules else ()

    @property
    def reads_trees(self) -> bool:
        """Whether a kind reads trees."""
        return any(name not in TREELESS for name in self.names)

    @property
    def reads_punctuation(self) -> bool:
        """Whether a rule opens punctuation signs."""
        return any(rule.needs_punctuation for rule in self.rules)

    @property
    def separate(self) -> bool:
        """Whether dropout applies to each softmax, not to the mixture."""
        return self.local_dropout == SEPARATE

    def unread(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the options of absent kinds, and those of all kinds; see `Method.unread`."""
        for name, own in OF_KINDS.items():
            if name not in self.names:
                yield name, own
        if not self.names:
            yield self.called, (self.where, "gate_bias_init", "local_dropout")


@dataclass(frozen=True)
class LocalAttention(LocalRules):
    """Local attention in the encoder of a model of text."""

    switch, where, depth = "local_attention", "local_layers", "num_hidden_layers"
    parts = {"gates": "attention.mixer."}
    off = {"local_attention": NONE}
    architectures = {
        "bert_sla": {"local_attention": "sla"},
        "bert_sla_released": {
            "local_attention": "sla",
            "tree_threshold": 3,
            "tree_open": PUNCTUATION,
            "local_dropout": SEPARATE,
        },
        "bert_wla": {"local_attention": "wla"},
        "bert_syntax_masks": {"local_attention": "parent,child,sibling"},
    }
    logged = {"gates": ("gate_",)}

    local_attention: Optional[str] = preset(LOCAL_HELP)
    local_layers: str = option(LAYERS_HELP, ALL_LAYERS)
    num_hidden_layers: int = around(0)

    @property
    def needs(self) -> Needs:
        """Words, and their heads if a rule reads trees."""
        heads = TREES if any(rule.needs_heads for rule in self.rules) else ()
        return Needs(layers=heads, words=bool(self.rules))

    def attend(self, parts: AttentionParts, shape: BertShape, layer: int) -> None:
        if layer in self.layers:
            with own_start("gate"):
                gate = Gate(shape.hidden, len(self.rules), self.gate_bias_init)
            how = {"separate": self.separate}
            parts.mixer = LocalMixer(self.rules, gate, shape.attention_dropout, layer, **how)


def read_local(text: str | None, flag: str = "--local-attention") -> tuple[str, ...]:
    """Return the kinds of local attention in an option; see `read_names`."""
    return read_names(text, LOCAL, flag, plain="plain attention")

"""Options of local attention that BERT and the translation encoder share, with their checks.

Li et al. 2020, "Improving BERT with Syntax-aware Local Attention" (sla; wla is its window
baseline); Bai et al. 2021, "Syntax-BERT" (parent, child, sibling).
"""

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..nn import tree_masks
from ..nn.tree_masks import RELATIONS, OpenRule, RelationRule, Rule, TreeRule, WindowRule
from ..option_flags import choice, option
from .control_options import TreeControls, is_full
from .options import read_names

LOCAL = ("sla", "wla", *RELATIONS)
TREELESS = ("wla",)
ALL_LAYERS = "all"
SEPARATE, MIXTURE = LOCAL_DROPOUT = ("separate", "mixture")

# What a checkpoint means that was made before there was an option, where that is not its default.
BEFORE: dict[str, Any] = {"local_dropout": MIXTURE}

LOCAL_HELP = (
    "local attention, mixed with the global one by a learnt gate: sla (words near in the "
    "dependency tree), wla (tokens in a window), parent, child, sibling (relations in the "
    "tree); several joined by commas, or none"
)
LAYERS_HELP = "layers that have local attention: all, or their numbers counted from 0, e.g. 0,2,5"


@dataclass
class LocalOptions(TreeControls):
    """Options that decide where local attention may go, where its gate starts, what is dropped."""

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


def read_local(text: str | None, flag: str = "--local-attention") -> tuple[str, ...]:
    """Return the kinds of local attention that an option names; see `read_names`."""
    return read_names(text, LOCAL, flag, plain="plain attention")


def names_trees(text: str | None, flag: str = "--local-attention") -> bool:
    """Whether an option names local attention that reads trees; see `read_local`."""
    return any(name not in TREELESS for name in read_local(text, flag))


def read_rules(
    text: str | None, args: LocalOptions, flag: str = "--local-attention"
) -> tuple[Rule, ...]:
    """Return where each local attention may go that an option names; see `read_local`.

    With ``--tree-source full`` those that read trees may go anywhere.
    """
    found: dict[str, Rule] = {
        "sla": TreeRule(args.tree_threshold, args.tree_neighbours, args.tree_open),
        "wla": WindowRule(args.window, args.window_unit),
        **{name: RelationRule(name) for name in RELATIONS},
    }
    rules = tuple(found[name] for name in read_local(text, flag))
    return tuple(OpenRule() if rule.needs_heads and is_full(args) else rule for rule in rules)


def read_layers(text: str | None, layers: int, flag: str) -> tuple[int, ...]:
    """Return the numbers of the layers that an option names, in order; ``all`` gives every one.

    Args:
        text: ``all`` or numbers from 0, joined by commas.
        layers: how many layers there are.
        flag: named in messages.

    Raises:
        InputError: no number, a repeated one, or one beyond the layers.
    """
    if text is None or text.strip() == ALL_LAYERS:
        return tuple(range(layers))
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 10 for part in parts):
        raise InputError(f"{flag} {text!r}: say {ALL_LAYERS!r}, or numbers from 0 such as 0,2,5")
    numbers = sorted(int(part) for part in parts)
    if numbers[-1] >= layers:
        raise InputError(
            f"{flag} {text!r}: there is no layer {numbers[-1]}; the {layers} layers are numbered "
            f"from 0 to {layers - 1}"
        )
    if len(set(numbers)) != len(numbers):
        raise InputError(f"{flag} {text!r} names a layer twice")
    return tuple(numbers)

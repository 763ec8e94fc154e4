"""Options of local attention that BERT and the translation encoder share, with their checks.

Li et al. 2020, "Improving BERT with Syntax-aware Local Attention" (sla; wla is its window
baseline); Bai et al. 2021, "Syntax-BERT" (parent, child, sibling).
"""

from dataclasses import dataclass, field
from typing import Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

from ..nn.checks import check_choice
from ..nn.tree_masks import (
    NEIGHBOURS,
    RELATIONS,
    UNITS,
    RelationRule,
    Rule,
    TreeRule,
    WindowRule,
)

NO_LOCAL = "none"
LOCAL = ("sla", "wla", *RELATIONS)
ALL_LAYERS = "all"

LOCAL_HELP = (
    "local attention, gated against the global one: sla (words near in the dependency tree), wla "
    "(a window), parent, child, sibling (relations in the tree); several joined by commas, or none"
)
LAYERS_HELP = "layers with local attention: all, or their numbers from 0, e.g. 0,2,5"


@dataclass
class LocalOptions(FairseqDataclass):
    """Options that decide where local attention may go, and where its gate starts."""

    tree_threshold: int = field(
        default=4, metadata={"help": "sla: greatest distance in the dependency tree"}
    )
    tree_neighbours: ChoiceEnum(list(NEIGHBOURS)) = field(
        default="asymmetric",
        metadata={
            "help": "sla: whether a word is as near as the nearest of it and its two neighbours: "
            "as a query (asymmetric, the paper's), as query or key (symmetric), or not at all"
        },
    )
    window: int = field(default=4, metadata={"help": "wla: how far to each side attention goes"})
    window_unit: ChoiceEnum(list(UNITS)) = field(
        default="subwords", metadata={"help": "wla: what --window counts"}
    )
    gate_bias_init: float = field(
        default=0.0,
        metadata={
            "help": "start of the gates' bias: 0 gives all attentions equal weight (half to a "
            "single local one)"
        },
    )


def read_local(text: Optional[str], option: str = "--local-attention") -> tuple[str, ...]:
    """Return the kinds of local attention that an option names; ``none`` gives none.

    Raises:
        ValueError: empty text, an unknown or a repeated name; ``option`` is named.
    """
    if text is None or text.strip() == NO_LOCAL:
        return ()
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise ValueError(f"{option} is empty; say '{option} {NO_LOCAL}' for plain attention")
    for name in names:
        if name not in LOCAL:
            raise ValueError(f"{option} {name!r}: choices are {', '.join([*LOCAL, NO_LOCAL])}")
        if names.count(name) > 1:
            raise ValueError(f"{option} names {name!r} twice")
    return names


def read_layers(
    text: Optional[str], layers: int, option: str = "--local-layers"
) -> tuple[int, ...]:
    """Return the numbers of the layers that an option names, in order; ``all`` gives every one.

    Args:
        text: ``all`` or numbers from 0, joined by commas.
        layers: how many layers there are.
        option: named in messages.

    Raises:
        ValueError: no number, a repeated one, or one beyond the layers.
    """
    if text is None or text.strip() == ALL_LAYERS:
        return tuple(range(layers))
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise ValueError(f"{option} {text!r}: say {ALL_LAYERS!r}, or numbers from 0 such as 0,2,5")
    numbers = sorted(int(part) for part in parts)
    if numbers[-1] >= layers:
        raise ValueError(
            f"{option} {text!r}: there is no layer {numbers[-1]}; the {layers} layers are numbered "
            f"from 0 to {layers - 1}"
        )
    if len(set(numbers)) != len(numbers):
        raise ValueError(f"{option} {text!r} names a layer twice")
    return tuple(numbers)


def rules(
    names: tuple[str, ...], threshold: int, neighbours: str, window: int, unit: str
) -> tuple[Rule, ...]:
    """Return one rule a name: where its local attention may go.

    Args:
        names: what `read_local` returned.
        threshold: of sla, at least 0.
        neighbours: of sla, one of `NEIGHBOURS`.
        window: of wla, at least 0.
        unit: of wla, one of `UNITS`.

    Raises:
        ValueError: a value that does not fit; names its option.
    """
    for value, option in ((threshold, "--tree-threshold"), (window, "--window")):
        if value < 0:
            raise ValueError(f"{option} {value}: must be at least 0")
    for value, choices, option in (
        (neighbours, NEIGHBOURS, "--tree-neighbours"),
        (unit, UNITS, "--window-unit"),
    ):
        check_choice(option, value, choices)
    found: dict[str, Rule] = {
        "sla": TreeRule(threshold, neighbours),
        "wla": WindowRule(window, unit),
        **{name: RelationRule(name) for name in RELATIONS},
    }
    return tuple(found[name] for name in names)


def reads_heads(names: tuple[str, ...]) -> bool:
    """Whether any of these kinds of local attention needs the words' heads."""
    return any(name != "wla" for name in names)


def reads_words(names: tuple[str, ...], unit: str) -> bool:
    """Whether any of these kinds of local attention needs to know the words of the subwords."""
    return reads_heads(names) or ("wla" in names and unit == "words")

"""Options of parts that a new model does not have: what nothing reads is refused.

A grid over such an option would compare equal models under different names. Checkpoints are not
asked: those of older releases may have such options.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from ..errors import InputError
from ..option_flags import flag_of
from .bert_options import BEFORE
from .local_options import read_local
from .matching_options import BIMPM, CAFE, TRANSFORMER
from .options import NONE


class Part(NamedTuple):
    """A part that models may have.

    Args:
        name: what it is called.
        option: of a model, which decides whether there is one.
        is_there: whether a value of that option asks for it.
        reads: options that only this part reads.
    """

    name: str
    option: str
    is_there: Callable[[Any], bool]
    reads: tuple[str, ...]


def _named(text: Any) -> bool:
    return text is not None and str(text).strip() not in ("", NONE)


def _local(option: str, layers: str) -> tuple[Part, ...]:
    """Return the parts of local attention, by the options of a model's kind."""
    own = (layers, "gate_bias_init", "local_dropout")
    flag = flag_of(option)
    wla = ("window", "window_unit")
    sla = ("tree_threshold", "tree_neighbours", "tree_open")
    return (
        Part("sla", option, lambda text: "sla" in read_local(text, flag), sla),
        Part("wla", option, lambda text: "wla" in read_local(text, flag), wla),
        Part("local attention", option, lambda text: bool(read_local(text, flag)), own),
    )


DUAL = ("difference", "difference_scope", "guide", "guide_dim", "fusion_output", "fusion_init")
SEMANTIC = ("semantic_label_dim", "semantic_gru_dim", "semantic_dim")
SEMANTIC += ("semantic_kernel", "semantic_pooling")
COATTENTION = ("coattention", "coattention_skip", "coattention_control")
COATTENTION += ("local_convolutions", "merge_activation")
ANCESTORS = ("ancestor_mask", "ancestor_pairs", "ancestor_mix")
FEATURES = ("feature_merge", "feature_embed_dim", "feature_init")
OF_BERT = (
    *_local("local_attention", "local_layers"),
    Part("feature", "features", _named, FEATURES),
    Part("SGNet layer", "ancestor_layers", bool, ANCESTORS),
    Part("dual attention", "dual_layers", _named, DUAL),
    Part("SemBERT layer", "semantic_layers", _named, SEMANTIC),
    Part("coattention", "coattention_blocks", bool, COATTENTION),
)
OF_TRANSLATION = _local("encoder_attention", "encoder_attention_layers")
_BODY = ("num_hidden_layers", "num_attention_heads", "intermediate_size", "pair_encoding")
OF_MATCHING = (
    Part("transformer", "matcher", lambda name: name == TRANSFORMER, _BODY),
    Part("BiMPM", "matcher", lambda name: name == BIMPM, ("perspectives",)),
    Part("CAFE", "matcher", lambda name: name == CAFE, ("factors",)),
    Part("feature", "features", _named, FEATURES),
)


def check_read(args: Any, parts: Sequence[Part], presets: Mapping[str, Any]) -> None:
    """Refuse options that no part of a new model reads.

    Args:
        args: its options, resolved: a data class.
        parts: that models of its kind may have.
        presets: what its architecture says; these values, and defaults, also those of older
            releases (`BEFORE`), are nobody's wish.

    Raises:
        InputError: names the option, and the one by which the model has no such part.
    """
    defaults = {one.name: one.default for one in fields(args)}
    for part in parts:
        switch = getattr(args, part.option)
        for name in () if part.is_there(switch) else part.reads:
            value = getattr(args, name)
            if value not in (None, defaults[name], presets.get(name), BEFORE.get(name)):
                raise InputError(
                    f"{flag_of(name)} {value}: this model has no {part.name} "
                    f"({flag_of(part.option)} {switch}), so nothing would read it; leave it out"
                )

"""Options of the BERT models, and the architectures as values of them.

An architecture is a kind (what is added to BERT) and a size, e.g. ``bert_pos_minilm``. Options that
all of them preset are ``Optional`` with default None, "as the architecture says"; `resolve` fills
them. Base presets must never change: checkpoints may rely on them.
"""

from dataclasses import dataclass
from typing import Any, Optional

from ..nn.ancestor_attention import MIXES
from ..nn.bert import ACTIVATIONS, POOLER_ACTIVATIONS
from ..nn.infusion import INITS, MERGES
from ..nn.tree_masks import ANCESTOR_MASKS, ANCESTOR_PAIRS, EXACT, PUNCTUATION
from ..option_flags import choice, option
from ..pretrained.families import FAMILIES
from . import local_options
from .dual_options import DualOptions
from .entity_options import EntityOptions
from .local_options import ALL_LAYERS, LAYERS_HELP, LOCAL_HELP, SEPARATE, LocalOptions
from .options import NONE, architecture, merged, preset, write, written
from .semantic_options import ROLES, SemanticOptions
from .span_options import SpanOptions

FAMILY = "bert_plain"  # the registered model whose values all others are

_SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
SIZES: dict[str, dict[str, Any]] = {
    "tiny": dict(zip(_SIZES, (128, 2, 2, 512))),
    "minilm": dict(zip(_SIZES, (384, 6, 12, 1536))),
    "base": dict(zip(_SIZES, (768, 12, 12, 3072))),
    "large": dict(zip(_SIZES, (1024, 24, 16, 4096))),
}
PLAIN: dict[str, Any] = {
    "features": NONE,
    "local_attention": NONE,
    "parent_loss_weight": 0.0,
    "ancestor_layers": 0,
    "dual_layers": NONE,
    "difference": "l1",
    "guide": "additive",
    "fusion_output": "add",
    "similarity_layers": NONE,
    "semantic_layers": NONE,
    "coattention_blocks": 0,
    "coattention": "query",
    "coattention_skip": "simple",
    "span_head": "joint",
    "entity_match": NONE,
}
DUAL = {**PLAIN, "dual_layers": "0"}
COATTENTION = {**PLAIN, "coattention_blocks": 7, "span_head": "separate"}
KINDS: dict[str, dict[str, Any]] = {
    "bert_plain": PLAIN,
    "bert_pos": {**PLAIN, "features": "pos"},
    "bert_sla": {**PLAIN, "local_attention": "sla"},
    "bert_sla_released": {
        **PLAIN,
        "local_attention": "sla",
        "tree_threshold": 3,
        "tree_open": PUNCTUATION,
        "local_dropout": SEPARATE,
    },
    "bert_wla": {**PLAIN, "local_attention": "wla"},
    "bert_lisa": {**PLAIN, "parent_loss_weight": 1.0},
    "bert_sgnet": {**PLAIN, "ancestor_layers": 1},
    "bert_syntax_masks": {**PLAIN, "local_attention": "parent,child,sibling"},
    "bert_sembert": {**PLAIN, "semantic_layers": ROLES},
    "bert_uer": {**PLAIN, "similarity_layers": "0"},
    "dabert": DUAL,
    "dabert_literal": {
        **DUAL,
        "difference": "signed",
        "guide": "concat",
        "fusion_output": "replace",
    },
    "bertqa": COATTENTION,
    "bertqa_literal": {**COATTENTION, "coattention": "literal"},
    "bert_mrc": {**PLAIN, "entity_match": "linear"},
    "bert_mrc_released": {**PLAIN, "entity_match": "mlp"},
}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    kind + size: {**sizes, **values}
    for kind, values in KINDS.items()
    for size, sizes in {"": SIZES["base"], **{f"_{k}": v for k, v in SIZES.items()}}.items()
}

# What a checkpoint means that was made before there was an option, where that is not its default.
BEFORE: dict[str, Any] = {**local_options.BEFORE, "ancestor_pairs": "open"}


def _given(text: str) -> Any:
    return option(
        f"{text} (default: that of the checkpoint; without one, that of the family)", None
    )


@dataclass
class BertOptions(LocalOptions, DualOptions, SemanticOptions, SpanOptions, EntityOptions):
    """Options of BERT with a task on top."""

    pretrained: Optional[str] = option(
        "folder of the pretrained model to start from (Hugging Face's format, or fairseq's of "
        "RoBERTa and XLM-R), or all-MiniLM-L6-v2; 'none' starts from random weights (default: "
        "the one that the data folder was prepared for)",
        None,
    )
    family: Optional[choice(list(FAMILIES))] = option(
        "family of the encoder; it must be the one that the data folder was prepared for (the "
        "default)",
        None,
    )
    features: Optional[str] = preset(
        "features whose embeddings join the word embedding, e.g. pos,case, or none"
    )
    feature_merge: choice(MERGES) = option(
        "how features join the word embedding: added to it (add), or set beside it and mapped "
        "back to its width by a linear map (affine)",
        "add",
    )
    feature_embed_dim: int = option(
        "width of the feature embeddings with --feature-merge affine", 20
    )
    feature_init: choice(INITS) = option(
        "initial values of the features: N(0, 0.02) (normal), or zero (the model then starts as "
        "exactly BERT)",
        "normal",
    )
    local_attention: Optional[str] = preset(LOCAL_HELP)
    local_layers: str = option(LAYERS_HELP, ALL_LAYERS)
    parent_loss_weight: Optional[float] = preset(
        "LISA: weight of the loss that teaches the last attention head of every layer to attend "
        "to each word's parent in the tree; 0 for no such loss",
        least=0,
    )
    ancestor_layers: Optional[int] = preset(
        "SGNet: number of further layers on top of BERT, in which a word sees only itself and "
        "its ancestors in the tree",
        least=0,
    )
    ancestor_mask: choice(list(ANCESTOR_MASKS)) = option(
        "SGNet: how ancestors are found: by the tree (exact); by spans: a word is an ancestor "
        "of all words between the first and last word of its subtree (span; the same unless "
        "branches cross); or, as in the authors' program, by spans and only the first subword "
        "of each word (released)",
        EXACT,
    )
    ancestor_pairs: choice(list(ANCESTOR_PAIRS)) = option(
        "SGNet: whether words of a sentence pair see the words of the other sentence (open), "
        "or, as in the authors' program, do not (closed)",
        "closed",
    )
    ancestor_mix: choice(list(MIXES)) = option(
        "SGNet: how the outputs of BERT and of the layers on top are mixed: by learnt weights "
        "(scalar), or half each (fixed)",
        "scalar",
    )
    hidden_size: Optional[int] = preset("width of the encoder's hidden states", least=1)
    num_hidden_layers: Optional[int] = preset("number of encoder layers", least=1)
    num_attention_heads: Optional[int] = preset("number of attention heads in each layer", least=1)
    intermediate_size: Optional[int] = preset("width of the feed-forward layers", least=1)
    embedding_size: Optional[int] = _given(
        "width of the embeddings (other than the encoder's only in ELECTRA and ALBERT)"
    )
    max_position_embeddings: Optional[int] = _given(
        "number of position embeddings, and so the longest input in wordpieces (two less in "
        "RoBERTa and XLM-R)"
    )
    type_vocab_size: Optional[int] = _given("number of segment embeddings")
    hidden_act: Optional[choice(list(ACTIVATIONS))] = _given(
        "activation function of the feed-forward layers"
    )
    pooler_activation: Optional[choice(list(POOLER_ACTIVATIONS))] = option(
        "activation function after the first linear map of a classifier (default: the "
        "family's own: gelu for ELECTRA, relu for DistilBERT, tanh for others)",
        None,
    )
    layer_norm_eps: Optional[float] = _given("epsilon of layer normalisation")
    dropout: Optional[float] = _given(
        "dropout on embeddings and on the outputs of attention and feed-forward blocks"
    )
    attention_dropout: Optional[float] = _given("dropout on attention weights")
    classifier_dropout: Optional[float] = option(
        "dropout before the output layer (default: --dropout)", None
    )
    freeze_layers: int = option(
        "do not train the embeddings and the first N layers; their features, gates and dual "
        "attention, which are new, are still trained",
        0,
    )
    # Written by the task: what the model was trained for.
    target: Optional[str] = written()
    labels: Optional[str] = written(longest=10_000_000)
    annotator: Optional[str] = written()
    inventories: Optional[str] = written(longest=100_000)  # see `syntax.layers.digests`
    vocabulary: Optional[str] = written()  # see `agreement.vocabulary_digest`
    text_settings: Optional[str] = written()  # see `agreement.settings_text`
    cutting: Optional[str] = written()  # see `data.manifest.Manifest.cutting`


def presets_of(cfg: Any) -> dict[str, Any]:
    """Return the options that the architecture of ``cfg`` presets."""
    return ARCHITECTURES.get(architecture(cfg), ARCHITECTURES[FAMILY])


def resolve(cfg: Any) -> None:
    """Fill every preset option that is None as the architecture of ``cfg`` says, in place.

    On the command line no option is there that is not given. Hydra fills in those that have a
    default before; see `departures`.
    """
    presets = presets_of(cfg)
    write(cfg, **{key: value for key, value in presets.items() if getattr(cfg, key, None) is None})


def departures(cfg: Any) -> dict[str, tuple[Any, Any]]:
    """Return options that are otherwise than the architecture alone presets them.

    Returns:
        Option -> what the architecture says, what ``cfg`` does; of those that have a default.
    """
    own = {key: value for key, value in presets_of(cfg).items() if key not in PLAIN | SIZES["base"]}
    given = merged(cfg, BertOptions)
    found = {key: (value, getattr(given, key)) for key, value in own.items()}
    return {key: pair for key, pair in found.items() if pair[0] != pair[1]}

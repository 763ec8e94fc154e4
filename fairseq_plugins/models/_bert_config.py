"""Options of the BERT models, and the architectures as values of them.

An architecture is a kind (what is added to BERT) and a size, e.g. ``bert_pos_minilm``. Options that
it presets are ``Optional`` with default None, "as the architecture says"; `resolve` fills them.
Base presets must never change: checkpoints may rely on them.
"""

import argparse
from dataclasses import dataclass, field
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum

from ..nn.ancestor_attention import MIXES
from ..nn.bert import ACTIVATIONS
from ..nn.infusion import INITS, MERGES
from ..nn.tree_masks import ANCESTOR_PAIRS
from ._dual_options import NO_LAYERS, DualOptions
from ._local_options import ALL_LAYERS, LAYERS_HELP, LOCAL_HELP, NO_LOCAL, LocalOptions
from ._options import NO_FEATURES, architecture, preset, write
from ._span_options import SpanOptions

FAMILY = "bert_plain"  # the registered model whose values all others are
NO_CHECKPOINT = "none"

SIZES: dict[str, dict[str, Any]] = {
    "tiny": {
        "hidden_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 512,
    },
    "minilm": {
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
    },
    "base": {
        "hidden_size": 768,
        "num_hidden_layers": 12,
        "num_attention_heads": 12,
        "intermediate_size": 3072,
    },
    "large": {
        "hidden_size": 1024,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "intermediate_size": 4096,
    },
}
PLAIN: dict[str, Any] = {
    "features": NO_FEATURES,
    "local_attention": NO_LOCAL,
    "parent_loss_weight": 0.0,
    "ancestor_layers": 0,
    "dual_layers": NO_LAYERS,
    "difference": "l1",
    "guide": "additive",
    "fusion_output": "add",
    "similarity_layers": NO_LAYERS,
    "coattention_blocks": 0,
    "coattention": "query",
    "coattention_skip": "simple",
    "span_head": "joint",
}
DUAL = {**PLAIN, "dual_layers": "0"}
COATTENTION = {**PLAIN, "coattention_blocks": 7, "span_head": "separate"}
KINDS: dict[str, dict[str, Any]] = {
    "bert_plain": PLAIN,
    "bert_pos": {**PLAIN, "features": "pos"},
    "bert_sla": {**PLAIN, "local_attention": "sla"},
    "bert_wla": {**PLAIN, "local_attention": "wla"},
    "bert_lisa": {**PLAIN, "parent_loss_weight": 1.0},
    "bert_sgnet": {**PLAIN, "ancestor_layers": 1},
    "bert_syntax_masks": {**PLAIN, "local_attention": "parent,child,sibling"},
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
}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    **{kind: {**SIZES["base"], **values} for kind, values in KINDS.items()},
    **{
        f"{kind}_{size}": {**sizes, **values}
        for kind, values in KINDS.items()
        for size, sizes in SIZES.items()
    },
}

# What a checkpoint means that was made before there was an option, where that is not its default.
BEFORE: dict[str, Any] = {"ancestor_pairs": "open"}


def _given(text: str) -> Any:
    return field(default=None, metadata={"help": f"{text} (default: the checkpoint's, or BERT's)"})


@dataclass
class BertConfig(LocalOptions, DualOptions, SpanOptions):
    """Options of BERT with a task on top."""

    pretrained: Optional[str] = field(
        default=None,
        metadata={
            "help": "Hugging Face BERT directory to start from, or all-MiniLM-L6-v2; 'none' starts "
            "from random weights (default: the one the data folder was prepared for)"
        },
    )
    features: Optional[str] = preset(
        "token features that join the word embedding: pos,case or none"
    )
    feature_merge: ChoiceEnum(MERGES) = field(
        default="add",
        metadata={
            "help": "how features meet the word embedding: added to it, or set beside it and "
            "mapped back to its width (affine)"
        },
    )
    feature_embed_dim: int = field(
        default=20, metadata={"help": "width of the features with --feature-merge affine"}
    )
    feature_init: ChoiceEnum(INITS) = field(
        default="normal",
        metadata={"help": "start of the features: N(0, 0.02), or zero (exactly BERT at step 0)"},
    )
    local_attention: Optional[str] = preset(LOCAL_HELP)
    local_layers: str = field(default=ALL_LAYERS, metadata={"help": LAYERS_HELP})
    parent_loss_weight: Optional[float] = preset(
        "LISA: weight of the loss that teaches every layer's last head to attend to each word's "
        "parent; 0 for none"
    )
    ancestor_layers: Optional[int] = preset(
        "SGNet: further layers on top in which words see only their ancestors in the tree"
    )
    ancestor_mask: ChoiceEnum(["exact", "span"]) = field(
        default="exact",
        metadata={
            "help": "SGNet: ancestors by the tree, or by the first and last word of subtrees as in "
            "its own program (the same unless branches cross)"
        },
    )
    ancestor_pairs: ChoiceEnum(list(ANCESTOR_PAIRS)) = field(
        default="closed",
        metadata={
            "help": "SGNet: whether words of a pair see the words of the other sentence (open), or "
            "as in its own program not (closed)"
        },
    )
    ancestor_mix: ChoiceEnum(list(MIXES)) = field(
        default="scalar",
        metadata={"help": "SGNet: weights of both outputs learnt (scalar), or half each (fixed)"},
    )
    hidden_size: Optional[int] = preset("width of the encoder")
    num_hidden_layers: Optional[int] = preset("number of layers")
    num_attention_heads: Optional[int] = preset("attention heads of a layer")
    intermediate_size: Optional[int] = preset("width of the feed-forward layers")
    max_position_embeddings: Optional[int] = _given("longest input in wordpieces")
    type_vocab_size: Optional[int] = _given("number of segment embeddings")
    hidden_act: Optional[ChoiceEnum(list(ACTIVATIONS))] = _given("activation")
    layer_norm_eps: Optional[float] = _given("epsilon of layer normalisation")
    dropout: Optional[float] = _given("dropout on embeddings and block outputs")
    attention_dropout: Optional[float] = _given("dropout on attention weights")
    classifier_dropout: Optional[float] = field(
        default=None, metadata={"help": "dropout before the output layer (default: --dropout)"}
    )
    freeze_layers: int = field(
        default=0,
        metadata={
            "help": "keep the embeddings and the first N layers as they are; their features, gates "
            "and dual attention, which are new, learn"
        },
    )
    # Written by the task: what the model was trained for.
    target: Optional[str] = field(default=None, metadata={"help": argparse.SUPPRESS})
    labels: Optional[str] = field(default=None, metadata={"help": argparse.SUPPRESS})
    annotator: Optional[str] = field(default=None, metadata={"help": argparse.SUPPRESS})


def resolve(cfg: Any) -> None:
    """Fill every preset option that is None as the architecture of ``cfg`` says, in place."""
    presets = ARCHITECTURES.get(architecture(cfg), ARCHITECTURES[FAMILY])
    write(cfg, **{key: value for key, value in presets.items() if getattr(cfg, key, None) is None})


def restore(cfg: Any) -> None:
    """Write into a checkpoint's options, in place, what it means by those it does not have."""
    write(cfg, **{key: value for key, value in BEFORE.items() if getattr(cfg, key, None) is None})

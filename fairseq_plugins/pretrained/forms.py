"""How directories of each family write ``config.json``: keys, defaults, and what never varies."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..nn.relative_positions import MPNET_BUCKETS, Buckets, Disentangled, Relative, Rotary

SIZES = {  # field of BertShape -> required key
    "vocabulary": "vocab_size",
    "hidden": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "intermediate": "intermediate_size",
    "positions": "max_position_embeddings",
}
RATES = {"dropout": "hidden_dropout_prob", "attention_dropout": "attention_probs_dropout_prob"}
# key -> the only supported value (also when the key is absent)
FIXED = {
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}


@dataclass(frozen=True)
class Form:
    """How to read and write a family's configuration."""

    # sizes, rates: field of `BertShape` -> key
    sizes: Mapping[str, str] = field(default_factory=lambda: SIZES)
    rates: Mapping[str, str] = field(default_factory=lambda: RATES)
    # segments, activation, norm_epsilon: keys; None if the family has no choice
    segments: str | None = "type_vocab_size"
    activation: str = "hidden_act"
    norm_epsilon: str | None = "layer_norm_eps"
    relative: Relative | None = None  # default of what `position_schemes` reads
    embedding: str | None = None  # key of the embeddings' width; None for the encoder's width
    projected: bool = False  # whether embeddings of the encoder's own width have a map, too
    # key -> the only supported value
    fixed: Mapping[str, Any] = field(default_factory=lambda: FIXED)
    # fields -> defaults of absent keys, if not as in BERT
    absent: Mapping[str, Any] = field(default_factory=dict)
    # fields -> values for random weights, if different
    drawn: Mapping[str, Any] = field(default_factory=dict)
    behind_padding: bool = False  # whether the first token's position is the padding id + 1
    # fields that are equal in all checkpoints of the family
    constants: Mapping[str, Any] = field(default_factory=dict)
    pooled: str = "tanh"  # activation after the classifier's first map
    head_dropout: str = "classifier_dropout"  # key of the dropout before a head's last map
    written: Mapping[str, Any] = field(default_factory=dict)  # further keys of a written file


_ROBERTA = Form(
    absent={"padding": 1},
    drawn={"positions": 514, "segments": 1, "norm_epsilon": 1e-5},
    behind_padding=True,
    constants={"sides": False},
    written={"bos_token_id": 0, "eos_token_id": 2},
)
_DISTILBERT = Form(
    sizes={
        "vocabulary": "vocab_size",
        "hidden": "dim",
        "layers": "n_layers",
        "heads": "n_heads",
        "intermediate": "hidden_dim",
        "positions": "max_position_embeddings",
    },
    rates={"dropout": "dropout", "attention_dropout": "attention_dropout"},
    segments=None,
    activation="activation",
    norm_epsilon=None,
    constants={"sides": False, "segments": 0, "norm_epsilon": 1e-12},
    pooled="relu",
    head_dropout="seq_classif_dropout",
)
_ALBERT = Form(
    embedding="embedding_size",
    projected=True,
    fixed={**FIXED, "num_hidden_groups": 1, "inner_group_num": 1},
    absent={
        "activation": "gelu_new",
        "dropout": 0.0,
        "attention_dropout": 0.0,
        "embedding": 128,
    },
    constants={"shared": True},
    head_dropout="classifier_dropout_prob",
    written={"num_hidden_groups": 1, "inner_group_num": 1},
)
_DEBERTA = Form(
    embedding="embedding_size",
    relative=Disentangled(),
    fixed={"conv_groups": 1, "pooler_hidden_act": "gelu"},
    absent={"segments": 0, "norm_epsilon": 1e-7},
    drawn={"absolute": False},
    constants={"projection_first": True},
    pooled="gelu",
    head_dropout="cls_dropout",
)
_IDS = ("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id")  # defaults are too large
_MODERNBERT = Form(
    rates={"dropout": "embedding_dropout", "attention_dropout": "attention_dropout"},
    segments=None,
    activation="hidden_activation",
    norm_epsilon="norm_eps",
    relative=Rotary(),
    fixed={"norm_bias": False, "attention_bias": False, "mlp_bias": False, "rope_scaling": None},
    absent={"padding": 50283, "norm_epsilon": 1e-5, "dropout": 0.0, "attention_dropout": 0.0},
    drawn={"positions": 8192},
    constants={
        "segments": 0,
        "sides": False,
        "absolute": False,
        "norm_first": True,
        "gated": True,
        "biases": False,
        "pooler_norm": True,
    },
    pooled="gelu",
    written={"classifier_pooling": "cls", **dict.fromkeys(_IDS)},
)
_MPNET = Form(
    segments=None,
    relative=Buckets(),
    # of transformers, whatever the keys say
    fixed={"relative_attention_num_buckets": MPNET_BUCKETS, "pad_token_id": 1},
    absent={"padding": 1},
    drawn={"positions": 514},
    behind_padding=True,
    constants={"segments": 0, "sides": False},
    written={"relative_attention_num_buckets": MPNET_BUCKETS, "bos_token_id": 0, "eos_token_id": 2},
)
FORMS = {  # by family name
    "bert": Form(),
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "electra": Form(
        embedding="embedding_size",
        absent={"embedding": 128},
        drawn={"embedding": None},
        pooled="gelu",
    ),
    "distilbert": _DISTILBERT,
    "albert": _ALBERT,
    "deberta-v2": _DEBERTA,
    "modernbert": _MODERNBERT,
    "mpnet": _MPNET,
}

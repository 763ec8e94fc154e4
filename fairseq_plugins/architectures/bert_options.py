"""Options of the BERT models, and the architectures as values of options.

An architecture is a kind (a plain model, or one with a method of `methods`) and a size, e.g.
``bert_pos_minilm``. Options that every architecture presets are ``Optional``; `text_kinds` replaces
their default None. Presets must never change: checkpoints may rely on them.
"""

from dataclasses import dataclass
from typing import Any, Optional

from ..methods.control_options import QuestionControls, TreeControls
from ..methods.method import with_methods
from ..methods.options import Trained, preset
from ..methods.table import METHODS
from ..nn.bert import ACTIVATIONS, POOLER_ACTIVATIONS
from ..option_flags import choice, option
from ..pretrained.families import FAMILIES

FAMILY = "bert_plain"  # the registered model; all architectures are its presets

_SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
SIZES: dict[str, dict[str, Any]] = {
    "tiny": dict(zip(_SIZES, (128, 2, 2, 512))),
    "minilm": dict(zip(_SIZES, (384, 6, 12, 1536))),
    "base": dict(zip(_SIZES, (768, 12, 12, 3072))),
    "large": dict(zip(_SIZES, (1024, 24, 16, 4096))),
}
PLAIN = {name: value for method in METHODS for name, value in method.off.items()}
KINDS: dict[str, dict[str, Any]] = {
    "bert_plain": PLAIN,
    **{
        name: {**PLAIN, **presets}
        for method in METHODS
        for name, presets in method.architectures.items()
    },
}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    kind + size: {**sizes, **values}
    for kind, values in KINDS.items()
    for size, sizes in {"": SIZES["base"], **{f"_{k}": v for k, v in SIZES.items()}}.items()
}


def _given(text: str) -> Any:
    return option(
        f"{text} (default: that of the checkpoint; without one, that of the family)", None
    )


@dataclass
class EncoderOptions(TreeControls, QuestionControls, Trained):
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
    hidden_size: Optional[int] = preset("width of the encoder's hidden states", least=1)
    num_hidden_layers: Optional[int] = preset("number of encoder layers", least=1)
    num_attention_heads: Optional[int] = preset("number of attention heads in each layer", least=1)
    intermediate_size: Optional[int] = preset("width of the feed-forward layers", least=1)
    embedding_size: Optional[int] = _given(
        "width of the embeddings (other than the encoder's only in ELECTRA, ALBERT and DeBERTa)"
    )
    max_position_embeddings: Optional[int] = _given(
        "number of position embeddings, and so the longest input in wordpieces (two less in "
        "RoBERTa, XLM-R and MPNet)"
    )
    type_vocab_size: Optional[int] = _given("number of segment embeddings")
    position_scheme: Optional[str] = _given(
        "how attention knows positions in DeBERTa and ModernBERT, as NAME=VALUE,NAME=VALUE; others "
        "have no choice"
    )
    hidden_act: Optional[choice(list(ACTIVATIONS))] = _given(
        "activation function of the feed-forward layers"
    )
    pooler_activation: Optional[choice(list(POOLER_ACTIVATIONS))] = option(
        "activation function after the first linear map of a classifier (default: the "
        "family's own: gelu for ELECTRA, DeBERTa and ModernBERT, relu for DistilBERT, tanh for "
        "others)",
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
    checkpoint_activations: bool = option(
        "keep no activations within layers in training, and compute them again in the backward "
        "pass: half the memory, 1.4 times the time, equal gradients",
        False,
    )


BertOptions = with_methods("BertOptions", EncoderOptions, METHODS)

"""Translate fairseq's folder of RoBERTa or XLM-R (``model.pt``, ``dict.txt``) to Hugging Face's.

Its options become keys of a ``config.json``, its tensors get the names there, as in transformers'
own conversion; `configuration` and `huggingface` then read both alike. Nothing of the file runs
(`door.torch_files`), and only the options below are used.
"""

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from ..door.records import close
from ..door.torch_files import read_state
from ..errors import InputError
from ..text_reading import read_lines
from .directory import DICTIONARY

FILE_NAME = "model.pt"
SPECIALS = 5  # of fairseq before the lines of a dictionary, with <mask> after them
LAYER_NORM_EPSILON = 1e-5  # torch's
BODY = re.compile(r"(?:encoder|decoder)\.sentence_encoder\.")  # of releases after and before 2020
HEADS = re.compile(r"(?:encoder|decoder)\.lm_head\.|classification_heads\.")
BUFFERS = re.compile(r"(?:.*\.)?version|.*\._float_tensor")
EMBEDDINGS = {
    "embed_tokens": "embeddings.word_embeddings",
    "embed_positions": "embeddings.position_embeddings",
    "layernorm_embedding": "embeddings.LayerNorm",
    "emb_layer_norm": "embeddings.LayerNorm",
}
PARTS = {
    "self_attn.q_proj": "attention.self.query",
    "self_attn.k_proj": "attention.self.key",
    "self_attn.v_proj": "attention.self.value",
    "self_attn.out_proj": "attention.output.dense",
    "self_attn_layer_norm": "attention.output.LayerNorm",
    "fc1": "intermediate.dense",
    "fc2": "output.dense",
    "final_layer_norm": "output.LayerNorm",
}
JOINED = re.compile(r"(layers\.\d+\.self_attn)\.in_proj_(weight|bias)")  # of old releases
LAYER = re.compile(r"layers\.(\d+)\.(.+)\.(weight|bias)")
SEGMENTS = "embeddings.token_type_embeddings.weight"  # the conversion's: one row of zeros


@dataclass
class Options:
    """fairseq's options that decide the mathematics, with its defaults (``roberta_base``)."""

    encoder_layers: int = 12
    encoder_embed_dim: int = 768
    encoder_ffn_embed_dim: int = 3072
    encoder_attention_heads: int = 12
    max_positions: int = 512
    activation_fn: str = "gelu"
    dropout: float = 0.1
    attention_dropout: float = 0.1
    encoder_normalize_before: bool = False
    layernorm_embedding: bool = True
    no_scale_embedding: bool = True
    encoder_learned_pos: bool = True
    no_token_positional_embeddings: bool = False
    adaptive_input: bool = False


# the only supported values
FIXED = {
    "encoder_normalize_before": False,
    "layernorm_embedding": True,
    "no_scale_embedding": True,
    "encoder_learned_pos": True,
    "no_token_positional_embeddings": False,
    "adaptive_input": False,
}


def read_config(directory: str | Path) -> tuple[Path, dict[str, Any]]:
    """Return the file, and its options as a ``config.json`` of RoBERTa."""
    path = Path(directory) / FILE_NAME
    options = Options(**close(options_of(read_state(path), path), Options, path))
    for name, value in FIXED.items():
        if getattr(options, name) != value:
            raise InputError(f"{path}: {name} is {getattr(options, name)}, expected {value}")
    return path, {
        "vocab_size": SPECIALS + sum(1 for _ in read_lines(path.parent / DICTIONARY)),
        "hidden_size": options.encoder_embed_dim,
        "num_hidden_layers": options.encoder_layers,
        "num_attention_heads": options.encoder_attention_heads,
        "intermediate_size": options.encoder_ffn_embed_dim,
        "max_position_embeddings": options.max_positions + 2,  # positions begin after padding, 1
        "type_vocab_size": 1,
        "hidden_act": options.activation_fn,
        "layer_norm_eps": LAYER_NORM_EPSILON,
        "pad_token_id": 1,
        "hidden_dropout_prob": options.dropout,
        "attention_probs_dropout_prob": options.attention_dropout,
    }


def options_of(state: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Return the model's options, from releases before and after Hydra."""
    cfg = state.get("cfg")
    found = cfg.get("model") if isinstance(cfg, Mapping) else state.get("args")
    found = vars(found) if isinstance(found, argparse.Namespace) else found
    if not isinstance(found, Mapping):
        raise InputError(f"{path}: no options of a model, neither 'args' nor 'cfg'")
    return found


def read_tensors(path: str | Path) -> dict[str, Tensor]:
    """Read the encoder's tensors under Hugging Face's names; unknown tensors keep their names."""
    found: dict[str, Tensor] = {}
    for name, tensor in read_state(path)["model"].items():
        plain = BODY.sub("", name, count=1) if BODY.match(name) else name
        if HEADS.match(name) or BUFFERS.fullmatch(plain):
            continue
        for new, part in _renamed(plain, tensor):
            if new in found:
                raise InputError(f"{path}: {new!r} is there twice, also as {name!r}")
            found[new] = part
    words = found.get("embeddings.word_embeddings.weight")
    if words is not None and words.dim() == 2:
        found[SEGMENTS] = words.new_zeros(1, words.shape[1])
    return found


def _renamed(name: str, tensor: Tensor) -> list[tuple[str, Tensor]]:
    """Return a tensor under its new name; a joined tensor becomes query, key and value."""
    if joined := JOINED.fullmatch(name):
        names = (f"{joined[1]}.{part}_proj.{joined[2]}" for part in "qkv")
        parts = tensor.chunk(3)
        if len(parts) == 3:
            return [pair for one, part in zip(names, parts) for pair in _renamed(one, part)]
    if (layer := LAYER.fullmatch(name)) and layer[2] in PARTS:
        return [(f"encoder.layer.{layer[1]}.{PARTS[layer[2]]}.{layer[3]}", tensor)]
    module, _, kind = name.rpartition(".")
    if module in EMBEDDINGS:
        return [(f"{EMBEDDINGS[module]}.{kind}", tensor)]
    return [(name, tensor)]

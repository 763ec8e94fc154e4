"""Tiny encoders of transformers' and fairseq's beside their tokenisers, all weights alive."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import torch
from torch import nn

from fairseq_plugins.pretrained.families import FAMILIES
from fairseq_plugins.pretrained.tokenizer_sources import read_vocabulary

SIZES = {"hidden": 24, "layers": 2, "heads": 2, "intermediate": 20, "positions": 64}
SIZES["vocabulary"] = 30  # ids that tests draw from; tables have a row for every subword

POOLED = ("bert", "roberta", "xlm-roberta", "albert", "mpnet")  # families with a pooler
OWN = {  # further keys, by family
    "electra": {"embedding_size": 14},
    "albert": {"embedding_size": 14},
    "deberta-v2": {
        "relative_attention": True,
        "position_buckets": 8,
        "norm_rel_ebd": "layer_norm",
        "share_att_key": True,
        "pos_att_type": "p2c|c2p",
        "position_biased_input": False,
    },
    "modernbert": {
        **dict.fromkeys(("bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id")),
        "global_attn_every_n_layers": 2,
        "local_attention": 6,
        "global_rope_theta": 50.0,
        "local_rope_theta": 7.0,
    },
}


@contextmanager
def in_double(family: str) -> Iterator[None]:
    """Let transformers compute in float64 where it says float32."""
    with ExitStack() as stack:
        if family in ("deberta-v2", "modernbert"):
            stack.enter_context(patch.object(torch, "float", torch.float64))
            stack.enter_context(patch.object(torch.Tensor, "float", torch.Tensor.double))
        yield


def fill(module: nn.Module) -> None:
    """Move all parameters away from zero and one."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.2)


def save_theirs(path: Path, family: str, changes: dict | None = None) -> Path:
    """Write a random model of transformers' beside a tokeniser."""
    import transformers

    vocabulary = read_vocabulary(path)
    own = {
        "vocab_size": len(vocabulary),
        "pad_token_id": vocabulary.indices[vocabulary.family.specials.pad],
        "max_position_embeddings": SIZES["positions"],
    }
    own |= OWN.get(family, {})
    names = ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"]
    if family == "distilbert":
        names = ["dim", "n_layers", "n_heads", "hidden_dim"]
    own |= dict(zip(names, SIZES.values()))
    title = FAMILIES[family].title
    config = getattr(transformers, f"{title}Config")(**{**own, **(changes or {})})
    model = getattr(transformers, f"{title}Model")(config)
    fill(model)
    model.save_pretrained(path)
    return path


def save_fairseq(path: Path, *, old: bool = False) -> nn.Module:
    """Write ``model.pt`` of fairseq's own RoBERTa beside its dictionary; return the model.

    ``old``: by the names of the published checkpoints.
    """
    from fairseq.data import Dictionary
    from fairseq.models.roberta import RobertaModel
    from fairseq.models.roberta.model import base_architecture

    dictionary = Dictionary.load(str(path / "dict.txt"))
    dictionary.add_symbol("<mask>")
    args = Namespace(
        encoder_layers=SIZES["layers"],
        encoder_embed_dim=SIZES["hidden"],
        encoder_ffn_embed_dim=SIZES["intermediate"],
        encoder_attention_heads=SIZES["heads"],
        max_positions=SIZES["positions"],
    )
    base_architecture(args)
    model = RobertaModel.build_model(args, SimpleNamespace(source_dictionary=dictionary))
    model.register_classification_head("mnli", num_classes=3)
    fill(model)
    state = model.state_dict()
    torch.save({"args": args, "model": _old(state) if old else state}, path / "model.pt")
    return model


def _old(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    found = {}
    for name, tensor in state.items():
        old = name.replace("encoder.", "decoder.", 1) if name.startswith("encoder.") else name
        old = old.replace("layernorm_embedding", "emb_layer_norm")
        if ".q_proj." in name:
            parts = [state[name.replace("q_proj", f"{part}_proj")] for part in "qkv"]
            found[old.replace("q_proj.", "in_proj_")] = torch.cat(parts)
        elif ".k_proj." not in name and ".v_proj." not in name:
            found[old] = tensor
    return found

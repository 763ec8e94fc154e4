"""Names and shapes of BERT's tensors: Hugging Face's and ours, both ways, every one accounted for.

Ours join query, key and value into one map: ``layers.N.attention.qkv`` holds the rows of query,
then key, then value. All other tensors only change their name.
"""

from collections.abc import Iterator

import torch
from torch import Tensor

from ..nn.bert import BertShape

Tensors = dict[str, Tensor]
Size = tuple[int, ...]

EMBEDDINGS = {  # ours -> theirs, under "embeddings."
    "words": "word_embeddings",
    "positions": "position_embeddings",
    "segments": "token_type_embeddings",
    "norm": "LayerNorm",
}
LAYER = {  # ours, under "layers.N." -> theirs, under "encoder.layer.N."
    "attention.out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "output_norm": "output.LayerNorm",
}
JOINED = tuple(f"attention.self.{part}" for part in ("query", "key", "value"))
KINDS = ("weight", "bias")
POOLER = "pooler.dense"
WORDS = "embeddings.word_embeddings.weight"


def renamings(shape: BertShape) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (our name, the names of theirs that it is joined from) of an encoder."""
    for ours, theirs in EMBEDDINGS.items():
        for kind in KINDS if ours == "norm" else KINDS[:1]:
            yield f"embeddings.{ours}.{kind}", (f"embeddings.{theirs}.{kind}",)
    for number in range(shape.layers):
        here, there = f"layers.{number}", f"encoder.layer.{number}"
        for kind in KINDS:
            yield (
                f"{here}.attention.qkv.{kind}",
                tuple(f"{there}.{part}.{kind}" for part in JOINED),
            )
            for ours, theirs in LAYER.items():
                yield f"{here}.{ours}.{kind}", (f"{there}.{theirs}.{kind}",)
    for kind in KINDS if shape.pooler else ():
        yield f"pooler.{kind}", (f"{POOLER}.{kind}",)


def expected_sizes(shape: BertShape) -> dict[str, Size]:
    """Return the size of every tensor of theirs."""
    D, inner = shape.hidden, shape.intermediate
    sizes: dict[str, Size] = {
        WORDS: (shape.vocabulary, D),
        "embeddings.position_embeddings.weight": (shape.positions, D),
        "embeddings.token_type_embeddings.weight": (shape.segments, D),
    }
    for _, theirs in renamings(shape):
        for name in theirs:
            if ".intermediate." in name:
                size: Size = (inner, D)
            elif ".attention." not in name and ".output.dense." in name:
                size = (D, inner)
            else:
                size = (D, D)
            if name.endswith(".bias"):
                size = size[:1]
            sizes.setdefault(name, (D,) if "LayerNorm" in name else size)
    return sizes


def to_ours(tensors: Tensors, shape: BertShape) -> Tensors:
    """Rename and join tensors of theirs, which are complete and of the right sizes."""
    return {
        ours: torch.cat([tensors[name] for name in theirs]) if len(theirs) > 1
        else tensors[theirs[0]]
        for ours, theirs in renamings(shape)
    }  # fmt: skip


def to_theirs(tensors: Tensors, shape: BertShape) -> Tensors:
    """Rename and cut tensors of ours, complete and of the right sizes; each gets its own memory."""
    found: Tensors = {}
    for ours, theirs in renamings(shape):
        for name, part in zip(theirs, tensors[ours].chunk(len(theirs)), strict=True):
            found[name] = part.clone(memory_format=torch.contiguous_format)
    return found

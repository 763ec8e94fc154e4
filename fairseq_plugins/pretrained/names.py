"""Names and sizes of tensors in every family and in our encoder, both ways and complete.

Ours join query, key and value into one map: ``layers.N.attention.qkv`` holds the rows of query,
then key, then value. All other tensors only change their name. Layers with shared weights have
one set of names.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..messages import named
from ..nn.bert import BertShape

Tensors = dict[str, Tensor]
Size = tuple[int, ...]

KINDS = ("weight", "bias")
WORDS = "embeddings.word_embeddings.weight"
EMBEDDINGS = {  # ours -> theirs, of all families
    "embeddings.words": "embeddings.word_embeddings",
    "embeddings.positions": "embeddings.position_embeddings",
    "embeddings.segments": "embeddings.token_type_embeddings",
    "embeddings.norm": "embeddings.LayerNorm",
}
JOINED = "attention.qkv"


@dataclass(frozen=True)
class Names:
    """A family's names of tensors."""

    prefix: str  # of all of them, in a model with a head
    heads: tuple[str, ...]  # prefixes of tensors of pretraining and tasks, which are left out
    # prefix of a layer's tensors, with a place for its number unless all are one
    layer: str = "encoder.layer.{}"
    # query, key and value, under ``layer``
    joined: tuple[str, str, str] = (
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
    )
    # ours, under ``layers.N``, -> theirs, under ``layer``
    parts: dict[str, str] = field(
        default_factory=lambda: {
            "attention.out": "attention.output.dense",
            "attention_norm": "attention.output.LayerNorm",
            "inner": "intermediate.dense",
            "outer": "output.dense",
            "output_norm": "output.LayerNorm",
        }
    )
    # map of embeddings to the encoder's width, if there is one
    projection: str = "embeddings_project"
    pooler: str | None = "pooler.dense"  # map of the first token's state, or None
    dense: str | None = None  # first map of the classifier of sentences, if not the pooler
    out: str = "classifier"  # last map of that classifier


_TASKS = ("classifier.", "qa_outputs.")
_DEEP = {"dense": "classifier.dense", "out": "classifier.out_proj"}
_ROBERTA = Names("roberta.", ("lm_head.", *_TASKS), **_DEEP)
_DISTILBERT = Names(
    "distilbert.",
    ("vocab_transform.", "vocab_layer_norm.", "vocab_projector.", "pre_classifier.", *_TASKS),
    layer="transformer.layer.{}",
    joined=("attention.q_lin", "attention.k_lin", "attention.v_lin"),
    parts={
        "attention.out": "attention.out_lin",
        "attention_norm": "sa_layer_norm",
        "inner": "ffn.lin1",
        "outer": "ffn.lin2",
        "output_norm": "output_layer_norm",
    },
    pooler=None,
    dense="pre_classifier",
)
_ALBERT = Names(
    "albert.",
    ("predictions.", "sop_classifier.", *_TASKS),
    layer="encoder.albert_layer_groups.0.albert_layers.0",
    joined=("attention.query", "attention.key", "attention.value"),
    parts={
        "attention.out": "attention.dense",
        "attention_norm": "attention.LayerNorm",
        "inner": "ffn",
        "outer": "ffn_output",
        "output_norm": "full_layer_layer_norm",
    },
    projection="encoder.embedding_hidden_mapping_in",
    pooler="pooler",
)
_ELECTRA_HEADS = ("discriminator_predictions.", "generator_predictions.", "generator_lm_head.")
NAMES = {  # by family name
    "bert": Names("bert.", ("cls.", *_TASKS)),
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "electra": Names(
        "electra.", (*_ELECTRA_HEADS, "sequence_summary.", *_TASKS), pooler=None, **_DEEP
    ),
    "distilbert": _DISTILBERT,
    "albert": _ALBERT,
}


def renamings(shape: BertShape, names: Names) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (our name, the names of the tensors that it joins) of an encoder."""
    for ours, theirs in _modules(shape, names):
        is_table = ours in EMBEDDINGS and not ours.endswith("norm")
        for kind in KINDS[: 1 if is_table else 2]:
            yield f"{ours}.{kind}", tuple(f"{name}.{kind}" for name in theirs)


def _modules(shape: BertShape, names: Names) -> Iterator[tuple[str, tuple[str, ...]]]:
    for ours, theirs in EMBEDDINGS.items():
        if shape.segments or ours != "embeddings.segments":
            yield ours, (theirs,)
    if shape.embedding is not None:
        yield "embeddings.projection", (names.projection,)
    for number in range(1 if shape.shared else shape.layers):
        here, there = f"layers.{number}", names.layer.format(number)
        yield f"{here}.{JOINED}", tuple(f"{there}.{part}" for part in names.joined)
        for ours, theirs in names.parts.items():
            yield f"{here}.{ours}", (f"{there}.{theirs}",)
    if shape.pooler and names.pooler is not None:
        yield "pooler", (names.pooler,)


def expected_sizes(shape: BertShape, names: Names) -> dict[str, Size]:
    """Return the size of every tensor of the family."""
    D, E, inner = shape.hidden, shape.embedding or shape.hidden, shape.intermediate
    weights: dict[str, Size] = {
        "embeddings.words": (shape.vocabulary, E),
        "embeddings.positions": (shape.positions, E),
        "embeddings.segments": (shape.segments, E),
        "embeddings.norm": (E,),
        "embeddings.projection": (D, E),
        "attention_norm": (D,),
        "inner": (inner, D),
        "outer": (D, inner),
        "output_norm": (D,),
    }
    sizes: dict[str, Size] = {}
    for ours, theirs in renamings(shape, names):
        module, _, kind = ours.rpartition(".")
        size = weights.get(module) or weights.get(module.rpartition(".")[2], (D, D))
        sizes |= dict.fromkeys(theirs, size[:1] if kind == "bias" else size)
    return sizes


def to_ours(tensors: Tensors, shape: BertShape, names: Names) -> Tensors:
    """Rename and join the family's tensors, which must be complete and of the right sizes."""
    return {
        ours: torch.cat([tensors[name] for name in theirs]) if len(theirs) > 1
        else tensors[theirs[0]]
        for ours, theirs in renamings(shape, names)
    }  # fmt: skip


def to_theirs(tensors: Tensors, shape: BertShape, names: Names) -> Tensors:
    """Rename and split our tensors, complete and of the right sizes; each gets its own memory."""
    found: Tensors = {}
    for ours, theirs in renamings(shape, names):
        for name, part in zip(theirs, tensors[ours].chunk(len(theirs)), strict=True):
            found[name] = part.clone(memory_format=torch.contiguous_format)
    return found


def unlike(found: Collection[str], expected: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield "unknown" or "missing" with the names."""
    for what, keys in (
        ("unknown", set(found) - set(expected)),
        ("missing", set(expected) - set(found)),
    ):
        if keys:
            yield what, named(sorted(keys), 6)

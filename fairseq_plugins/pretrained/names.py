"""Names and sizes of tensors in every family and in our encoder, both ways and complete.

Ours join query, key and value into one map: ``layers.N.attention.qkv`` holds the rows of query,
then key, then value. All other tensors only change their name. Layers with shared weights have
one set of names.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import torch
from torch import Tensor

from ..errors import InputError
from ..messages import named
from ..nn.bert import BertEncoder, BertShape

Tensors = dict[str, Tensor]
Size = tuple[int, ...]

KINDS = ("weight", "bias")
EMBEDDINGS = {
    "embeddings.words": "embeddings.word_embeddings",
    "embeddings.positions": "embeddings.position_embeddings",
    "embeddings.segments": "embeddings.token_type_embeddings",
    "embeddings.norm": "embeddings.LayerNorm",
}
JOINED = "attention.qkv"
PARTS = {
    "attention.out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense",
    "outer": "output.dense",
    "output_norm": "output.LayerNorm",
}


@dataclass(frozen=True)
class Names:
    """A family's names of tensors."""

    prefix: str  # of all of them, in a model with a head
    heads: tuple[str, ...]  # prefixes of tensors of pretraining and tasks, which are left out
    # prefix of a layer's tensors, with a place for its number unless all are one
    layer: str = "encoder.layer.{}"
    # query, key and value, or one for all, under ``layer``
    joined: tuple[str, ...] = (
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
    )
    # ours, under ``layers.N``, -> theirs, under ``layer``
    parts: Mapping[str, str] = field(default_factory=lambda: PARTS)
    # map of embeddings to the encoder's width, if there is one
    projection: str = "embeddings_project"
    embeddings: Mapping[str, str] = field(default_factory=lambda: EMBEDDINGS)  # ours -> theirs
    more: Mapping[str, str] = field(default_factory=dict)  # of other modules: ours -> theirs
    pooler: str | None = "pooler.dense"  # map of the first token's state, or None
    dense: str | None = None  # first map of the classifier of sentences, if not the pooler
    out: str = "classifier"  # last map of that classifier
    # whether heads of tokens are one map, as ours are; else others stand between
    plain_tokens: bool = True

    @property
    def words(self) -> str:
        """Name of the table of words."""
        return f"{self.embeddings['embeddings.words']}.weight"


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
_DEBERTA = Names(
    "deberta.",
    ("cls.", "lm_predictions.", "mask_predictions.", "pooler.", *_TASKS),
    joined=("attention.self.query_proj", "attention.self.key_proj", "attention.self.value_proj"),
    parts={
        **PARTS,
        "attention.positions.key": "attention.self.pos_key_proj",
        "attention.positions.query": "attention.self.pos_query_proj",
    },
    projection="embeddings.embed_proj",
    more={
        "relative.table": "encoder.rel_embeddings",
        "relative.norm": "encoder.LayerNorm",
        "relative.convolution.map": "encoder.conv.conv",
        "relative.convolution.norm": "encoder.conv.LayerNorm",
    },
    pooler=None,
    dense="pooler.dense",
)
_MODERNBERT = Names(
    "model.",
    ("head.", "decoder.", *_TASKS),
    layer="layers.{}",
    joined=("attn.Wqkv",),
    parts={
        "attention.out": "attn.Wo",
        "attention_norm": "attn_norm",
        "inner": "mlp.Wi",
        "outer": "mlp.Wo",
        "output_norm": "mlp_norm",
    },
    embeddings={
        "embeddings.words": "embeddings.tok_embeddings",
        "embeddings.norm": "embeddings.norm",
    },
    more={"norm": "final_norm", "pooler_norm": "head.norm"},
    pooler=None,
    dense="head.dense",
    plain_tokens=False,
)
_MPNET = Names(
    "mpnet.",
    ("lm_head.", *_TASKS),
    joined=("attention.attn.q", "attention.attn.k", "attention.attn.v"),
    parts={
        **PARTS,
        "attention.out": "attention.attn.o",
        "attention_norm": "attention.LayerNorm",
    },
    more={"relative.table": "encoder.relative_attention_bias"},
    **_DEEP,
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
    "deberta-v2": _DEBERTA,
    "modernbert": _MODERNBERT,
    "mpnet": _MPNET,
}


def renamings(shape: BertShape, names: Names) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (our name, the names of the tensors that it joins) of an encoder."""
    for ours, theirs, _ in _tensors(shape, names):
        yield ours, theirs


def expected_sizes(shape: BertShape, names: Names) -> dict[str, Size]:
    """Return the size of every tensor of the family."""
    return {
        name: (rows // len(theirs), *others)
        for _, theirs, (rows, *others) in _tensors(shape, names)
        for name in theirs
    }


def _tensors(shape: BertShape, names: Names) -> Iterator[tuple[str, tuple[str, ...], Size]]:
    """Yield (our name, the names of the tensors that it joins, our size)."""
    for ours, size in _sizes(shape).items():
        module, _, kind = ours.rpartition(".")
        if theirs := tuple(f"{name}.{kind}" for name in _joined(module, names)):
            yield ours, theirs, size


@lru_cache(maxsize=4)
def _sizes(shape: BertShape) -> dict[str, Size]:
    """Return the size of each of our tensors; nothing of these sizes is made."""
    try:
        with torch.device("meta"):
            tensors = BertEncoder(shape).state_dict()
    except (RuntimeError, TypeError):
        raise InputError("no encoder can be so large") from None
    return {name: tuple(tensor.shape) for name, tensor in tensors.items()}


def _joined(module: str, names: Names) -> tuple[str, ...]:
    """Return the modules of the family that our module joins; none if the family has none."""
    if module.startswith("layers."):
        _, number, part = module.split(".", 2)
        parts = names.joined if part == JOINED else (names.parts[part],)
        return tuple(f"{names.layer.format(number)}.{one}" for one in parts)
    own = {"embeddings.projection": names.projection, "pooler": names.pooler}
    found = {**names.embeddings, **own, **names.more}.get(module)
    return () if found is None else (found,)


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

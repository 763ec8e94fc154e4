"""Names and sizes of tensors in every family and in our encoder, both ways and complete.

Ours join query, key and value into one map: ``layers.N.attention.qkv`` holds the rows of query,
then key, then value. All other tensors only change their name. Layers with shared weights have
one set of names.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..messages import named
from ..nn.bert import BertShape
from ..nn.relative_positions import MPNET_BUCKETS, Buckets, Disentangled

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
TABLE = "relative.table"
TABLES = ("embeddings.words", "embeddings.positions", "embeddings.segments", TABLE)  # no bias
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
    for ours, theirs, size in _modules(shape, names):
        plain = ours in TABLES or not shape.biases
        plain |= ours == "embeddings.projection" and shape.projection_first
        for kind in KINDS[: 1 if plain else 2]:
            named = tuple(f"{name}.{kind}" for name in theirs)
            yield f"{ours}.{kind}", named, size if kind == "weight" else size[:1]


def _modules(shape: BertShape, names: Names) -> Iterator[tuple[str, tuple[str, ...], Size]]:
    """Yield (our name, the names that it joins, size of our weight)."""
    known = {**names.embeddings, "embeddings.projection": names.projection, **names.more}
    known |= {} if names.pooler is None else {"pooler": names.pooler}
    for ours, size in (_outside(shape) | _positions(shape)).items():
        if ours in known:
            yield ours, (known[ours],), size
    for number in range(1 if shape.shared else shape.layers):
        here, there = f"layers.{number}", names.layer.format(number)
        for ours, size in _layer(shape, number).items():
            theirs = names.joined if ours == JOINED else (names.parts[ours],)
            yield f"{here}.{ours}", tuple(f"{there}.{part}" for part in theirs), size


def _outside(shape: BertShape) -> dict[str, Size]:
    """Return our modules outside the layers, except those of `_positions`."""
    D, E = shape.hidden, shape.embedding_width
    normed = D if shape.projection_first else E
    found: dict[str, Size] = {"embeddings.words": (shape.vocabulary, E)}
    found |= {"embeddings.positions": (shape.positions, E)} if shape.absolute else {}
    found |= {"embeddings.segments": (shape.segments, E)} if shape.segments else {}
    found["embeddings.norm"] = (normed,)
    found |= {} if shape.embedding is None else {"embeddings.projection": (D, E)}
    found |= {"norm": (D,)} if shape.norm_first else {}
    found |= {"pooler": (D, D)} if shape.pooler else {}
    return found | ({"pooler_norm": (D,)} if shape.pooler and shape.pooler_norm else {})


def _layer(shape: BertShape, number: int) -> dict[str, Size]:
    D, inner, relative = shape.hidden, shape.intermediate, shape.relative
    found: dict[str, Size] = {JOINED: (3 * D, D), "attention.out": (D, D)}
    found |= {} if shape.norm_first and number == 0 else {"attention_norm": (D,)}
    found["inner"] = (2 * inner if shape.gated else inner, D)
    found |= {"outer": (D, inner), "output_norm": (D,)}
    if isinstance(relative, Disentangled) and not relative.shared:
        own = {"key": relative.content_to_position, "query": relative.position_to_content}
        found |= {f"attention.positions.{part}": (D, D) for part, there in own.items() if there}
    return found


def _positions(shape: BertShape) -> dict[str, Size]:
    """Return our modules of relative positions that all layers share."""
    relative, D = shape.relative, shape.hidden
    if isinstance(relative, Buckets):
        return {TABLE: (MPNET_BUCKETS, shape.heads)}
    if not isinstance(relative, Disentangled):
        return {}
    found: dict[str, Size] = {TABLE: (2 * relative.span, D)}
    found |= {"relative.norm": (D,)} if relative.normed else {}
    if relative.kernel:
        found |= {"relative.convolution.map": (D, D, relative.kernel)}
        found |= {"relative.convolution.norm": (D,)}
    return found


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

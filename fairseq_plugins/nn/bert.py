"""An encoder of BERT's kind, with exchangeable attention per layer, computed without padding.

Devlin et al. 2019, "BERT": h_0 = LayerNorm(word + position + segment), then L layers of
self-attention and a feed-forward map, each followed by LayerNorm(x + f(x)). Other families are
values of a `BertShape`: positions that begin after the padding id (Liu et al. 2019, "RoBERTa"),
no segments (Sanh et al. 2019, "DistilBERT"), embeddings of another width with a map
(Clark et al. 2020, "ELECTRA"), one layer's weights in all layers (Lan et al. 2020, "ALBERT"),
relative positions (`nn.relative_positions`: "DeBERTa", "ModernBERT", "MPNet"), and LayerNorm before
its block, gated feed-forward layers and no biases (Warner et al. 2024, "ModernBERT").
`pretrained.huggingface` loads a pretrained checkpoint; the hidden states then equal the
reference's.

Features (Sundararaman et al. 2019, "BERT + POS") join the word embedding before the first
LayerNorm; see `nn.infusion.FeatureInfusion`.

Letters: B batch, S length, N real tokens of the batch, D width, E width of embeddings, F features,
L layers, H heads.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from .attention import GlobalMixer, SelfAttention
from .context import AttentionContext
from .dropout import Dropout
from .factors import clear_padding
from .packing import BatchLayout, Known
from .prepacked import FUSED, PrepackedLinear
from .recomputed import computed
from .relative_positions import Relative, place, shared_part

ACTIVATIONS = {
    "gelu": functional.gelu,
    "gelu_new": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
}
IN_PLACE = {  # the same, without room for another (N, intermediate)
    "gelu": torch.ops.aten.gelu_,
    "gelu_new": partial(torch.ops.aten.gelu_, approximate="tanh"),
    "relu": torch.relu_,
}
POOLER_ACTIVATIONS = {
    "tanh": torch.tanh,
    "gelu": ACTIVATIONS["gelu"],
    "relu": ACTIVATIONS["relu"],
}
INIT_STD = 0.02


@dataclass(frozen=True)
class BertShape:
    """Sizes and constants of an encoder, as in a checkpoint's configuration."""

    vocabulary: int  # number of wordpieces V
    hidden: int  # width D
    layers: int  # number of layers L
    heads: int  # attention heads H of a layer
    intermediate: int  # width of the feed-forward layer
    positions: int = 512  # number of position embeddings
    segments: int = 2  # number of segment embeddings; may be 0
    activation: str = "gelu"  # ``gelu`` | ``gelu_new`` | ``relu``
    norm_epsilon: float = 1e-12  # of LayerNorm
    dropout: float = 0.1  # on embeddings and on the output of every block
    attention_dropout: float = 0.1  # on attention weights
    padding: int = 0  # id of the padding wordpiece
    pooler: bool = True  # whether there is a map for the first token's state
    pooler_activation: str = "tanh"  # after that map: ``tanh`` | ``gelu`` | ``relu``
    # width of the embeddings E, with a map to D; None for D without a map
    embedding: int | None = None
    position_offset: int = 0  # position embedding of the first token
    # whether two segment embeddings distinguish the texts of a pair; else the first one is added
    # everywhere
    sides: bool = True
    shared: bool = False  # whether all layers use the first one's weights
    absolute: bool = True  # whether position embeddings are added to the words'
    relative: Relative | None = None  # how attention knows positions; None: it does not
    norm_first: bool = False  # whether LayerNorm stands before each block, and behind the last
    gated: bool = False  # whether half of the feed-forward layer multiplies the other half
    biases: bool = True  # of linear maps and LayerNorm
    # whether the embeddings' map, which then has no bias, stands before LayerNorm
    projection_first: bool = False
    pooler_norm: bool = False  # whether LayerNorm follows the pooler's activation

    @property
    def added(self) -> "BertShape":
        """Shape of layers that a method adds: BERT's own, without relative positions."""
        return replace(self, relative=None, norm_first=False, gated=False, biases=True)

    @property
    def embedding_width(self) -> int:
        """Width of the embeddings E."""
        return self.hidden if self.embedding is None else self.embedding

    @property
    def longest(self) -> int:
        """Longest input in wordpieces."""
        return self.positions - self.position_offset


@dataclass(frozen=True)
class BertOutput:
    """Output of an encoder."""

    rows: Tensor  # last hidden states of the real tokens, (N, D)
    layout: BatchLayout  # their places in the batch
    # hidden states (N, D) before the first and after every layer; empty unless requested
    layers: Sequence[Tensor] = ()
    outputs: Any = None  # further outputs of the layers, `context.LayerOutputs`

    @property
    def first(self) -> Tensor:
        """State of every sentence's first token ([CLS]), (B, D)."""
        return self.rows.index_select(0, self.layout.first_rows)

    def __getitem__(self, index: int) -> Tensor:
        """Return the states as part 0: fairseq's NaN detector reads first parts of outputs."""
        return (self.rows,)[index]


class BertEmbeddings(nn.Module):
    """Sum of word, position and segment embeddings, normalised, and mapped to width D.

    Args:
        shape: sizes.
        features: optional module that joins features to the word embedding: ``features(word (N, E),
            factors (N, F)) -> (N, E)``.
    """

    def __init__(self, shape: BertShape, features: nn.Module | None = None) -> None:
        super().__init__()
        width = shape.embedding_width
        self.words = nn.Embedding(shape.vocabulary, width, padding_idx=shape.padding)
        self.positions = nn.Embedding(shape.positions, width) if shape.absolute else None
        self.segments = nn.Embedding(shape.segments, width) if shape.segments else None
        self.maps_first = shape.projection_first
        self.norm = layer_norm(shape, shape.hidden if self.maps_first else width)
        self.dropout = Dropout(shape.dropout)
        wider = shape.embedding is not None
        self.projection = (
            nn.Linear(width, shape.hidden, bias=not self.maps_first) if wider else None
        )
        self.features = features
        self.offset, self.sides = shape.position_offset, shape.sides and shape.segments > 1

    def forward(
        self, tokens: Tensor, segments: Tensor | None, layout: BatchLayout, factors: Tensor | None
    ) -> Tensor:
        """Embed a batch as states of its real tokens, (N, D); see `BertEncoder.forward`.

        Raises:
            ValueError: features are missing.
        """
        word = self.words(layout.pack(tokens))  # (N, E)
        if self.features is not None:
            if factors is None:
                raise ValueError("this encoder reads features, but the batch has no src_factors")
            word = self.features(word, layout.pack(factors))  # (N, E)
        if self.segments is not None:
            one = segments is None or not self.sides
            # (E,) or (N, E)
            word = word + (self.segments.weight[0] if one else self.segments(layout.pack(segments)))
        if self.positions is not None:
            places = layout.positions + self.offset if self.offset else layout.positions  # (N,)
            word = word + functional.embedding(places, self.positions.weight)  # (N, E)
        if self.projection is None:
            return self.dropout(self.norm(word))  # (N, D)
        if self.maps_first:
            return self.dropout(self.norm(self.projection(word)))  # (N, D)
        return self.projection(self.dropout(self.norm(word)))  # (N, D)


class BertLayer(nn.Module):
    """Attention and feed-forward block, each followed by residual and LayerNorm.

    With ``norm_first`` LayerNorm stands before each block, but not before the attention of the
    ``first`` layer, whose states are normalised. The attention is the layer's self-attention, or
    another one, with `join`.
    """

    def __init__(self, shape: BertShape, attention: nn.Module, *, first: bool = False) -> None:
        super().__init__()
        self.attention: Any = attention
        self.norm_first, self.gated = shape.norm_first, shape.gated
        self.attention_norm: Any = None if first and self.norm_first else layer_norm(shape)
        wide = shape.intermediate * (1 + self.gated)
        self.inner = nn.Linear(shape.hidden, wide, bias=shape.biases)
        self.outer = nn.Linear(shape.intermediate, shape.hidden, bias=shape.biases)
        self.output_norm = layer_norm(shape)
        self.activation = ACTIVATIONS[shape.activation]
        self.kind = shape.activation
        self.dropout = Dropout(shape.dropout)

    @property
    def maps(self) -> tuple[nn.Linear, ...]:
        """Its linear maps, except those of parts added to its attention."""
        return self.attention.qkv, self.attention.out, self.inner, self.outer

    def forward(self, rows: Tensor, context: AttentionContext) -> Tensor:
        """Return new states (N, D) from states (N, D)."""
        if not self.norm_first:
            return self.join(rows, self.attention(rows, context))
        normed = rows if self.attention_norm is None else self.attention_norm(rows)
        rows = self.dropout.add(rows, self.attention(normed, context))
        return self.dropout.add(rows, self.outer(self._widened(self.output_norm(rows))))

    def join(self, rows: Tensor, attended: Tensor) -> Tensor:
        """Return new states (N, D) from old states and attention's output, (N, D) each."""
        rows = self.attention_norm(self.dropout.add(rows, attended))  # (N, D)
        changed = self.outer(self._widened(rows))  # (N, D)
        return self.output_norm(self.dropout.add(rows, changed))

    def _widened(self, rows: Tensor) -> Tensor:
        """Map (N, D) to (N, intermediate), the activation included."""
        if self.gated:
            wide, gate = self.inner(rows).chunk(2, -1)
            if torch.is_grad_enabled():
                return self.activation(wide) * gate
            return IN_PLACE[self.kind](wide).mul_(gate)
        if torch.is_grad_enabled():
            return self.activation(self.inner(rows))
        if isinstance(self.inner, PrepackedLinear) and self.kind in FUSED:
            return self.inner.activated(rows, self.kind)
        return IN_PLACE[self.kind](self.inner(rows))

    def share(self, owner: "BertLayer") -> None:
        """Use the weights of another layer; added parts stay its own."""
        for mine, theirs, names in (
            (self, owner, ("attention_norm", "inner", "outer", "output_norm")),
            (self.attention, owner.attention, ("qkv", "out")),
        ):
            for name in names:
                delattr(mine, name)
                vars(mine)[name] = getattr(theirs, name)  # not registered: saved once


class BertEncoder(nn.Module):
    """BERT, or another family, without a task.

    Args:
        shape: sizes.
        attention: makes the self-attention of layer i (default: plain attention everywhere).
        features: joins features to the word embedding; see `BertEmbeddings`.
        top: further layers: ``top(rows, context)`` returns new states (N, D); see
            `nn.ancestor_attention`.
        punctuation: whether subwords of the vocabulary are punctuation signs, (V,), for attention
            that needs it; not a weight, so no checkpoint holds it.
    """

    recomputes = False  # see `recomputed`

    def __init__(
        self,
        shape: BertShape,
        attention: Callable[[int], SelfAttention] | None = None,
        features: nn.Module | None = None,
        top: nn.Module | None = None,
        punctuation: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.shape = shape
        make = attention or (lambda _: plain_attention(shape))
        self.embeddings = BertEmbeddings(shape, features)
        self.relative: Any = shared_part(shape)
        numbers = range(shape.layers)
        layers = [BertLayer(shape, place(make(i), shape, i), first=not i) for i in numbers]
        self.layers: Any = nn.ModuleList(layers)
        self.norm = layer_norm(shape) if shape.norm_first else None
        for layer in layers[1:] if shape.shared else ():
            layer.share(layers[0])
        width = shape.hidden
        pooler = nn.Linear(width, width, bias=shape.biases) if shape.pooler else None
        self.pooler: Any = pooler
        self.pooler_norm = layer_norm(shape) if shape.pooler and shape.pooler_norm else None
        own = self.embeddings
        tables = (own.words, own.positions, own.segments, own.projection)
        owners = layers[:1] if shape.shared else layers
        maps = (part for layer in owners for part in layer.maps)
        placed = (self.relative, *(layer.attention.positions for layer in owners))
        for part in filter(None, (*tables, *maps, self.pooler, *placed)):
            part.apply(draw)
        self.top = top
        self.register_buffer("punctuation", punctuation, persistent=False)

    def forward(
        self,
        tokens: Tensor,
        segments: Tensor | None = None,
        token_positions: Tensor | None = None,
        factors: Tensor | None = None,
        *,
        words: Tensor | None = None,
        heads: Tensor | None = None,
        similarity: Tensor | None = None,
        need_weights: bool = False,
        need_layers: bool = False,
        known: Known | None = None,
        layout: BatchLayout | None = None,
    ) -> BertOutput:
        """Encode a batch.

        Args:
            tokens: wordpiece ids (B, S), padding on either side.
            segments: (B, S), or None for single sentences.
            token_positions: (N,) flat positions of the real tokens, if known (saves a wait for a
                GPU).
            factors: feature ids (B, S, F), for an encoder with features.
            words, heads, similarity: for attention that needs them, see `AttentionContext`.
            need_weights, need_layers: whether to return attention weights, states of all layers.
            known: sizes of the batch known to the host, see `BatchLayout`.
            layout: of the batch (default: every token but the padding wordpiece is real).
        """
        if layout is None:
            layout = BatchLayout.of(tokens.eq(self.shape.padding), token_positions, known=known)
        told = (segments, words, heads, similarity, self._signs(tokens))
        context = AttentionContext(layout, *told, need_weights)
        states = [self.embeddings(tokens, segments, layout, factors)]  # (N, D) each
        if self.relative is not None:
            context.relative = self.relative(layout, states[0])
        for number, layer in enumerate(self.layers):
            states.append(computed(layer, states[-1], context, again=self.recomputes))
            if number == 0 and getattr(self.relative, "convolution", None) is not None:
                states[1] = self.relative.convolution(states[0], states[1], layout)
        if self.norm is not None:
            states[-1] = self.norm(states[-1])
        if self.top is not None:
            states.append(computed(self.top, states[-1], context, again=self.recomputes))
        return BertOutput(states[-1], layout, states if need_layers else [], context.outputs)

    def _signs(self, tokens: Tensor) -> Tensor | None:
        """Return the tokens that are punctuation signs, (B, S), if attention needs them."""
        return None if self.punctuation is None else self.punctuation[tokens]

    def pool(self, output: BertOutput) -> Tensor:
        """Return one vector per sentence, (B, D): the pooler's map of the first token's state."""
        found = POOLER_ACTIVATIONS[self.shape.pooler_activation](self.pooler(output.first))
        return found if self.pooler_norm is None else self.pooler_norm(found)  # (B, D)


def plain_attention(shape: BertShape) -> SelfAttention:
    """Return BERT's own self-attention."""
    mixer = GlobalMixer(shape.attention_dropout)
    return SelfAttention(shape.hidden, shape.heads, mixer, biases=shape.biases)


def layer_norm(shape: BertShape, width: int | None = None) -> nn.LayerNorm:
    """Return LayerNorm over the encoder's width D, or another width."""
    return nn.LayerNorm(width or shape.hidden, eps=shape.norm_epsilon, bias=shape.biases)


def draw(module: nn.Module) -> None:
    """Initialise a linear map or an embedding as in BERT: N(0, 0.02), biases and padding zero."""
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=INIT_STD)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
        clear_padding(module)

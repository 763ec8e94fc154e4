"""Positions that attention knows by itself: a rotation of queries and keys, or biases of scores.

A value (`Rotary`, `Buckets`, `Disentangled`) says how, from a family's configuration. It has two
parts. The encoder's part, made by `shared_part`, computes once per batch what all layers use; its
result is `AttentionContext.relative`. The part of a layer, `positions` of a `SelfAttention`, takes
queries, keys and values (N, 3 D) and returns them as scores need them, with the bias of each block:

    softmax(Q K' / sqrt(K) + B) V

No mixer knows families: local attention, masks and gates act on these scores. Distances of dual
attention are those of contents (`nn.dual_attention`), before any position.

Letters: N packed tokens, n sentences of l tokens in a block, H heads of size K, D = H K.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from .dropout import Dropout
from .packing import BatchLayout

MPNET_BUCKETS, MPNET_FURTHEST = 32, 128  # the same in all its checkpoints

Placed = tuple[Tensor, list[Tensor] | None]  # queries, keys, values; the bias of each block


@dataclass(frozen=True)
class Rotary:
    """Rotated queries and keys, some layers with a window (Warner et al. 2024, "ModernBERT").

    Su et al. 2021, "RoFormer", eq. 15: numbers k and k + K/2 of a head are turned together.
    """

    global_base: float = 160000.0  # of the angles in layers that see all tokens
    local_base: float = 10000.0  # in layers with a window
    window: int = 128  # a token sees keys at most half of this away, in layers with a window
    every: int = 3  # layers 0, 3, 6 ... see all tokens

    def reach(self, layer: int) -> int | None:
        """Return how far a layer sees to each side; None if it sees all tokens."""
        return self.window // 2 if layer % self.every else None


@dataclass(frozen=True)
class Buckets:
    """A learnt number for each head and distance (Song et al. 2020, "MPNet").

    Distances share numbers as in Raffel et al. 2020, "T5", section 2.1.
    """


@dataclass(frozen=True)
class Disentangled:
    """Products of contents and learnt vectors of distances (He et al. 2021, "DeBERTa", eq. 4)."""

    furthest: int = 512  # distance from which on all are alike
    buckets: int = 256  # of distances, to each side; 0: each distance has its own vector
    content_to_position: bool = True  # whether queries meet the vectors
    position_to_content: bool = True  # whether keys meet them
    # whether the maps of contents make queries and keys of the vectors, too; else own maps
    shared: bool = True
    normed: bool = True  # whether LayerNorm precedes these maps
    kernel: int = 0  # width of a convolution beside the first layer; 0: none
    kernel_activation: str = "tanh"  # behind it: ``tanh`` | ``gelu`` | ``relu``

    @property
    def span(self) -> int:
        """Number of vectors for each direction."""
        return self.buckets or self.furthest

    @property
    def terms(self) -> int:
        """Number of products in a score."""
        return 1 + self.content_to_position + self.position_to_content


Relative = Rotary | Buckets | Disentangled


class Angles(nn.Module):
    """The encoder's part of `Rotary`: cosines and sines of every token, for both bases."""

    def __init__(self, form: Rotary, size: int) -> None:
        super().__init__()
        self.bases, self.size = (form.global_base, form.local_base), size

    def forward(self, layout: BatchLayout, like: Tensor) -> dict[float, tuple[Tensor, Tensor]]:
        """Return base -> cosines and sines, (N, 1, K / 2) each, of angles s base^(-2 k / K)."""
        wide = torch.promote_types(like.dtype, torch.float32)
        powers = torch.arange(0, self.size, 2, device=like.device, dtype=wide) / self.size
        places = layout.positions[:, None, None].to(wide)
        turns = {base: places * (1 / base**powers) for base in self.bases}
        return {base: (turn.cos(), turn.sin()) for base, turn in turns.items()}


class Rotation(nn.Module):
    """A layer's part of `Rotary`."""

    def __init__(self, base: float) -> None:
        super().__init__()
        self.base = base

    def forward(self, qkv: Tensor, maps: Any, heads: int, context: Any) -> Placed:
        """Turn queries and keys."""
        return _Turned.apply(qkv, *context.relative[self.base], heads), None


class _Turned(torch.autograd.Function):
    """Queries, keys and values, (N, 3 D), with queries and keys turned by given angles."""

    @staticmethod
    def forward(ctx: Any, qkv: Tensor, cosine: Tensor, sine: Tensor, heads: int) -> Tensor:
        ctx.save_for_backward(cosine, sine)
        ctx.heads = heads
        return turn(qkv, cosine, sine, heads)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        cosine, sine = ctx.saved_tensors
        return turn(gradient, cosine, -sine, ctx.heads), None, None, None


def turn(qkv: Tensor, cosine: Tensor, sine: Tensor, heads: int) -> Tensor:
    """Turn numbers k and k + K/2 of each query and key in (N, 3 D) by angles (N, 1, K/2)."""
    out, width = qkv.clone(), qkv.shape[1] // 3
    first, second = qkv[:, : 2 * width].unflatten(1, (2 * heads, 2, -1)).unbind(2)  # (N, 2 H, K/2)
    new = out[:, : 2 * width].unflatten(1, (2 * heads, 2, -1))  # (N, 2 H, 2, K/2)
    new[:, :, 0].mul_(cosine).addcmul_(second, sine.to(qkv.dtype), value=-1)
    new[:, :, 1].mul_(cosine).addcmul_(first, sine.to(qkv.dtype))
    return out


class BucketBiases(nn.Module):
    """The encoder's part of `Buckets`: the bias of each block, for all layers."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.table = nn.Embedding(MPNET_BUCKETS, heads)

    def forward(self, layout: BatchLayout, like: Tensor) -> list[Tensor]:
        """Return the bias of each block, (1, H, l, l)."""
        return [self._of(block.length, like.device) for block in layout.blocks]

    def _of(self, length: int, device: torch.device) -> Tensor:
        away = distances(length, device)[1:]  # (2 l,)
        rows = self.table(mpnet_bucket(away)).T  # (H, 2 l)
        return skewed(rows[:, None].expand(-1, length, -1))[None]


class SharedBiases(nn.Module):
    """A layer's part of `Buckets`."""

    def forward(self, qkv: Tensor, maps: Any, heads: int, context: Any) -> Placed:
        """Add the biases that all layers share."""
        return qkv, context.relative


@dataclass(frozen=True)
class Vectors:
    """Vectors of the distances in a batch, from l to -l for the longest block."""

    used: Tensor  # vectors that occur, (R, D)
    index: Tensor | None  # which of them stands for each distance, (2 l + 1,); None: all in order
    length: int  # l


class DistanceVectors(nn.Module):
    """The encoder's part of `Disentangled`: the vectors of distances, and the convolution."""

    def __init__(self, form: Disentangled, hidden: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.form, self.stretch = form, stretch(form)
        self.table = nn.Embedding(2 * form.span, hidden)
        self.norm = nn.LayerNorm(hidden, eps=epsilon) if form.normed else None
        self.convolution = Convolution(form, hidden, epsilon, dropout) if form.kernel else None

    def forward(self, layout: BatchLayout, like: Tensor) -> Vectors:
        """Return the vectors of the distances in a batch."""
        form, length = self.form, max([1, *(block.length for block in layout.blocks)])
        away = deberta_bucket(distances(length, like.device), form.buckets, self.stretch)
        index = (away + form.span).clamp(0, 2 * form.span - 1)  # (2 l + 1,), falling
        own = min(form.span, form.buckets // 2 or form.span)  # distances with vectors of their own
        if not layout.keeps_padding and length < own:  # graphs do not depend on lengths
            top = form.span + length
            used, index = self.table.weight[top - 2 * length : top + 1].flip(0), None
        else:
            used = self.table.weight
        return Vectors(used if self.norm is None else self.norm(used), index, length)


class DisentangledScores(nn.Module):
    """A layer's part of `Disentangled`: biases from contents and vectors of distances."""

    def __init__(self, form: Disentangled, hidden: int, dropout: float) -> None:
        super().__init__()
        self.form, self.dropout = form, Dropout(dropout)
        own = partial(nn.Linear, hidden, hidden)
        self.key = own() if form.content_to_position and not form.shared else None
        self.query = own() if form.position_to_content and not form.shared else None

    def forward(self, qkv: Tensor, maps: Any, heads: int, context: Any) -> Placed:
        """Divide queries by the root of the number of products, and compute biases.

        Args:
            qkv: queries, keys and values, (N, 3 D).
            maps: makes these from states.
            heads: H.
            context: of the batch.
        """
        form, width = self.form, qkv.shape[1] // 3
        scale = qkv.new_full((3, width), 1.0)
        scale[0] = form.terms**-0.5
        placed = qkv * scale.flatten()
        keys, queries = self._by_distance(maps, heads, context.relative)
        longest, biases, size = context.relative.length, [], width // heads
        for block in context.layout.blocks:
            query, key = block.take(placed[:, : 2 * width]).unflatten(-1, (2, heads, -1)).unbind(2)
            shown = slice(longest - block.length, longest + block.length)
            parts = []
            if form.content_to_position:
                parts.append(skewed(query.transpose(1, 2) @ keys[:, :, shown]))
            if form.position_to_content:
                scores = key.transpose(1, 2) @ queries[:, :, shown]
                parts.append(skewed(scores).mT * form.terms**-0.5)
            biases.append(sum(parts[1:], parts[0]) * size**-0.5)  # (n, H, l, l)
        return placed, biases

    def _by_distance(self, maps: Any, heads: int, vectors: Vectors) -> tuple[Tensor, Tensor]:
        """Return keys and queries of the distances, (H, K, 2 l) each.

        Keys are in the order of l - 1, ..., -l, queries in that of 1 - l, ..., l.
        """
        used = self.dropout(vectors.used)
        if self.form.shared:
            queries, keys, _ = maps(used).chunk(3, -1)  # (R, D)
        else:
            queries, keys = (used if map is None else map(used) for map in (self.query, self.key))
        if vectors.index is not None:
            queries, keys = (one.index_select(0, vectors.index) for one in (queries, keys))
        keys, queries = keys[1:], queries.flip(0)[1:]
        return tuple(one.unflatten(1, (heads, -1)).permute(1, 2, 0) for one in (keys, queries))


class Convolution(nn.Module):
    """A convolution of the embeddings beside the first layer (DeBERTa-v2)."""

    def __init__(self, form: Disentangled, hidden: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.map = nn.Conv1d(hidden, hidden, form.kernel, padding=(form.kernel - 1) // 2)
        self.norm = nn.LayerNorm(hidden, eps=epsilon)
        self.dropout = Dropout(dropout)
        self.activation = {"tanh": torch.tanh, "gelu": functional.gelu, "relu": torch.relu}[
            form.kernel_activation
        ]

    def forward(self, embedded: Tensor, rows: Tensor, layout: BatchLayout) -> Tensor:
        """Return new states (N, D) from embeddings and the first layer's states, (N, D) each."""
        found = []
        for block in layout.blocks:
            seen = block.take(embedded)  # (n, l, D)
            if block.layout is not None:  # rows of padding may be computed
                seen = seen.masked_fill(block.layout.padding_mask[:, :, None], 0.0)
            found.append(block.give(self.map(seen.mT).mT))
        return self.norm(rows + self.activation(self.dropout(torch.cat(found))))


def shared_part(shape: Any) -> nn.Module | None:
    """Return the encoder's part for a `nn.bert.BertShape`, or None."""
    form = shape.relative
    if isinstance(form, Rotary):
        return Angles(form, shape.hidden // shape.heads)
    if isinstance(form, Buckets):
        return BucketBiases(shape.heads)
    if isinstance(form, Disentangled):
        return DistanceVectors(form, shape.hidden, shape.norm_epsilon, shape.dropout)
    return None


def place(attention: Any, shape: Any, layer: int) -> Any:
    """Give a `SelfAttention` its part of a shape's positions, and return it."""
    form = shape.relative
    if isinstance(form, Rotary):
        reach = form.reach(layer)
        attention.positions = Rotation(form.global_base if reach is None else form.local_base)
        attention.limit(reach)
    elif isinstance(form, Buckets):
        attention.positions = SharedBiases()
    elif isinstance(form, Disentangled):
        attention.positions = DisentangledScores(form, shape.hidden, shape.dropout)
    return attention


def distances(length: int, device: torch.device) -> Tensor:
    """Return the distances query minus key from ``length`` down to its negative."""
    return torch.arange(length, -length - 1, -1, device=device)


def skewed(rows: Tensor) -> Tensor:
    """Return element (i, j) from column j - i + l - 1: (..., l, 2 l) to (..., l, l)."""
    length = rows.shape[-2]
    flat = rows.flatten(-2)[..., length - 1 : length - 1 + length * (2 * length - 1)]
    return flat.unflatten(-1, (length, 2 * length - 1))[..., :length]


def mpnet_bucket(away: Tensor) -> Tensor:
    """Return the bucket of each distance query minus key."""
    half = MPNET_BUCKETS // 2
    exact, far = half // 2, away.abs()
    share = (far.clamp(min=1).float() / exact).log() / math.log(MPNET_FURTHEST / exact)
    large = (exact + (share * (half - exact)).long()).clamp(max=half - 1)
    return torch.where(far < exact, far, large) + half * (away < 0)


def stretch(form: Disentangled) -> float:
    """Return the logarithm of the furthest distance over half of the buckets; 0 without buckets.

    It is rounded to float32, as in the authors' program.
    """
    if not form.buckets:
        return 0.0
    share = (form.furthest - 1) / (form.buckets // 2)
    return torch.tensor(share, dtype=torch.float32, device="cpu").log().item()


def deberta_bucket(away: Tensor, buckets: int, stretch: float) -> Tensor:
    """Return the bucket of each distance: itself up to half of the buckets, then by logarithms.

    For ``stretch`` see the function of this name.
    """
    if not buckets:
        return away
    middle = buckets // 2
    far = away.abs().clamp(min=middle).float()
    share = (far / middle).log() / stretch
    large = (share * (middle - 1)).ceil().long() + middle
    return torch.where(away.abs() <= middle, away, large * away.sign())

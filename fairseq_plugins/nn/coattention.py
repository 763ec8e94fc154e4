"""BERTQA: directed coattention between a question and its context.

Chadha and Sood 2019, "BERTQA - Attention on Steroids", section 3. BERT's states E are parted into
the question's and the context's (eq. 1-2); in each block either side gets its own queries, keys and
values (eq. 3, six maps), attends (eq. 4), and passes a feed-forward layer of its own; behind the
last block both streams, side by side, are merged by two convolutions, and a skip connection adds E.

Two wirings. ``literal``, as published: the context's stream attends from the question's rows to the
context's, is added to the context's, and everything outside the context's rows is masked again
before the next block. The question's rows of that stream are thus lost in every block but the last,
the context's rows attend with the same query (the bias), and nothing of the question ever reaches
them: tests prove it. It costs accordingly little, for what is lost is not computed. ``query``: the
context's rows attend to the question's and are added to what attended, and the other way round.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from .bert import ACTIVATIONS, BertLayer, BertShape, draw, plain_attention
from .context import AttentionContext
from .convolution import ConvolutionStack
from .cross_attention import CrossAttention
from .packing import BatchLayout, Side, Sides

WIRINGS = ("query", "literal")
SKIPS = ("none", "simple", "transformer", "highway")
LOCAL = ("none", "shared", "per-block")
LOCAL_WIDTH, LOCAL_SHARE = 7, 3  # Figure 2: 768 channels, 256 between
MERGE_WIDTH = 3
CARRY = -1.0  # start of a highway's gate: mostly E, as Srivastava et al. 2015 advise

Weights = tuple[Tensor, Tensor]  # context to question (B, H, Sc, Sq); question to context


class CoattentionBlock(nn.Module):
    """One block: a cross-attention, a feed-forward layer and their norms for each stream.

    Args:
        shape: sizes of the encoder below.
        wiring: of `WIRINGS`.
        last: whether this is the last block, which in ``literal`` needs all rows of both streams.
    """

    def __init__(self, shape: BertShape, wiring: str, last: bool) -> None:
        super().__init__()
        self.context, self.question = (_cross_layer(shape) for _ in range(2))
        self.wiring, self.last = wiring, last

    def forward(
        self, context: Tensor, question: Tensor, sides: Sides, local: Tensor | None, *, show: bool
    ) -> tuple[Tensor, Tensor, Weights | None]:
        """Change both streams.

        Args:
            context: the context's rows of its stream, (n, D).
            question: the question's rows of its stream, (m, D).
            sides: of the batch.
            local: output of convolutions to add to attention, (N, D), or None.
            show: whether to return attention weights.

        Returns:
            Both streams, each with the rows of its side, or, from the last block of ``literal``,
            all rows (N, D); and the weights.
        """
        streams = (
            _Stream(self.context, context, sides.context, question, sides.question),
            _Stream(self.question, question, sides.question, context, sides.context),
        )
        if self.wiring == "query":
            (context, c2q), (question, q2c) = (_by_query(one, local, show=show) for one in streams)
            return context, question, (c2q, q2c) if show else None
        if not self.last and not show:
            context, question = (_within(one, local) for one in streams)
            return context, question, None
        found = [_by_memory(one, sides.layout, local, show=show) for one in streams]
        (context, q2c), (question, c2q) = found  # from all rows, (B, H, S, .)
        if not self.last:
            context, question = sides.context.take(context), sides.question.take(question)
        if not show:
            return context, question, None
        weights = _rows_of(sides.context, c2q, sides), _rows_of(sides.question, q2c, sides)
        return context, question, weights


def _cross_layer(shape: BertShape) -> BertLayer:
    attention = CrossAttention(shape.hidden, shape.heads, shape.attention_dropout)
    return BertLayer(shape.added, attention).apply(draw)


class _Stream(NamedTuple):
    """A side's layer and rows, (n, D), and the rows of the other side, (m, D)."""

    layer: BertLayer
    own: Tensor
    side: Side
    other: Tensor
    other_side: Side


def _by_query(one: _Stream, local: Tensor | None, *, show: bool) -> tuple[Tensor, Any]:
    """Attend from one side to the other; its own states are the residual."""
    attended, weights = one.layer.attention(
        one.own, one.side.layout, one.other, one.other_side.layout, need_weights=show
    )
    return one.layer.join(one.own, _plus(attended, local, one.side)), weights


def _within(one: _Stream, local: Tensor | None) -> Tensor:
    """Return the part of a stream that the published wiring keeps before the next mask.

    At the stream's own rows the query is the map of a masked row, equal everywhere: one query per
    sentence (and one draw of dropout on its weights) serves them all.
    """
    batch, layout = one.side.layout.shape[0], one.side.layout
    masked = one.own.new_zeros(batch, one.own.shape[1])  # (B, D)
    padding = torch.zeros(batch, 1, dtype=torch.bool, device=masked.device)
    single = BatchLayout.of(padding, torch.arange(batch, device=masked.device))
    attended, _ = one.layer.attention(masked, single, one.own, layout)  # (B, D)
    attended = attended.index_select(0, layout.sentences)  # (n, D)
    return one.layer.join(one.own, _plus(attended, local, one.side))


def _by_memory(
    one: _Stream, layout: BatchLayout, local: Tensor | None, *, show: bool
) -> tuple[Tensor, Any]:
    """Attend as published: all rows from the other side's masked stream to the own stream.

    Returns:
        All rows of the stream, (N, D), and the weights of all rows, (B, H, S, own length).
    """
    count = len(layout.token_positions)
    queries = one.other_side.spread(one.other, count)  # (N, D), zero at the own side
    attended, weights = one.layer.attention(
        queries, layout, one.own, one.side.layout, need_weights=show
    )
    return one.layer.join(one.side.spread(one.own, count), _plus(attended, local)), weights


def _plus(attended: Tensor, local: Tensor | None, side: Side | None = None) -> Tensor:
    """Add the convolutions' output for all rows, (N, D), or for those of a side."""
    if local is None:
        return attended
    return attended + (local if side is None else side.take(local))


def _rows_of(side: Side, weights: Tensor, sides: Sides) -> Tensor:
    """Take a side's rows of weights: (B, H, S, K) to (B, H, S of the side, K)."""
    rows = sides.layout.pack(weights.transpose(1, 2))  # (N, H, K)
    return side.layout.pad(side.take(rows)).transpose(1, 2)


class DirectedCoattention(nn.Module):
    """Coattention blocks, the merge of both streams, and the skip connection.

    Args:
        shape: sizes of the encoder below.
        blocks: number of blocks, at least 1 (the paper: 7).
        wiring: of `WIRINGS`.
        skip: combination of BERT's states E with the merged streams X (section 3.3): ``none``;
            ``simple``, LN(X + E); ``transformer``, the same with one more BERT layer on E;
            ``highway``, t X + (1 - t) E with t = sigmoid(W E + b).
        local: convolutions on E that are added to attention (section 3.2): ``none``, the same for
            all blocks (``shared``), or ``per-block``.
        merge_activation: between the merging convolutions, of ``nn.bert.ACTIVATIONS``, or "none".
    """

    def __init__(
        self,
        shape: BertShape,
        blocks: int = 7,
        wiring: str = "query",
        skip: str = "simple",
        local: str = "none",
        merge_activation: str = "none",
    ) -> None:
        super().__init__()
        hidden, self.skip = shape.hidden, skip
        self.parted = wiring == "query"  # streams have only the rows of their sides
        self.blocks = nn.ModuleList(
            CoattentionBlock(shape, wiring, last=i == blocks - 1) for i in range(blocks)
        )
        stacks = {"none": 0, "shared": 1, "per-block": blocks}[local]
        channels = (hidden, *[hidden // LOCAL_SHARE] * 3, hidden)
        gelu = ACTIVATIONS["gelu"]
        self.local = nn.ModuleList(
            ConvolutionStack(channels, LOCAL_WIDTH, gelu) for _ in range(stacks)
        )
        self.merge = ConvolutionStack(
            (2 * hidden, hidden * 3 // 2, hidden), MERGE_WIDTH, ACTIVATIONS.get(merge_activation)
        )
        if skip in ("simple", "transformer"):
            self.norm = nn.LayerNorm(hidden, eps=shape.norm_epsilon)
        if skip == "transformer":
            self.path = BertLayer(shape.added, plain_attention(shape.added)).apply(draw)
        if skip == "highway":
            self.gate = nn.Linear(hidden, hidden).apply(draw)
            nn.init.constant_(self.gate.bias, CARRY)

    def forward(
        self, rows: Tensor, context: AttentionContext, *, need_weights: bool = False
    ) -> tuple[Tensor, list[Weights]]:
        """Coattend.

        Args:
            rows: BERT's states E, (N, D).
            context: of the batch, with its segments.
            need_weights: whether to return attention weights.

        Returns:
            New states (N, D), and for each block, if requested, the attention from the context to
            the question, (B, H, Sc, Sq), and from the question to the context, (B, H, Sq, Sc).
        """
        both, weights = self.streams(rows, context, need_weights=need_weights)
        merged = self.merge(both, context.layout)  # (N, D)
        return self._skipped(merged, rows, context), weights

    def streams(
        self, rows: Tensor, context: AttentionContext, *, need_weights: bool = False
    ) -> tuple[Tensor, list[Weights]]:
        """Return the streams of context and question side by side, (N, 2 D), and the weights."""
        sides = Sides.of(context.layout, context.segments)
        first, second = sides.context.take(rows), sides.question.take(rows)
        weights, local = [], None
        for number, block in enumerate(self.blocks):
            if number < len(self.local):
                local = self.local[number](rows, context.layout)  # (N, D)
            first, second, found = block(first, second, sides, local, show=need_weights)
            weights.append(found)
        if self.parted:
            first = sides.context.spread(first, len(rows))
            second = sides.question.spread(second, len(rows))
        return torch.cat([first, second], dim=1), weights if need_weights else []

    def _skipped(self, merged: Tensor, rows: Tensor, context: AttentionContext) -> Tensor:
        if self.skip == "none":
            return merged
        if self.skip == "highway":
            share = torch.sigmoid(self.gate(rows))  # (N, D)
            return torch.lerp(rows, merged.to(rows), share.to(rows))  # autocast halves products
        if self.skip == "transformer":
            rows = self.path(rows, context)
        return self.norm(merged + rows)

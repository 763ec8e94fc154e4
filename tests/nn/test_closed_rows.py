"""Queries that may attend to nothing: zeros, with gradients of zero, by every way of computing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from question_pairs import shape
from trees import Row, context_of, random_heads, run

from fairseq_plugins.nn.ancestor_attention import SyntaxLayers
from fairseq_plugins.nn.attention import GlobalMixer, SelfAttention
from fairseq_plugins.nn.bert import BertShape
from fairseq_plugins.nn.coattention import WIRINGS, DirectedCoattention
from fairseq_plugins.nn.dual_attention import DIFFERENCES, DifferenceMixer, DualAttention
from fairseq_plugins.nn.fusion import AdaptiveFusion
from fairseq_plugins.nn.local_attention import Gate, LocalMixer
from fairseq_plugins.nn.packed_attention import PackedAttention
from fairseq_plugins.nn.packing import BatchLayout

WIDTH, HEADS = 8, 2
ROWS = [Row(random_heads(6, 1)), Row(random_heads(2, 2), random_heads(3, 3)), Row([0])]
WORDS = torch.cat([torch.tensor(row.words) for row in ROWS])  # (N,)


@dataclass(frozen=True)
class TableRule:
    """Who sees whom by a table of word numbers, whatever the tree says; -1 is its last row."""

    table: tuple[tuple[bool, ...], ...]
    needs_heads: ClassVar[bool] = False
    needs_punctuation: ClassVar[bool] = False

    def __call__(self, words, segments, heads, punctuation):
        table = torch.tensor(self.table)
        return table[words[:, :, None], words[:, None, :]]

    @property
    def blind(self):
        """Tokens of `ROWS` that surely see nothing, (N,)."""
        return ~torch.tensor(self.table).any(1)[WORDS]


def drawn(seed: int, share: float, blind: list[int]) -> TableRule:
    generator = torch.Generator().manual_seed(seed)
    table = torch.rand(7, 7, generator=generator) < share
    table[blind] = False
    return TableRule(tuple(map(tuple, table.tolist())))


rules = st.builds(
    drawn,
    st.integers(0, 99),
    st.sampled_from([0.0, 0.3, 0.9]),
    st.lists(st.integers(-1, 5), min_size=1, max_size=4),
)
ONE = drawn(1, 0.7, [-1, 2])


def local(*found: TableRule, gated: bool, dropout: float = 0.0) -> SelfAttention:
    torch.manual_seed(1)
    gate = Gate(WIDTH, len(found), 0.3) if gated else None
    return SelfAttention(WIDTH, HEADS, LocalMixer(found, gate, dropout))


def states(dtype: torch.dtype = torch.float64) -> torch.Tensor:
    generator = torch.Generator().manual_seed(2)
    return torch.randn(len(WORDS), WIDTH, generator=generator).to(dtype).requires_grad_()


def three_ways(module, rows):
    """Values and gradients by hand, openly, and as an accelerator computes."""
    inputs = [rows, *module.parameters()]
    for padded, need_weights in ((False, False), (False, True), (True, False)):
        with mock.patch.object(BatchLayout, "by_length", not padded):
            found, _ = run(module, rows, context_of(ROWS, extra=1), need_weights)
            gradients = torch.autograd.grad(found.sin().sum(), inputs, allow_unused=True)
        yield [found, *(x for x in gradients if x is not None)]


def assert_alike(module, rows) -> torch.Tensor:
    first, *others = three_ways(module, rows)
    assert all(tensor.isfinite().all() for tensor in first)
    for other in others:
        torch.testing.assert_close(other, first)
    return first[0]


@settings(deadline=None, max_examples=30)
@given(st.lists(rules, min_size=1, max_size=2), st.booleans())
def test_local_attention_of_closed_rows_is_the_same_every_way(found, gated):
    found = found if gated else found[:1]
    module = local(*found, gated=gated).double()
    out = assert_alike(module, states())
    if not gated:
        blind = found[0].blind
        torch.testing.assert_close(out[blind], module.out.bias.expand(int(blind.sum()), -1))


@settings(deadline=None, max_examples=15)
@given(rules, st.sampled_from(DIFFERENCES))
def test_other_attention_of_closed_rows_is_the_same_every_way(rule, difference):
    top = SyntaxLayers(BertShape(30, WIDTH, 1, HEADS, 12, dropout=0.0, attention_dropout=0.0))
    top.layers[0].attention.mixer.rules = (rule,)
    assert_alike(top.double(), states())
    torch.manual_seed(1)
    mixer = DifferenceMixer(difference, "cross")
    mixer.rule = rule
    dual = DualAttention(mixer, AdaptiveFusion(WIDTH, guide_dim=3))
    assert_alike(SelfAttention(WIDTH, HEADS, GlobalMixer(), dual=dual).double(), states())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_closed_rows_stay_zero_in_every_type_and_in_training(dtype, dropout, gated, padded):
    module, half = local(ONE, gated=gated, dropout=dropout), dtype == torch.bfloat16
    rows = states(torch.float32 if half else dtype)
    module.to(rows.dtype)
    autocast = torch.autocast("cpu", torch.bfloat16, enabled=half)
    with autocast, mock.patch.object(BatchLayout, "by_length", not padded):
        out = module(rows, context_of(ROWS))
    out.float().square().sum().backward()
    gradients = [rows.grad, *(p.grad for p in module.parameters())]
    assert all(tensor.isfinite().all() for tensor in [out, *gradients])
    if not gated:
        assert torch.equal(out[ONE.blind], module.out.bias.to(out).expand_as(out[ONE.blind]))
        assert rows.grad[~ONE.blind].any(1).all()


@pytest.mark.parametrize("gated", [False, True])
def test_the_gradient_by_hand_bears_closed_rows(gated):
    context = context_of(ROWS)
    blocks = context.layout.blocks
    additive_masks = [
        (
            *([None] * gated),
            context.additive_mask(ONE, block),
            *([context.additive_mask(drawn(3, 0.2, [0]), block)] * gated),
        )
        for block in blocks
    ]
    qkv = torch.randn(len(WORDS), 12, dtype=torch.float64, requires_grad=True)
    gates = torch.rand(len(WORDS), 3, dtype=torch.float64, requires_grad=True) if gated else None

    def mixed(qkv, gates):
        torch.manual_seed(7)  # the same weights are dropped each time
        return PackedAttention.apply(qkv, gates, blocks, additive_masks, 2, 0.4, True)

    assert torch.autograd.gradcheck(mixed, (qkv, gates))


@pytest.mark.parametrize("wiring", WIRINGS)
@pytest.mark.parametrize("lonely", [[True, False], [True, True]])
@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_coattention_bears_a_side_without_tokens(wiring, lonely, dropout):
    pair = random_heads(3, 1), random_heads(4, 2)
    context = context_of([Row(pair[0]) if alone else Row(*pair) for alone in lonely])
    module = DirectedCoattention(shape(attention_dropout=dropout), 2, wiring).double()
    count = len(context.layout.token_positions)
    rows = torch.randn(count, module.norm.normalized_shape[0], dtype=torch.float64)
    rows.requires_grad_()
    results = []
    for need_weights in (False, True):
        found, weights = module(rows, context, need_weights=need_weights)
        gradients = torch.autograd.grad(
            found.sin().sum(), [rows, *module.parameters()], allow_unused=True
        )
        results.append([found, *(x for x in gradients if x is not None)])
        tables = [table for pair in weights for table in pair]
        assert all(tensor.isfinite().all() for tensor in [*results[-1], *tables])
    if not dropout:
        torch.testing.assert_close(*results)

"""Attention of answers straight from packed rows: each sentence's own softmax, nobody else's."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from fairseq_plugins.nn.attention import SelfAttention
from fairseq_plugins.nn.context import AttentionContext
from fairseq_plugins.nn.fused_attention import STEP, attend, reach
from fairseq_plugins.nn.masks import AdditiveMask
from fairseq_plugins.nn.packed_attention import PackedAttention
from fairseq_plugins.nn.packing import BatchLayout

HEADS, WIDTH = 2, 8
LENGTHS = [(1, 2, 2, 31, 40), (40, 31, 31, 16, 3, 1), (5,), (17, 17), (33, 2), (7, 64)]


def layout_of(lengths: tuple[int, ...]) -> BatchLayout:
    return BatchLayout.of(torch.arange(max(lengths)) >= torch.tensor(lengths)[:, None])


def one_by_one(qkv: torch.Tensor, lengths: tuple[int, ...]) -> torch.Tensor:
    """Every sentence alone, every head alone, in float64."""
    found = []
    for part in qkv.double().split(lengths):
        query, key, value = part.view(-1, 3, HEADS, WIDTH // HEADS).permute(1, 2, 0, 3)
        weights = (query @ key.mT / (WIDTH // HEADS) ** 0.5).softmax(-1)
        found.append((weights @ value).transpose(0, 1).flatten(1))
    return torch.cat(found)


@pytest.mark.parametrize("lengths", LENGTHS)
def test_it_is_the_softmax_of_each_sentence(lengths) -> None:
    torch.manual_seed(1)
    rows = torch.randn(sum(lengths) + 3, 3 * WIDTH)[3:]  # a view that begins somewhere
    found = attend(rows, layout_of(lengths), HEADS)
    torch.testing.assert_close(found.double(), one_by_one(rows, lengths), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("lengths", LENGTHS)
def test_neighbours_weigh_exactly_nothing(lengths) -> None:
    torch.manual_seed(2)
    rows, layout = torch.randn(sum(lengths), 3 * WIDTH), layout_of(lengths)
    before = attend(rows, layout, HEADS).split(lengths)
    for i in range(len(lengths)):
        other = [part if i == k else 9 * part + 1 for k, part in enumerate(rows.split(lengths))]
        assert torch.equal(attend(torch.cat(other), layout, HEADS).split(lengths)[i], before[i])


def test_blocks_reach_back_or_ahead() -> None:
    blocks = layout_of((5, 64, 33)).blocks
    assert [reach(block) for block in blocks] == [(0, STEP - 5), (0, 0), (STEP - 1, 0)]


def test_no_tokens_give_no_rows() -> None:
    empty = BatchLayout.of(torch.ones(2, 3, dtype=torch.bool), may_be_empty=True)
    assert attend(torch.zeros(0, 3 * WIDTH), empty, HEADS).shape == (0, WIDTH)


def test_answers_are_those_of_the_way_with_gradients() -> None:
    torch.manual_seed(3)
    lengths = (9, 30, 30, 21)
    module, rows = SelfAttention(WIDTH, HEADS).eval(), torch.randn(sum(lengths), WIDTH)
    context = AttentionContext(layout_of(lengths))
    with_gradients = module(rows, context)
    assert with_gradients.requires_grad
    with torch.no_grad():
        torch.testing.assert_close(module(rows, context), with_gradients)
    nn.init.zeros_(module.out.weight)
    with torch.no_grad():
        assert not torch.allclose(module(rows, context), with_gradients)


@pytest.mark.parametrize("wrong", [torch.nan, torch.inf, 3e38])
@pytest.mark.parametrize("place", [0, 1])
def test_what_is_no_number_stays_in_its_sentence(wrong, place) -> None:
    torch.manual_seed(4)
    lengths = (20, 5)
    rows, layout = torch.randn(25, 3 * WIDTH), layout_of(lengths)
    before = attend(rows, layout, HEADS).split(lengths)
    rows[[20, 19][place]] = wrong  # at the border
    found = attend(rows, layout, HEADS).split(lengths)
    torch.testing.assert_close(found[place], before[place])
    assert not torch.equal(found[1 - place], before[1 - place])


@pytest.mark.parametrize("lengths", LENGTHS)
def test_gated_local_attention_is_that_of_the_way_with_gradients(lengths) -> None:
    torch.manual_seed(5)
    qkv, gates = torch.randn(sum(lengths), 3 * WIDTH), torch.rand(sum(lengths), 2)
    layout = layout_of(lengths)
    masks = []
    for block in layout.blocks:
        count = (block.rows.stop - block.rows.start) // block.length
        allowed = torch.rand(count, block.length, block.length) < 0.4
        allowed[0, 0] = False  # a query that sees nothing
        masks.append((None, AdditiveMask.of(allowed)))
    found = attend(qkv, layout, HEADS, masks, gates)
    wanted = PackedAttention.apply(qkv, gates, layout.blocks, masks, HEADS, 0.0, True)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    assert not torch.allclose(attend(qkv, layout, HEADS), wanted, atol=1e-3)

"""Packed rows against the padded batch."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fairseq_plugins.nn.packing import BatchLayout, SentenceBlock


def padding(lengths, width, side="right"):
    place = torch.arange(width)
    mask = place[None] >= torch.tensor(lengths)[:, None]
    return mask if side == "right" else mask.flip(1)


batches = st.lists(st.integers(0, 6), min_size=1, max_size=5)


@given(batches, st.sampled_from(["left", "right"]))
def test_pack_keeps_real_tokens_in_order_and_pad_puts_them_back(lengths, side):
    mask = padding(lengths, 6, side)
    layout = BatchLayout.of(mask, may_be_empty=True)
    padded = torch.randn(len(lengths), 6, 3).masked_fill(mask[..., None], 0.0)
    rows = layout.pack(padded)
    assert torch.equal(rows, padded[~mask])
    assert torch.equal(layout.pad(rows), padded)


@given(batches, st.sampled_from(["left", "right"]))
def test_positions_count_real_tokens_of_each_sentence(lengths, side):
    layout = BatchLayout.of(padding(lengths, 6, side), may_be_empty=True)
    assert layout.positions.tolist() == [i for n in lengths for i in range(n)]


def test_first_rows_are_where_sentences_begin():
    layout = BatchLayout.of(padding([3, 1, 2], 4))
    assert layout.first_rows.tolist() == [0, 3, 4]


@pytest.mark.parametrize("lengths", [[0, 2], [3, 0, 1], [2, 0], [0]])
def test_sentences_without_a_token_are_refused(lengths):
    """Whose first row would be the next sentence's."""
    mask = padding(lengths, 3)
    places = (~mask).flatten().nonzero().squeeze(1)
    for known in (None, places):
        with pytest.raises(ValueError, match=rf"sentence {lengths.index(0)} of the batch"):
            BatchLayout.of(mask, known)


@pytest.mark.parametrize("lengths", [[4, 4], [4, 2], [1, 3]])
def test_gradients_are_exact(lengths):
    layout = BatchLayout.of(padding(lengths, 4))
    rows = torch.randn(sum(lengths), 2, dtype=torch.float64, requires_grad=True)
    padded = torch.randn(2, 4, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(layout.pad, rows)
    assert torch.autograd.gradcheck(layout.pack, padded)
    assert torch.autograd.gradgradcheck(layout.pad, rows)


def test_given_places_are_used_and_equal_the_found_ones():
    mask = padding([2, 4], 4)
    found = BatchLayout.of(mask)
    assert torch.equal(found.token_positions, torch.tensor([0, 1, 4, 5, 6, 7]))
    assert BatchLayout.of(mask, found.token_positions[:3]).token_positions.tolist() == [0, 1, 4]


def test_full_batches_are_a_reshape():
    layout = BatchLayout.of(padding([3, 3], 3))
    padded = torch.randn(2, 3, 5)
    assert layout.full
    assert layout.pack(padded).data_ptr() == padded.data_ptr()
    assert not BatchLayout.of(padding([3, 2], 3)).full


@given(batches, st.sampled_from(["left", "right"]))
def test_blocks_hold_every_token_once_without_padding(lengths, side):
    layout = BatchLayout.of(padding(lengths, 6, side), may_be_empty=True)
    rows = torch.arange(sum(lengths))
    taken = [block.take(rows) for block in layout.blocks]
    for block, tokens in zip(layout.blocks, taken):
        assert tokens.shape[1] == block.length
        assert lengths[block.sentences] == [block.length] * len(tokens)
        assert block.allowed is None
    given_back = [block.give(tokens) for block, tokens in zip(layout.blocks, taken)]
    assert torch.equal(torch.cat([rows[:0], *given_back]), rows)


def test_sentences_of_one_length_side_by_side_share_a_block():
    layout = BatchLayout.of(padding([2, 2, 3, 2], 4))
    assert [b.length for b in layout.blocks] == [2, 3, 2]
    assert [b.sentences for b in layout.blocks] == [slice(0, 2), slice(2, 3), slice(3, 4)]


def test_padded_block_closes_padding():
    mask = padding([2, 4], 4)
    layout = BatchLayout.of(mask)
    block = SentenceBlock(slice(None), slice(None), 4, layout)
    rows = torch.randn(6, 3)
    assert torch.equal(block.take(rows), layout.pad(rows))
    assert torch.equal(block.give(block.take(rows)), rows)
    assert torch.equal(block.allowed, ~mask[:, None, None])

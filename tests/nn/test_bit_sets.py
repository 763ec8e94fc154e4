"""Sets of tokens as bits, against sets of numbers."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.nn import bit_sets


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=200))
def test_tokens_come_back_to_their_owners(owners):
    sets = bit_sets.gathered(torch.tensor([owners, owners[::-1]]), 5)
    assert sets.shape == (2, 5, (len(owners) + 63) // 64)
    found = bit_sets.spread(sets, len(owners))
    wanted = torch.tensor([owners, owners[::-1]])[:, None] == torch.arange(5)[:, None]
    assert torch.equal(found, wanted)


@pytest.mark.parametrize("length", [1, 63, 64, 65, 128, 130])
def test_sums_of_disjoint_sets_are_unions_up_to_the_sign(length):
    sets = bit_sets.gathered(torch.arange(length)[None] % 3, 3)
    assert bit_sets.spread(sets.sum(1, keepdim=True), length).all()
    assert torch.equal(sets.sum(1), sets[:, 0] | sets[:, 1] | sets[:, 2])


def test_rows_are_taken_sentence_by_sentence():
    sets = bit_sets.gathered(torch.tensor([[0, 1, 1], [1, 0, 0]]), 2)
    rows = bit_sets.spread(bit_sets.rows_of(sets, torch.tensor([[1], [0]])), 3)
    assert rows.tolist() == [[[False, True, True]], [[False, True, True]]]

"""The best spans are those that a loop over all pairs finds."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.nn.span_search import best_spans


def all_spans(logits, span, start, longest):
    """Every allowed span of one row as (score, begin, end), best first, by loops."""
    found = []
    for begin in range(max(span[0], start[0]), min(span[1], start[1])):
        for end in range(begin, min(begin + longest, span[1])):
            found.append((logits[begin][0] + logits[end][1], begin, end))
    return sorted(found, key=lambda each: (-each[0], each[1:]))


@st.composite
def searches(draw):
    size = draw(st.integers(1, 12))
    rows = draw(st.integers(1, 3))
    number = st.integers(-3, 3).map(float)  # small numbers: many spans are equal
    cell = st.tuples(number, number)
    logits = draw(
        st.lists(st.lists(cell, min_size=size, max_size=size), min_size=rows, max_size=rows)
    )
    place = st.integers(0, size)
    pair = st.tuples(place, place).map(sorted)
    ranges, starts = (draw(st.lists(pair, min_size=rows, max_size=rows)) for _ in range(2))
    return logits, ranges, starts, draw(st.integers(1, 40)), draw(st.integers(1, 15))


@settings(max_examples=150, deadline=None)
@given(searches())
def test_spans_are_those_of_a_loop_over_all_pairs(search):
    logits, ranges, starts, n_best, longest = search
    given_ = torch.tensor(logits, dtype=torch.float64), torch.tensor(ranges), torch.tensor(starts)
    scores, begins, ends = best_spans(*given_, n_best=n_best, longest=longest)
    assert scores.shape == begins.shape == ends.shape == (len(logits), n_best)
    for row, (one, span, start) in enumerate(zip(logits, ranges, starts)):
        expected = all_spans(one, span, start, longest)[:n_best]
        missing = [(-math.inf, 0, 0)] * (n_best - len(expected))
        found = zip(scores[row].tolist(), begins[row].tolist(), ends[row].tolist())
        assert list(found) == [*expected, *missing]


def test_padding_and_other_rows_change_nothing():
    torch.manual_seed(1)
    logits = torch.randn(2, 9, 2)
    padded = torch.full((3, 14, 2), -torch.inf)
    padded[:2, :9] = logits
    padded[2] = 50.0
    ranges = torch.tensor([[2, 8], [3, 9], [0, 14]])
    alone = best_spans(logits, ranges[:2], ranges[:2], n_best=5, longest=4)
    among = best_spans(padded, ranges, ranges, n_best=5, longest=4)
    for one, other in zip(alone, among):
        assert torch.equal(one, other[:2])


def test_spans_begin_where_they_may_and_end_beyond():
    logits = torch.zeros(1, 6, 2)
    logits[0, 4, 0] = 9.0
    logits[0, 5, 1] = 5.0
    scores, begins, ends = best_spans(
        logits, torch.tensor([[1, 6]]), torch.tensor([[1, 4]]), n_best=1
    )
    assert (scores.item(), begins.item(), ends.item()) == (5.0, 1, 5)


def test_spans_that_bert_prunes_away_are_found():
    """The best start stands after the best end: of one best each, no span is left."""
    logits = torch.tensor([[[0.0, 0.0], [0.0, 9.0], [9.0, 0.0]]])
    whole = torch.tensor([[0, 3]])
    scores, begins, ends = best_spans(logits, whole, whole, n_best=1)
    assert (scores.item(), begins.item(), ends.item()) == (9.0, 0, 1)


def test_half_precision_is_widened():
    logits = torch.full((1, 3, 2), 2048.0, dtype=torch.float16)
    logits[0, 0, 1] = 1.0
    whole = torch.tensor([[0, 1]])
    assert best_spans(logits, whole, whole, n_best=1)[0].item() == 2049.0


@pytest.mark.parametrize("name", ["n_best", "longest"])
def test_sizes_below_one_are_refused(name):
    whole = torch.tensor([[0, 3]])
    with pytest.raises(ValueError, match=f"{name} 0: must be at least 1"):
        best_spans(torch.zeros(1, 3, 2), whole, whole, **{name: 0})

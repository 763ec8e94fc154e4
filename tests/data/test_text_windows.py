"""Shortening and cutting: against the plainest way to do it, and what has to hold of any cut."""

from __future__ import annotations

import tracemalloc

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.data.text_windows import (
    cut_windows,
    knowing_windows,
    shortened,
    stride_windows,
    word_begins,
)

WORD_SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=40)


def words_of(sizes):
    return np.repeat(np.arange(len(sizes)), sizes)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=2), st.integers(1, 40))
def test_shortening_takes_from_the_longer_one_by_one(lengths, room):
    left = list(lengths)
    while sum(left) > room:
        left[0 if len(left) == 1 or left[0] > left[1] else 1] -= 1
    assert shortened(lengths, room) == left


@given(WORD_SIZES)
def test_words_begin_where_the_number_changes(sizes):
    assert np.flatnonzero(word_begins(words_of(sizes))).tolist() == [
        sum(sizes[:i]) for i in range(len(sizes))
    ]


@settings(max_examples=200)
@given(WORD_SIZES, st.integers(4, 30))
def test_every_word_is_labelled_once_in_the_best_window(sizes, room):
    word_of = words_of(sizes)
    spans, owners = cut_windows(word_of, room)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    assert len(owners) == len(sizes)
    assert np.all(np.diff(owners) >= 0)
    assert np.all(spans[:, 1] - spans[:, 0] <= room)
    assert set(spans[:, 0]) <= set(starts)
    assert set(spans[:, 1]) <= set(ends)
    for word, (start, end) in enumerate(zip(starts, ends)):
        contexts = [min(start - b, e - end) for b, e in spans if b <= start and end <= e]
        begin, stop = spans[owners[word]]
        assert begin <= start < end <= stop
        assert min(start - begin, stop - end) == max(contexts)


@given(WORD_SIZES, st.integers(0, 20))
def test_sentence_that_fits_stays_whole(sizes, spare):
    spans, owners = cut_windows(words_of(sizes), sum(sizes) + spare)
    assert spans.tolist() == [[0, sum(sizes)]]
    assert not owners.any()


def test_words_far_from_the_edges_see_a_quarter_window_on_either_side():
    spans, owners = cut_windows(np.arange(1000), 100)
    for word in range(1000):
        begin, end = spans[owners[word]]
        assert word - begin >= min(word, 24)
        assert end - word - 1 >= min(1000 - word - 1, 24)


def test_last_window_is_full():
    spans, _ = cut_windows(np.arange(105), 100)
    assert spans.tolist() == [[0, 100], [5, 105]]


@settings(max_examples=200)
@given(WORD_SIZES.filter(lambda sizes: sum(sizes) > 3), st.integers(1, 3))
def test_of_a_word_that_fits_in_no_window_the_end_is_left_out(sizes, room):
    spans, owners = cut_windows(words_of(sizes), room)
    starts = np.cumsum(sizes) - sizes
    shown = starts + np.minimum(sizes, room)
    assert np.all(spans[:, 1] - spans[:, 0] <= room)
    for owner, start, end in zip(owners, starts, shown):
        begin, stop = spans[owner]
        assert begin <= start < end <= stop


def test_a_long_word_does_not_take_its_neighbours_window():
    spans, owners = cut_windows(words_of([1, 5, 1]), 4)
    assert spans.tolist() == [[0, 1], [1, 5], [6, 7]]
    assert owners.tolist() == [0, 1, 2]


PASSAGE = st.integers(1, 60), st.integers(1, 25), st.integers(1, 30)


def windows_of_bert(length, room, stride):
    """Windows as the released code of BERT makes them, in its own terms."""
    spans, offset = [], 0
    while offset < length:
        size = min(length - offset, room)
        spans.append((offset, size))
        if offset + size == length:
            break
        offset += min(size, stride)
    return spans


@settings(max_examples=200)
@given(*PASSAGE)
def test_windows_begin_at_every_stride_until_one_reaches_the_end(length, room, stride):
    expected = [[begin, begin + size] for begin, size in windows_of_bert(length, room, stride)]
    assert stride_windows(length, room, stride).tolist() == expected


@settings(max_examples=200)
@given(*PASSAGE)
def test_of_every_wordpiece_that_window_counts_that_knows_most(length, room, stride):
    """As in BERT's code: the first of those with the highest score."""
    spans = windows_of_bert(length, room, stride)
    counted = [[] for _ in spans]
    for place in range(length):
        best, owner = None, None
        for number, (begin, size) in enumerate(spans):
            if not begin <= place < begin + size:
                continue
            score = min(place - begin, begin + size - 1 - place) + 0.01 * size
            if best is None or score > best:
                best, owner = score, number
        counted[owner].append(place)
    found = knowing_windows(stride_windows(length, room, stride), length)
    assert [list(range(first, stop)) for first, stop in found.tolist()] == counted


def test_windows_of_a_long_passage_need_no_table_of_all_by_all():
    length = 50_000
    windows = stride_windows(length, 300, 128)
    tracemalloc.start()
    try:
        found = knowing_windows(windows, length)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (found[0, 0], found[-1, 1]) == (0, length)
    assert np.array_equal(found[1:, 0], found[:-1, 1])
    assert most < 100 * length

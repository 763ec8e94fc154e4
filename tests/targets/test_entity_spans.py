"""Entities as spans: which stay where they overlap; counts equal to those of labels of words."""

from __future__ import annotations

from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fairseq_plugins.targets.entities import EntityTally
from fairseq_plugins.targets.entity_spans import (
    FLAT,
    NESTED,
    EntitySpan,
    found_spans,
    kept_spans,
    span_counts,
    spans_of,
    types_of,
)
from fairseq_plugins.targets.labeling import entity_counts
from fairseq_plugins.targets.table import TARGETS

LABELS = ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]
SPANS = st.builds(
    lambda kind, first, size, value: EntitySpan(kind, first, first + size, value / 4),
    st.sampled_from(["LOC", "PER", "ORG"]),
    st.integers(0, 7),
    st.integers(0, 3),
    st.integers(1, 4),
)
FOUND = st.lists(SPANS, max_size=9, unique_by=lambda one: one[:3])
ROW = st.lists(st.sampled_from(LABELS), min_size=1, max_size=8)


def overlap(one, two):
    return one.first <= two.last and two.first <= one.last


def taken_by_turns(spans):
    """Take the best span again and again, and strike out what it overlaps."""
    left, taken = list(spans), []
    while left:
        best = max(left, key=lambda s: (s.score, s.first - s.last, -s.first))
        best = min(
            (
                s
                for s in left
                if (s.score, s.last - s.first, s.first)
                == (best.score, best.last - best.first, best.first)
            ),
            key=lambda s: s.label,
        )
        taken.append(best)
        left = [one for one in left if not overlap(one, best)]
    return {*taken}


@given(FOUND)
def test_flat_spans_are_the_best_by_turns_and_share_no_word(found):
    kept = kept_spans(found, FLAT)
    assert {*kept} == taken_by_turns(found)
    assert not any(overlap(*pair) for pair in combinations(kept, 2))
    assert all(one in kept or any(overlap(one, other) for other in kept) for one in found)


@given(FOUND, st.randoms())
def test_nested_spans_all_stay_and_no_order_matters(found, shuffled):
    other = list(found)
    shuffled.shuffle(other)
    assert {*kept_spans(found, NESTED)} == {*found}
    for kind in (FLAT, NESTED):
        assert kept_spans(found, kind) == kept_spans(other, kind)


@given(
    st.integers(1, 8).flatmap(
        lambda n: st.tuples(*[st.lists(st.sampled_from(LABELS), min_size=n, max_size=n)] * 2)
    )
)
def test_counts_are_those_of_labels_of_words(rows):
    gold, said = rows
    spans = [EntitySpan(*one) for one in spans_of(said, len(said))]
    assert span_counts(spans_of(gold, len(gold)), spans) == entity_counts(gold, said)
    ours = TARGETS["entities"].score([spans_of(gold, len(gold))], [spans], LABELS)
    theirs = TARGETS["word_labels"].score([gold], [said], LABELS)
    assert ours == {name: value for name, value in theirs.items() if name != "accuracy"}


@given(ROW, ROW)
def test_levels_stand_one_after_another(outer, inner):
    inner = (inner * 8)[: len(outer)]
    both = spans_of([*outer, *inner], len(outer))
    assert both == spans_of(outer, len(outer)) | spans_of(inner, len(outer))


def test_types_are_those_that_labels_name():
    assert types_of(LABELS) == ("LOC", "PER")
    assert types_of(["S-a-b", "E-a-b", "O"]) == ("a-b",)
    assert types_of(["NN", "JJ-X", "c", "i", "O", "B"]) == ()


@settings(max_examples=40)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(0, 99))
def test_spans_of_a_batch_are_of_their_sentence_and_label(counts, seed):
    generator = torch.Generator().manual_seed(seed)
    owners = [(g, w) for g, count in enumerate(counts) for w in range(count)]
    asked = [(g // 2, g % 2) for g in range(len(counts))]
    pairs = [
        (i, j)
        for i in range(len(owners))
        for j in range(i, len(owners))
        if owners[i][0] == owners[j][0]
    ]
    first, last = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).unbind(1)
    scores = torch.rand(len(pairs), generator=generator).sub(0.5).clamp(min=0)
    found = found_spans(
        scores, first, last, torch.tensor(counts), torch.tensor(asked), ["LOC", "PER"]
    )
    expected: dict[int, list] = {}
    for (i, j), value in zip(pairs, scores.tolist()):
        if value > 0:
            place, label = asked[owners[i][0]]
            span = EntitySpan(["LOC", "PER"][label], owners[i][1], owners[j][1], value)
            expected.setdefault(place, []).append(span)
    assert found == expected


@pytest.mark.parametrize("mark", "BISEUL")
def test_entities_are_scored_whatever_marks_their_labels(mark):
    span, labels = [("PER", 0, 0)], ["O", f"{mark}-PER"]
    assert TARGETS["entities"].score([span], [span], labels)["entity_f1"] == 1.0
    assert (
        EntityTally(labels, overlap=FLAT).score({f"entity_{k}": 1 for k in range(3)})["entity_f1"]
        == 1.0
    )

"""Rows of questions against the plainest way to write them down."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_text import WORDS, encode

from fairseq_plugins.data.passages import Texts
from fairseq_plugins.data.qa_columns import QuestionColumns, SpanGold
from fairseq_plugins.data.qa_dataset import QuestionDataset
from fairseq_plugins.data.text_items import WINDOWS, InputFormat
from fairseq_plugins.errors import InputError

CLS, SEP, PAD = 1, 2, 0
ASKED, TOLD = 100, 1000  # the first wordpiece of a question and of a passage
UNKNOWN, UNANSWERABLE, ANSWERABLE = range(3)


def numbered(first, count):
    """Wordpieces that tell their own place, each a word."""
    return SimpleNamespace(tokens=range(first, first + count), word_of=range(count), layers={})


def dataset_of(cases, *, texts=False, **reading):
    """Make a dataset of cases: wordpieces of question and passage, state, answer or None."""
    asked, told, states, answers = zip(*cases)
    passages = [numbered(TOLD, count) for count in told]
    offsets = [np.stack([np.arange(n), np.arange(n) + 1], axis=1) for n in told]
    columns = QuestionColumns.of(
        [numbered(ASKED, n) for n in asked], passages, range(len(cases)), offsets
    )
    first = np.array([answer or (-1, -1) for answer in answers])
    object.__setattr__(columns, "gold", SpanGold(np.array(states), first))
    contexts = ["x" * n for n in told]
    names = [f"q{i}" for i in range(len(cases))]
    written = Texts(names, names, [()] * len(cases), contexts, columns.paragraph, columns.offsets)
    reading = InputFormat(CLS, SEP, PAD, long_examples=WINDOWS, **reading)
    return QuestionDataset(columns, reading, texts=written if texts else None)


def collated(dataset, indices=None):
    indices = range(len(dataset)) if indices is None else indices
    return dataset.collater([dataset[i] for i in indices])


def rows_by_hand(asked, told, *, limit, stride, longest_question):
    """Write down the rows of a question one after another."""
    question = list(range(ASKED, ASKED + min(asked, longest_question)))
    room, rows, begin = limit - 3 - len(question), [], 0
    while True:
        window = list(range(TOLD, TOLD + told))[begin : begin + room]
        rows.append([CLS, *question, SEP, *window, SEP])
        if begin + room >= told:
            return rows
        begin += min(stride, room)


def targets_by_hand(rows, state, answer):
    """Look for the answer's wordpieces in every row."""
    if state == UNANSWERABLE:
        return [[0, 0]] * len(rows)
    whole = answer and list(range(TOLD + answer[0], TOLD + answer[1] + 1))
    shown = [bool(whole) and set(whole) <= set(row) for row in rows]
    if not any(shown):
        return [[-100, -100]] * len(rows)
    return [
        [row.index(whole[0]), row.index(whole[-1])] if seen else [0, 0]
        for row, seen in zip(rows, shown)
    ]


@st.composite
def cases(draw):
    """Wordpieces of a question and a passage, and what answers it."""
    told = draw(st.integers(1, 60))
    answer = draw(st.none() | st.tuples(*[st.integers(0, told - 1)] * 2).map(sorted).map(tuple))
    state = draw(st.sampled_from([UNANSWERABLE, ANSWERABLE]))
    return draw(st.integers(1, 12)), told, state, answer if state == ANSWERABLE else None


READING = {
    "limit": st.integers(14, 50),
    "stride": st.integers(1, 30),
    "longest_question": st.integers(1, 10),
}


@settings(max_examples=150, deadline=None)
@given(st.lists(cases(), min_size=1, max_size=5), st.fixed_dictionaries(READING))
def test_rows_and_targets_are_those_written_by_hand(given_cases, reading):
    dataset = dataset_of(given_cases, **reading)
    batch = collated(dataset)
    inputs, start = batch["net_input"], 0
    assert sorted(batch["id"].tolist()) == list(range(len(given_cases)))
    for number, count in zip(batch["id"].tolist(), batch["windows_per_example"].tolist()):
        asked, told, state, answer = given_cases[number]
        rows = rows_by_hand(asked, told, **reading)
        assert count == len(rows)
        assert dataset.sizes[number] == sum(map(len, rows))
        for place, row in enumerate(rows, start):
            length = int(inputs["src_lengths"][place])
            assert inputs["src_tokens"][place].tolist()[:length] == row
            segments = [0] * (row.index(SEP) + 1)
            segments += [1] * (length - len(segments))
            assert inputs["segments"][place].tolist()[:length] == segments
        targets = targets_by_hand(rows, state, answer)
        assert batch["target"][start : start + count].tolist() == targets
        start += count
    assert start == len(inputs["src_tokens"])
    assert batch["target"].dtype == torch.int64


@settings(max_examples=100, deadline=None)
@given(cases(), st.fixed_dictionaries(READING))
def test_positions_of_a_row_lead_back_to_the_passage(case, reading):
    dataset = dataset_of([case], texts=True, **reading)
    batch = collated(dataset)
    (passage,) = batch["passages"]
    rows, told = batch["net_input"]["src_tokens"].tolist(), case[1]
    for row, (first, stop) in zip(rows, passage.ranges):
        shown = row[first:stop]
        assert shown == [token for token in row if token >= TOLD]
    begun = [row[i] for row, (first, stop) in zip(rows, passage.starts) for i in range(first, stop)]
    assert sorted(begun) == list(range(TOLD, TOLD + told))  # each begins in one window
    for row, (kept, begin, *_) in zip(rows, passage.windows):
        assert row[1 + kept + 1] == TOLD + begin
    assert len(passage.offsets) == told


def test_the_first_answer_that_no_window_shows_whole_is_not_learnt():
    reading = {"limit": 15, "stride": 10, "longest_question": 2}
    lost = dataset_of([(2, 40, ANSWERABLE, (5, 20)), (2, 40, ANSWERABLE, (5, 9))], **reading)
    assert lost.unreachable == 1
    assert lost[0]["target"].tolist() == [[-100, -100]] * 4
    assert lost[1]["target"].tolist() == [[9, 13], [0, 0], [0, 0], [0, 0]]
    assert dataset_of([(2, 4, ANSWERABLE, None), (2, 4, UNANSWERABLE, None)]).unreachable == 1


def test_questions_without_gold_leave_a_split_without_targets():
    some = dataset_of([(2, 4, UNANSWERABLE, None), (2, 4, UNKNOWN, None)])
    assert not some.labelled
    assert "target" not in collated(some)
    assert "passages" not in collated(some)


def test_a_question_that_leaves_no_room_is_refused():
    dataset_of([(5, 4, UNANSWERABLE, None)], limit=9, longest_question=5)
    message = "example 1 has a question of 6 wordpieces: in 9 tokens, .*a smaller --max-query"
    with pytest.raises(InputError, match=message):
        dataset_of([(2, 4, 1, None), (9, 4, 1, None)], limit=9, longest_question=6)


def test_collating_nothing_gives_nothing():
    assert dataset_of([(2, 4, UNANSWERABLE, None)]).collater([]) == {}


def test_dataset_can_go_to_worker_processes():
    dataset = dataset_of([(2, 40, ANSWERABLE, (5, 9))] * 2, texts=True, limit=15, stride=10)
    one, other = (collated(made) for made in (dataset, pickle.loads(pickle.dumps(dataset))))
    assert torch.equal(one["target"], other["target"])
    for ours, theirs in zip(one["passages"], other["passages"]):
        assert np.array_equal(ours.windows, theirs.windows)
        assert (ours.id, ours.context, ours.answers) == (theirs.id, theirs.context, theirs.answers)


SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(encode)
NAMES = ("subword", "pos", "case")


def columns_of(question, passage):
    offsets = [np.stack([np.arange(len(passage.tokens))] * 2, axis=1)]
    names = ("pos", "case", "heads")
    return QuestionColumns.of([question], [passage], [0], offsets, names=names)


@settings(max_examples=80, deadline=None)
@given(SENTENCE, SENTENCE, st.integers(12, 30), st.integers(1, 20))
def test_windows_hold_the_features_and_trees_of_their_words(question, passage, limit, stride):
    """Each wordpiece has the features, and each word the ancestors, that it has in the whole."""
    reading = {"layers": (*NAMES, "heads"), "words": True}
    how = {"long_examples": WINDOWS, "longest_question": 5, "stride": stride}
    columns = columns_of(question, passage)
    whole = collated(QuestionDataset(columns, InputFormat(CLS, SEP, PAD, **reading)))
    cut = QuestionDataset(columns, InputFormat(CLS, SEP, PAD, limit=limit, **reading, **how))
    kept, spans = len(cut.items.rows(0)[0][0]) and cut.items.rows(0)[0][0][2], cut.items.rows(0)
    batch = collated(cut)
    for row, (_, (_, begin, end)) in enumerate(spans):
        places = [*range(1, 1 + kept), *range(kept + 2, kept + 2 + end - begin)]
        others = [*range(1, 1 + kept)]
        others += [len(question.tokens) + 2 + w for w in range(begin, end)]
        ours, theirs = (
            sample["net_input"]["src_factors"][number][where].tolist()
            for sample, number, where in ((batch, row, places), (whole, 0, others))
        )
        assert ours == theirs
        assert depths(batch, row, places) == depths(whole, 0, others)


def depths(batch, row, places):
    """Return how many heads are above the word of each token."""
    words = batch["net_input"]["word_of"][row][places].tolist()
    heads = batch["net_input"]["heads"][row].tolist()
    found = []
    for word in words:
        steps = 0
        while heads[word] != word:
            word, steps = heads[word], steps + 1
        found.append(steps)
    return found

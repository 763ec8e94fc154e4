"""Batches against the plainest way to lay examples out, and what has to hold of any batch."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_text import WORDS, encode

from fairseq_plugins.data.text_batches import lay_out
from fairseq_plugins.data.text_columns import Rows, SentenceColumns
from fairseq_plugins.data.text_items import SPLIT, TRUNCATE, InputFormat
from fairseq_plugins.data.training_datasets import FILE, LENGTH, RANDOM, TrainingTexts
from fairseq_plugins.errors import InputError
from fairseq_plugins.syntax.labels import PAD_ID, SPECIAL_ID
from fairseq_plugins.syntax.layers import LAYERS
from fairseq_plugins.targets.gold import ClassIds, Numbers, WordIds

CLS, SEP, PAD = 101, 102, 7
FEATURE_NAMES = ("subword", "pos", "case")
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(encode)
SENTENCES = st.lists(SENTENCE, min_size=1, max_size=6)
PAIRS = st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=6)


def dataset_of(examples, *, order=FILE, gold=None, **reading):
    """Make a dataset of examples, each one sentence or a tuple of two."""
    examples = [e if isinstance(e, tuple) else (e,) for e in examples]
    columns = [SentenceColumns.of(side, ["pos", "case"]) for side in zip(*examples)]
    found = TrainingTexts(columns, InputFormat(CLS, SEP, PAD, **reading), gold=gold)
    found.order = order
    return found


def collated(dataset, indices=None):
    indices = range(len(dataset)) if indices is None else indices
    return dataset.collater([dataset[i] for i in indices])


def row_of(example):
    """Lay one example out by hand: tokens, segments, factors."""
    tokens, segments, factors = [CLS], [0], [[SPECIAL_ID] * 3]
    for number, side in enumerate(example if isinstance(example, tuple) else (example,)):
        (places,) = LAYERS["subword"].of_row(None, np.array(side.word_of, int))
        for token, word, place in zip(side.tokens, side.word_of, places):
            tokens.append(token)
            factors.append([place, side.layers["pos"][word], side.layers["case"][word]])
        tokens.append(SEP)
        factors.append([SPECIAL_ID] * 3)
        segments += [number] * (len(side.tokens) + 1)
    return tokens, segments, factors


@settings(max_examples=60, deadline=None)
@given(st.one_of(SENTENCES, PAIRS))
def test_rows_are_laid_out_as_bert_reads_them(examples):
    batch = collated(dataset_of(examples, layers=FEATURE_NAMES))
    inputs = batch["net_input"]
    known = inputs.pop("known")
    rows = [row_of(examples[i]) for i in batch["id"].tolist()]
    lengths = [len(tokens) for tokens, _, _ in rows]
    assert lengths == sorted(lengths, reverse=True)
    width = max(len(tokens) for tokens, _, _ in rows)
    assert inputs["src_tokens"].shape == (len(examples), width)
    for i, (tokens, segments, factors) in enumerate(rows):
        pad = width - len(tokens)
        assert inputs["src_tokens"][i].tolist() == tokens + [PAD] * pad
        assert inputs["segments"][i].tolist() == segments + [0] * pad
        assert inputs["src_factors"][i].tolist() == factors + [[PAD_ID] * 3] * pad
    assert inputs["src_lengths"].tolist() == known["lengths"].tolist() == lengths
    firsts = [segments.count(0) for _, segments, _ in rows]
    assert known["firsts"].tolist() == firsts
    distinct = {token for tokens, _, _ in rows for token in tokens[1:]}
    assert known["distinct"].tolist() == sorted(distinct)
    assert batch["ntokens"] == sum(lengths)
    real = [i * width + s for i, row in enumerate(rows) for s in range(len(row[0]))]
    assert inputs["token_positions"].tolist() == real
    assert all(value.dtype == torch.int64 for value in inputs.values())
    assert (batch["nsentences"], batch["total"]) == (len(examples), len(examples))
    assert "target" not in batch


@settings(max_examples=60, deadline=None)
@given(st.permutations(FEATURE_NAMES), st.integers(0, 3), SENTENCES)
def test_feature_columns_are_in_the_order_asked_for(order, count, examples):
    names = tuple(order[:count])
    inputs = collated(dataset_of(examples, layers=names))["net_input"]
    full = collated(dataset_of(examples, layers=FEATURE_NAMES))["net_input"]["src_factors"]
    if not names:
        assert "src_factors" not in inputs
    else:
        columns = [FEATURE_NAMES.index(name) for name in names]
        assert torch.equal(inputs["src_factors"], full[:, :, columns])


@settings(max_examples=100, deadline=None)
@given(SENTENCES, st.integers(6, 40), st.randoms())
def test_every_word_is_found_once_whatever_the_limit(examples, limit, rng):
    """word_rows points at each word's first wordpiece, windows or not, whatever the batch."""
    dataset = dataset_of(examples, by_word=True, limit=limit, long_examples=SPLIT)
    indices = list(range(len(examples)))
    rng.shuffle(indices)
    batch = collated(dataset, indices)
    inputs = batch["net_input"]
    assert sorted(batch["id"].tolist()) == sorted(indices)
    chosen = [examples[i] for i in batch["id"].tolist()]
    assert inputs["src_tokens"].size(1) <= limit
    assert batch["words_per_example"].tolist() == [len(e.words) for e in chosen]
    packed = inputs["src_tokens"].flatten()[inputs["token_positions"]]  # (N,)
    first = [e.tokens[e.word_of.index(w)] for e in chosen for w in range(len(e.words))]
    assert packed[inputs["word_rows"]].tolist() == first
    assert len(set(inputs["word_rows"].tolist())) == len(first)
    assert batch["ntokens"] == len(packed) == dataset.num_tokens_vec(np.array(indices)).sum()
    rows = sum(inputs["src_tokens"][:, 0] == CLS)
    assert rows == len(inputs["src_tokens"]) >= len(examples)
    for example, size in zip(examples, dataset.sizes):
        fits = len(example.tokens) + 2 <= limit
        assert (size == len(example.tokens) + 2) == fits


@settings(max_examples=60, deadline=None)
@given(SENTENCES, st.integers(6, 40))
def test_windows_hold_the_features_of_their_wordpieces(examples, limit):
    names = {"layers": FEATURE_NAMES, "by_word": True}
    whole = collated(dataset_of(examples, **names))
    cut = collated(dataset_of(examples, **names, limit=limit, long_examples=SPLIT))
    assert factors_of_words(cut) == factors_of_words(whole)


def factors_of_words(batch):
    inputs = batch["net_input"]
    rows = inputs["src_factors"].flatten(0, 1)[inputs["token_positions"]][inputs["word_rows"]]
    parts = rows.split(batch["words_per_example"].tolist())
    return {i: part.tolist() for i, part in zip(batch["id"].tolist(), parts)}


@settings(max_examples=60, deadline=None)
@given(PAIRS, st.integers(5, 30))
def test_truncated_pairs_keep_the_beginnings(examples, limit):
    dataset = dataset_of(examples, layers=FEATURE_NAMES, limit=limit, long_examples=TRUNCATE)
    batch = collated(dataset)
    inputs = batch["net_input"]
    for i, number in enumerate(batch["id"].tolist()):
        example = examples[number]
        full = [len(side.tokens) for side in example]
        length = int(inputs["src_lengths"][i])
        assert length == min(sum(full) + 3, limit) == dataset.sizes[number]
        tokens = inputs["src_tokens"][i][:length].tolist()
        first = tokens.index(SEP) - 1
        second = length - 3 - first
        assert tokens == [CLS, *example[0].tokens[:first], SEP, *example[1].tokens[:second], SEP]
        if sum(full) + 3 > limit:
            assert abs(first - second) <= 1 or min(first, second) == min(full)
            assert min(first, second) > 0
        segments = [0] * (first + 2) + [1] * (second + 1)
        assert inputs["segments"][i][:length].tolist() == segments


def test_word_places_do_not_depend_on_the_batch():
    examples = [encode(["alice", "Bob"]), encode(["night"]), encode(["garden", "good", "a"])]
    dataset = dataset_of(examples, by_word=True)
    assert [dataset[i]["words"].tolist() for i in range(3)] == [[1, 3], [1], [1, 3, 5]]
    assert collated(dataset, [2, 0])["net_input"]["word_rows"].tolist() == [1, 3, 5, 8, 10]


def test_too_long_an_example_is_refused_by_default():
    examples = [encode(["by"]), encode(["garden"] * 10)]
    message = "example 1 has 22 tokens, .* the limit is 16; choices: --long-examples "
    for by_word, choice in ((False, "truncate"), (True, "split")):
        with pytest.raises(InputError, match=message + choice):
            dataset_of(examples, limit=16, by_word=by_word)


def test_word_longer_than_the_window_loses_its_end():
    dataset = dataset_of([encode(["abcdefghijkl"])], by_word=True, limit=5, long_examples=SPLIT)
    assert dataset[0]["lengths"] == [5]
    assert dataset[0]["words"].tolist() == [1]


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 10), min_size=1, max_size=40),
    max_sentences=st.one_of(st.none(), st.integers(1, 30)),
    max_tokens=st.one_of(st.none(), st.integers(12, 60)),
    multiple=st.sampled_from([1, 2, 8]),
)
def test_no_example_is_lost_in_batching(sizes, max_sentences, max_tokens, multiple):
    dataset = dataset_of([SimpleNamespace(tokens=[1] * n, **one_word(n)) for n in sizes])
    indices = dataset.ordered_indices()
    found = dataset.batch_by_size(indices, max_tokens, max_sentences, multiple)
    assert [i for batch in found for i in batch] == indices.tolist()
    for batch in found:
        assert max_sentences is None or len(batch) <= max_sentences
        assert max_tokens is None or len(batch) * max(dataset.sizes[batch]) <= max_tokens
    if max_sentences is not None and max_tokens is None:
        assert len(found) == -(-len(sizes) // max_sentences)


def one_word(pieces):
    return {"word_of": [0] * pieces, "layers": {"pos": [2], "case": [2]}}


def test_example_longer_than_a_batch_is_refused():
    dataset = dataset_of([encode(["by"]), encode(["garden"] * 10)])
    with pytest.raises(InputError, match="example 1 has 22 tokens, more than --max-tokens 20"):
        dataset.batch_by_size(np.arange(2), max_tokens=20)
    assert dataset.batch_by_size(np.arange(0), max_tokens=20) == []


def test_orders():
    dataset = dataset_of([encode(["by"] * n) for n in (5, 1, 4, 1, 3)])
    assert dataset.ordered_indices().tolist() == [0, 1, 2, 3, 4]
    dataset.order = LENGTH
    found = {tuple(dataset.ordered_indices().tolist()) for _ in range(40)}
    assert found == {(1, 3, 4, 2, 0), (3, 1, 4, 2, 0)}  # examples of one length change places
    dataset.order = RANDOM
    orders = []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        orders.append(dataset.ordered_indices().tolist())
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[2]) == [0, 1, 2, 3, 4]


def test_targets_are_those_of_the_rows():
    examples = [encode(["by"] * n) for n in (2, 1, 3)]
    golds = {
        ClassIds: (np.array([1, 0, 1]), torch.tensor([1, 1]), torch.int64),
        Numbers: (np.array([0.5, 1.0, 2.0]), torch.tensor([2.0, 0.5]).double(), torch.float64),
        WordIds: (
            Rows.of([[3, 1], [0], [2, 4, 5]]),
            torch.tensor([2, 4, 5, 3, 1]),
            torch.int64,
        ),
    }
    for kind, (values, expected, dtype) in golds.items():
        by_word = kind is WordIds
        dataset = dataset_of(examples, gold=kind(values), by_word=by_word)
        target = collated(dataset, [2, 0])["target"]
        assert torch.equal(target, expected)
        assert target.dtype == dtype


def test_partly_labelled_data_has_no_targets():
    dataset = dataset_of([encode(["by"])] * 2, gold=ClassIds(np.array([1, -1])))
    assert not dataset.labelled
    assert dataset.unreachable == 0
    assert "target" not in collated(dataset)
    assert [dataset.gold[0], dataset.gold[1]] == [1, None]


def test_gold_that_does_not_fit_is_refused():
    two = [encode(["by"] * 2), encode(["by"])]
    with pytest.raises(InputError, match="3 labels of 2 examples"):
        dataset_of(two, gold=ClassIds(np.array([1, 0, 1])))
    with pytest.raises(InputError, match="example 0 has 1 labels for 2 words"):
        dataset_of(two, gold=WordIds(Rows.of([[1], [0]])), by_word=True)


def test_collating_nothing_gives_nothing():
    assert dataset_of([encode(["by"])]).collater([]) == {}


def test_dataset_can_go_to_worker_processes():
    dataset = dataset_of([encode(["by", "night"])], layers=FEATURE_NAMES)
    again = pickle.loads(pickle.dumps(dataset))
    assert torch.equal(
        collated(again)["net_input"]["src_factors"], collated(dataset)["net_input"]["src_factors"]
    )


def test_rows_without_a_token_are_refused_where_batches_are_made():
    """An accelerator would wait for the answer, so its layouts do not ask."""
    rows = [
        {"id": id_, "lengths": [2, count], "tokens": np.arange(2 + count)}
        for id_, count in ((5, 1), (7, 0))
    ]
    assert lay_out(rows[:1], 0)["ntokens"] == 3
    with pytest.raises(InputError, match="example 7 of the split, from 0, has a row without"):
        lay_out(rows, 0)

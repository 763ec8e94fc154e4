"""Sentences with the questions of all labels: what a batch holds, and gold that comes back."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from asked_entities import (
    QUESTIONS,
    entities_of,
    examples,
    flat_folder,
    nested_folder,
    questions_file,
)
from entity_tasks import make_task
from hypothesis import given, settings
from hypothesis import strategies as st
from prepared_text import IDS, make_model, pieces_of

from fairseq_plugins.errors import InputError
from fairseq_plugins.nn.entity_spans import pairs_of, span_scores
from fairseq_plugins.syntax.rows import Rows
from fairseq_plugins.targets.entity_spans import NESTED, found_spans, kept_spans
from fairseq_plugins.targets.gold import WordIds

LONGEST = 14  # tokens of a row that leave most sentences several windows


@pytest.fixture(scope="module")
def parts():
    return {"train": examples(25, 3, longest=14)}


@pytest.fixture(scope="module")
def places(parts, tmp_path_factory):
    root = tmp_path_factory.mktemp("asked")
    questions = questions_file(root / "q.tsv", {"LOC": "the garden", "PER": "alice"})
    return nested_folder(root / "nested", parts), flat_folder(root / "flat", parts), questions


def dataset_of(places, number=0, **given):
    task = make_task(places[number], places[2], **given)
    model = make_model(task, "bert_mrc_tiny")
    task.load_dataset("train")
    return task, model, task.dataset("train")


def decoded(batch, types, overlap=NESTED):
    """Read gold marks and spans as if a model were sure of them."""
    marks, counts = batch["target"].bool(), batch["net_input"]["word_counts"]
    pairs = pairs_of(marks, counts)
    logits = torch.stack([~marks, marks], dim=-1).float() * 20
    gold = {tuple(one) for one in batch["spans"].tolist()}
    match = [9.0 if pair in gold else -9.0 for pair in zip(*(c.tolist() for c in pairs))]
    scores = span_scores(logits, *pairs, torch.tensor(match))
    found = found_spans(scores, *pairs, counts, batch["asked"], types)
    return [kept_spans(found.get(i, ()), overlap) for i in range(len(batch["id"]))]


@pytest.mark.parametrize("limit", [None, LONGEST])
@pytest.mark.parametrize("number", [0, 1])
def test_gold_entities_come_back_from_their_targets(places, parts, number, limit):
    _, _, dataset = dataset_of(places, number, max_positions=limit)
    batch = dataset.collater([dataset[i] for i in range(len(dataset))])
    assert bool(dataset.refitted) == (limit is not None)
    found = decoded(batch, dataset.questions.labels)
    whole = [one if number == 0 else flat for one in parts["train"] for flat in [_outer(one)]]
    for place, index in enumerate(batch["id"].tolist()):
        assert sorted(one[:3] for one in found[place]) == entities_of(whole[index])
    nested = any(
        a[1] <= b[1] and b[2] <= a[2] and a != b
        for one in whole
        for a in entities_of(one)
        for b in entities_of(one)
    )
    assert nested == (number == 0)


def _outer(example):
    from asked_entities import flat

    return flat([example])[0]


def test_rows_are_questions_with_sentences(places, parts):
    _, _, dataset = dataset_of(places)
    item = dataset[4]
    words = parts["train"][4].words
    for row, question in zip(item["rows"], ("the garden", "alice")):
        pieces = [[p for w in part for p in pieces_of(w)] for part in (question.split(), words)]
        spelled = ["[CLS]", *pieces[0], "[SEP]", *pieces[1], "[SEP]"]
        assert row["tokens"].tolist() == [IDS[piece] for piece in spelled]
        assert row["segments"].tolist() == [0] * (len(pieces[0]) + 2) + [1] * (len(pieces[1]) + 1)
        firsts = [row["tokens"][at] for at in row["words"]]
        assert firsts == [IDS[pieces_of(word)[0]] for word in words]


@pytest.mark.parametrize("limit", [None, LONGEST])
def test_answers_do_not_hang_on_batch_or_padding(places, limit):
    task, model, dataset = dataset_of(places, max_positions=limit)
    model = model.double()
    for parameter in model.head.parameters():
        torch.nn.init.normal_(parameter)

    def answers(indices):
        batch = dataset.collater([dataset[i] for i in indices])
        with torch.no_grad():
            logits, extra = model(**batch["net_input"])
        counts = batch["net_input"]["word_counts"].tolist()
        parts = logits.split(counts)
        owners = np.repeat(np.arange(len(counts)), counts)
        begins = np.cumsum([0, *counts])
        found = {}
        for group, (place, label) in enumerate(batch["asked"].tolist()):
            key = (indices[place], label)
            found[key] = (parts[group], {})
        for first, last, match in zip(*(extra[n].tolist() for n in ("first", "last", "match"))):
            group = owners[first]
            place, label = batch["asked"][group].tolist()
            pair = (first - begins[group], last - begins[group])
            found[indices[place], label][1][pair] = match
        return found

    together, alone = answers([3, 7, 0, 12]), answers([7])
    for key, (logits, pairs) in alone.items():
        assert torch.allclose(together[key][0], logits, atol=1e-9)
        assert together[key][1] == pytest.approx(pairs, abs=1e-9)


def test_layers_of_the_question_are_read(places, tmp_path):
    """Features and trees of both sides; of other questions the answers are others."""
    task = make_task(places[0], places[2], spacy_model=None)
    with pytest.raises(InputError, match="was prepared without"):
        make_model(task, "bert_sla_tiny", entity_match="linear")


@pytest.mark.parametrize("lost", [1, 2])
def test_gold_of_another_number_of_labels_is_refused(places, lost):
    _, _, dataset = dataset_of(places)
    rows = [dataset.gold[number] for number in range(len(dataset))]
    count = len(rows[1]) // 2
    rows[1] = rows[1][:-lost]
    found = WordIds(Rows.of(rows))
    message = rf"example 2 .* has {2 * count - lost} labels for {count} words of 2 labels each"
    with pytest.raises(InputError, match=message):
        type(dataset)([dataset.sentence], dataset.form, gold=found, **known_of(dataset))


def known_of(dataset):
    """Return what else a dataset was made of."""
    known = {name: getattr(dataset, name) for name in ("questions", "word_labels", "levels")}
    return {**known, "name_of": dataset.name_of}


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 24), min_size=1, max_size=6, unique=True))
def test_sizes_count_all_rows(places, indices):
    _, _, dataset = dataset_of(places)
    batch = dataset.collater([dataset[i] for i in indices])
    assert batch["ntokens"] == dataset.sizes[indices].sum()
    assert batch["nsentences"] == len(indices)
    lengths = batch["net_input"]["src_lengths"].tolist()
    assert lengths == sorted(lengths, reverse=True)
    assert len(lengths) == len(indices) * len(QUESTIONS)

"""Strengths of words: the difference attention from the other sentence, counted by loops."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import prepared_text
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from prepared_text import SIZES, examples, make_model, make_task, pieces_of, prepare

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.inference import difference_study
from fairseq_plugins.inference.difference_study import (
    running_words,
    sentence_places,
    study_examples,
    study_split,
    word_spans,
    word_strengths,
)
from fairseq_plugins.inference.prediction import Predictor
from fairseq_plugins.pretrained.families import RowFormat

PAIR = ("Alice sees  the garden", "green paris by night")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    splits = {
        "train": examples("classes", 3, 1, pairs=True),
        "valid": examples("classes", 30, 2, pairs=True),
        "test": examples("classes", 3, 3, pairs=True, gold=False),
    }
    return prepare(tmp_path_factory.mktemp("study") / "data", "classes", splits, annotations=())


def predictor(folder, arch="dabert_tiny", seed=4, task=None, **options):
    """A model of random weights, wild enough to look here and there."""
    task = task or make_task(folder)
    torch.manual_seed(seed)
    model = make_model(task, arch, **{**SIZES, "num_hidden_layers": 3, **options})
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.6)
    return Predictor(task.inputs, [model])


def study(made, pair=PAIR, layer=None):
    (found,) = study_examples(made, [Example("0", pair)], layer)
    return found


def loops(made, pair, layer):
    """Strengths by the text of the file: sums over pieces of means over rows of means of heads."""
    encoded = [prepared_text.encode(text.split()) for text in pair]
    dataset = made.inputs.take([encoded])
    with torch.no_grad():
        net_input = made.batch(dataset, [0])["net_input"]
        found = made.models[0](**net_input, need_weights=True)[1]["difference"]
    table = found[layer][0].double().numpy()  # (H, S, S)
    cut = [[(word, pieces_of(word)) for word in text.split()] for text in pair]
    at, places = 1, []
    for words in cut:
        places.append([])
        for _, pieces in words:
            places[-1].append(range(at, at + len(pieces)))
            at += len(pieces)
        at += 1
    strengths = []
    for own, other in ((0, 1), (1, 0)):
        rows = [i for word in places[other] for i in word]
        strengths.append([])
        for word in places[own]:
            value = 0.0
            for j in word:
                means = [sum(head[i, j] for head in table) / len(table) for i in rows]
                value += sum(means) / len(rows)
            strengths[-1].append(value)
    return strengths


def words_of(sentence):
    """The words of a studied sentence, as they stand in the text."""
    return [sentence.text[begin:end] for begin, end in sentence.spans]


@pytest.mark.parametrize("scope", ["all", "cross"])
def test_strengths_are_what_the_text_says(folder, scope):
    made = predictor(folder, dual_layers="0,2", difference_scope=scope)
    one, two = (loops(made, PAIR, layer) for layer in (0, 2))
    for layer, expected in ((0, one), (2, two)):
        for sentence, values in zip(study(made, layer=layer).sentences, expected):
            np.testing.assert_allclose(sentence.strengths, values, atol=1e-6)
            assert 0 < sentence.strengths.sum() < 1
    for sentence, *values in zip(study(made).sentences, one, two):
        np.testing.assert_allclose(sentence.strengths, np.mean(values, 0), atol=1e-6)
    assert not np.allclose(one[0], two[0], atol=1e-3)


def test_words_are_those_of_the_raw_text(folder):
    found = study(predictor(folder))
    assert found.texts == PAIR
    for sentence in found.sentences:
        assert words_of(sentence) == sentence.text.split()
    found = study(predictor(folder), ("Alice sees,Bob (the garden)!", "\u200b"))
    assert words_of(found.sentences[0]) == "Alice sees , Bob ( the garden ) !".split()
    assert words_of(found.sentences[1]) == ["\u200b"]


def test_predictions_are_those_of_predict(folder):
    made = predictor(folder)
    other = predictor(folder, "bert_plain_tiny", seed=5)
    both = Predictor(made.inputs, [*made.models, *other.models])
    for one in (made, both):
        (expected,) = one.predict([PAIR])
        found = study(one).first
        assert found.label == expected.label
        assert found.probability == pytest.approx(expected.probability, abs=1e-6)
    assert study(both).first.probability != study(made).first.probability


def test_splits_are_studied_as_raw_text_is(folder):
    made = predictor(folder)
    given = examples("classes", 30, 2, pairs=True)
    found = list(study_split(made, "valid", most=4))
    assert [pair.first.gold for pair in found] == [e.label for e in given[:4]]
    assert [pair.first.id for pair in found] == [e.id for e in given[:4]]
    for pair, raw in zip(found, study_examples(made, given)):
        assert pair.texts == raw.texts
        assert pair.first.probability == pytest.approx(raw.first.probability, abs=1e-9)
        for one, two in zip(pair.sentences, raw.sentences):
            np.testing.assert_allclose(one.strengths, two.strengths, atol=1e-9)
            assert one.spans == two.spans


def test_wrong_only(folder):
    made = predictor(folder)
    every = list(study_split(made, "valid"))
    wrong = [pair.first for pair in every if pair.first.label != pair.first.gold]
    assert 0 < len(wrong) < len(every) == 30
    found = [pair.first for pair in study_split(made, "valid", wrong_only=True)]
    assert [one.id for one in found] == [one.id for one in wrong]
    assert len(list(study_split(made, "valid", most=1, wrong_only=True))) == 1


def test_pairs_too_long_are_shortened_where_that_is_wanted(folder):
    long = " ".join(["night"] * 60)
    short = make_task(folder, max_positions=20, long_examples="truncate")
    found = study(predictor(folder, task=short), (long, "the garden"))
    first, second = (sentence.strengths for sentence in found.sentences)
    assert len(first) == 60
    assert (first[:6] > 0).all()
    assert not first[8:].any()
    assert len(second) == 2
    with pytest.raises(ValueError, match="the limit is 20"):
        study(predictor(folder, task=make_task(folder, max_positions=20)), (long, "the garden"))


def test_refusals(folder, tmp_path):
    made = predictor(folder)
    with pytest.raises(ValueError, match="layer 1 has no difference attention.*or layer 0$"):
        study(made, layer=1)
    with pytest.raises(ValueError, match="no split 'dev'; choices: train, valid, test"):
        list(study_split(made, "dev"))
    with pytest.raises(ValueError, match="split 'test' of .* has no gold labels"):
        list(study_split(made, "test", wrong_only=True))
    for arch, options in (("bert_plain_tiny", {}), ("dabert_tiny", {"ablate": "difference"})):
        with pytest.raises(ValueError, match="no difference attention"):
            study(predictor(folder, arch, **options))
    splits = {"valid": examples("score", 3, pairs=True)}
    scores = prepare(tmp_path / "scores", "score", splits, annotations=())
    with pytest.raises(ValueError, match="split 'valid' of .* has scores"):
        list(study_split(predictor(scores), "valid", wrong_only=True))
    assert study(predictor(scores)).first.score


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "valid.examples.jsonl:2: no pair"),
        ('{"id": 1, "texts": ["a"]}', "valid.examples.jsonl:2: no pair"),
        ('{"id": 1, "texts": ["other", "words than before"]}', "has 1 wordpieces"),
        (None, "has 2 examples, the split 3"),
    ],
)
def test_kept_texts_are_checked(tmp_path, line, message):
    splits = {"valid": examples("classes", 3, 2, pairs=True)}
    folder = prepare(tmp_path / "data", "classes", splits, annotations=())
    path = folder / "valid.examples.jsonl"
    lines = path.read_text().splitlines()
    lines[1:2] = [] if line is None else [line]
    path.write_text("".join(f"{one}\n" for one in lines))
    with pytest.raises(ValueError, match=message):
        list(study_split(predictor(folder), "valid"))
    assert json.loads(lines[0])


@given(st.data(), st.integers(1, 9), st.integers(1, 9), st.integers(1, 2))
def test_strengths_share_what_the_other_sentence_pays(data, left, right, separators):
    """However words are cut, nothing is lost, and no sentence gets more than there is."""
    size = left + right + 2 + separators
    table = np.random.default_rng(data.draw(st.integers(0, 99))).random((size, size))
    table /= table.sum(1, keepdims=True)
    segments = np.array([0] * (left + 2) + [1] * (right + separators))
    first, second = sentence_places(segments, RowFormat(separators))
    special = {0, *range(left + 1, left + 1 + separators), size - 1}
    assert [*first, *second] == [i for i in range(size) if i not in special]
    jumps = data.draw(st.lists(st.integers(0, 1), min_size=left - 1, max_size=left - 1))
    word_of = np.cumsum([0, *jumps])
    found = word_strengths(table, second, first, word_of)
    assert len(found) == word_of[-1] + 1
    np.testing.assert_allclose(found.sum(), table[np.ix_(second, first)].sum(1).mean())
    assert 0 < found.sum() < 1
    shown = word_strengths(table, second, first[: left - 1], word_of)
    assert len(shown) == len(found)


def test_words_of_other_families_end_at_punctuation():
    spans = [(0, 2), (1, 3), (3, 4), (4, 6), (7, 8), (8, 9)]
    assert running_words("cat,do gs", spans).tolist() == [0, 0, 1, 2, 3, 3]
    assert running_words("", []).tolist() == []


def test_spans_of_words():
    assert word_spans("ab c", [(0, 1), (1, 2), (3, 4)], [0, 0, 1]) == [(0, 2), (3, 4)]
    assert word_spans("\u200b", [], [0]) == [(0, 1)]
    with pytest.raises(ValueError, match="2 wordpieces, the prepared folder 1"):
        word_spans("ab", [(0, 1), (1, 2)], [0])


def test_checkpoints_without_difference_attention_are_refused(monkeypatch, tmp_path):
    """Before anything is built, from their recorded options alone."""
    recorded = {}
    found = SimpleNamespace(model=recorded)
    monkeypatch.setattr(difference_study, "check_checkpoint", lambda path, wanted: found)
    for options, why in (
        ({"_name": "bert_plain"}, "--dual-layers none"),
        ({"_name": "bert_sla", "dual_layers": "none"}, "--dual-layers none"),
        ({"_name": "dabert", "dual_layers": "0", "ablate": "difference"}, "--ablate difference"),
    ):
        recorded.clear()
        recorded.update(options)
        message = rf"'{options['_name']}' and has no .* \({why}\); .*: dabert, dabert_literal$"
        with pytest.raises(ValueError, match=message):
            difference_study.check_difference(tmp_path)
    recorded.update(ablate="guide")
    difference_study.check_difference(tmp_path)

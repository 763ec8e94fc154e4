"""What a model reads and answers, as the measure of others' files: labels, texts, JSON, pairs."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.corpora.readers.expected import (
    Expected,
    check_same_pairs,
    json_file,
    json_objects,
)
from fairseq_plugins.errors import InputError
from fairseq_plugins.targets.table import TARGETS

RTE = ("entailment", "not_entailment")
NLI = ("entailment", "neutral", "contradiction")


def expected(labels=("0", "1"), target="classes", sentences=2):
    return Expected(TARGETS[target], tuple(labels), sentences)


@pytest.mark.parametrize(
    ("written", "labels", "found"),
    [
        ("1", ("0", "1"), "1"),
        (1, ("0", "1"), "1"),
        (" 1 ", ("0", "1"), "1"),
        ("YES", ("no", "yes"), "yes"),
        ("entails", RTE, "entailment"),
        ("ENTAILMENT", NLI, "entailment"),
        ("non-entailment", RTE, "not_entailment"),
        ("neutral", RTE, "not_entailment"),
        ("contradiction", ("not_entailment", "entailment"), "not_entailment"),
        ("contradiction", ("neutral", "entails"), "neutral"),
        ("Contradiction", NLI, "contradiction"),
    ],
)
def test_a_label_is_called_as_the_model_calls_it(written, labels, found):
    assert expected(labels).label(written, "x:1") == found


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        ("2", ("0", "1")),
        ("neutral", ("0", "1")),
        ("non-entailment", NLI),
        ("contradiction", ("neutral", "not_entailment")),
        ("yes", RTE),
        ("YES", ("yes", "Yes")),
    ],
)
def test_a_label_of_no_meaning_to_the_model_is_refused(written, labels):
    with pytest.raises(InputError, match=f"x:1: gold label '{written}' is none of the model's"):
        expected(labels).label(written, "x:1")


@pytest.mark.parametrize("written", [None, "", " "])
@pytest.mark.parametrize("target", ["classes", "score"])
def test_no_label_is_refused(written, target):
    with pytest.raises(InputError, match="x:1: no gold label"):
        expected(target=target).label(written, "x:1")


def test_scores_stay_as_they_are_written():
    measure = expected((), "score")
    assert [measure.label(one, "x:1") for one in ("3.50", 2, "-1e3")] == ["3.50", "2", "-1e3"]
    for written in ("a", "nan", "inf", "1_0"):
        with pytest.raises(InputError, match=f"x:1: score '{written}' is no finite number"):
            measure.label(written, "x:1")


def test_labels_taken_for_others_are_logged_once(caplog):
    caplog.set_level(logging.INFO)
    measure = expected(RTE)
    for written in ("entailment", "neutral", "entails", "neutral"):
        measure.label(written, "x:1")
    measure.log_respelled(Path("file"))
    measure.log_respelled(Path("file"))
    assert caplog.messages == [
        "file: labels are taken for known ones: 'entails' as 'entailment' (1), "
        "'neutral' as 'not_entailment' (2)"
    ]


def test_an_example_has_its_texts_label_and_line():
    made = expected().example(("7", ("a b", "c"), 1), "x:4", 4)
    assert made == Example("7", ("a b", "c"), label="1", line=4)
    assert expected().example(("7", ("a b", "c"), 1), "x:4").line == 0


@pytest.mark.parametrize(
    ("texts", "sentences", "told"),
    [
        (("a",), 2, "x:1: single sentences, but the model reads pairs of sentences"),
        (("a", "b"), 1, "x:1: pairs of sentences, but the model reads single sentences"),
        (("a", " "), 2, "x:1: ' ' is no sentence"),
        (("", "b"), 2, "x:1: '' is no sentence"),
        ((1, "b"), 2, "x:1: 1 is no sentence"),
        ((None,), 1, "x:1: None is no sentence"),
    ],
)
def test_other_texts_than_the_model_reads_are_refused(texts, sentences, told):
    with pytest.raises(InputError, match=f"^{told}$"):
        expected(sentences=sentences).example(("7", texts, "1"), "x:1")


def test_lines_of_json_come_with_their_numbers(tmp_path):
    path = tmp_path / "file.json"
    path.write_text('{"a": 1}\n\n \n{"a": 2}\n')
    assert [*json_objects(path)] == [(1, {"a": 1}), (4, {"a": 2})]
    path.write_text('{"a": 1}\n[2]\n')
    with pytest.raises(InputError, match=r"json:2: expected a JSON object, found '\[2\]'"):
        [*json_objects(path)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "file.json: no JSON"),
        ("[" * 100_000, "file.json: no JSON"),
        (" 3\n", "file.json: expected a JSON object, found '3'"),
    ],
)
def test_a_file_of_other_json_is_refused(tmp_path, text, told):
    path = tmp_path / "file.json"
    with pytest.raises(FileNotFoundError, match="no such file"):
        json_file(path)
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        json_file(path)
    path.write_text('{"a": [1]}')
    assert json_file(path) == {"a": [1]}


def test_both_files_hold_the_same_examples():
    before, after = Path("before"), Path("after")
    one, two = Example("1", ("a",), line=4), Example("2", ("b",), line=5)
    check_same_pairs([one, two], [one, two], (before, after))
    with pytest.raises(InputError, match="after:5: id '2', but before:4 has '1'"):
        check_same_pairs([one, two], [two, one], (before, after))
    with pytest.raises(InputError, match="after has 1 examples, before 2: they must hold"):
        check_same_pairs([one, two], [one], (before, after))
    with pytest.raises(InputError, match="after has 2 examples, before 1: they must hold"):
        check_same_pairs([one], [one, two], (before, after))

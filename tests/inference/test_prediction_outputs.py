"""Predictions as text, and files that are complete or not there."""

from __future__ import annotations

import json

import pytest
import torch

from fairseq_plugins.inference.prediction_outputs import opened, renderer
from fairseq_plugins.inference.prediction_records import (
    ClassPrediction,
    ScorePrediction,
    WordPrediction,
    distributions,
    mean_answer,
)

CLASS = ClassPrediction("7", "yes", {"no": 0.25, "yes": 0.75}, "no")
SCORE = ScorePrediction("8", 3.5, 0.0)
P = ({"O": 0.9, "B-x": 0.1}, {"O": 0.2, "B-x": 0.8})
WORDS = WordPrediction("9", ("a", "Ünal"), ("O", "B-x"), P, ("O", "O"))
MADE = {"classes": CLASS, "score": SCORE, "word_labels": WORDS}


def bare(made):
    return type(made)(**{**vars(made), "gold": None})


def render(form, made, **options):
    target = next(key for key, value in MADE.items() if type(value) is type(made))
    head, line = renderer(form, target, **options)
    return head + line(made)


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_json_lines_hold_all_there_is(made):
    text = render("jsonl", made)
    assert text.endswith("}\n")
    assert text.count("\n") == 1
    record = json.loads(text)
    assert record["id"] == made.id
    assert "gold" in record
    assert "gold" not in json.loads(render("jsonl", bare(made)))


def test_json_of_each_kind():
    assert json.loads(render("jsonl", CLASS)) == {
        "id": "7",
        "label": "yes",
        "probability": 0.75,
        "probabilities": {"no": 0.25, "yes": 0.75},
        "gold": "no",
    }
    assert json.loads(render("jsonl", SCORE)) == {"id": "8", "score": 3.5, "gold": 0.0}
    record = json.loads(render("jsonl", WORDS))
    assert record["labels"] == ["O", "B-x"]
    assert record["probability"] == [0.9, 0.8]
    assert "Ünal" in render("jsonl", WORDS)


@pytest.mark.parametrize("made", [*MADE.values(), *map(bare, MADE.values())])
def test_tables_have_as_many_columns_as_their_head(made):
    lines = [line for line in render("tsv", made).split("\n") if line]
    assert len({line.count("\t") for line in lines}) == 1
    assert len(lines) == 1 + len(getattr(made, "words", "x"))


def test_columns_of_words():
    assert render("conll", WORDS) == "a O O\nÜnal O B-x\n\n"
    assert render("conll", bare(WORDS)) == "a O\nÜnal B-x\n\n"


def test_submissions_use_the_names_of_the_server():
    names = {"yes": "entailment", "no": "not_entailment"}
    assert render("glue", CLASS, names=names) == "index\tprediction\n7\tentailment\n"
    assert render("glue", SCORE, names={}) == "index\tprediction\n8\t3.500000\n"


@pytest.mark.parametrize(
    ("form", "target", "names"),
    [
        ("xml", "classes", None),
        ("conll", "classes", None),
        ("glue", "classes", None),
        ("glue", "word_labels", {}),
    ],
)
def test_formats_that_do_not_fit_are_refused(form, target, names):
    with pytest.raises(ValueError, match=f"format '{form}'"):
        renderer(form, target, names)


def write_half(path):
    with opened(path) as stream:
        stream.write("half")
        stream.flush()
        assert not path.exists()
        raise RuntimeError


def test_files_appear_when_complete(tmp_path):
    path = tmp_path / "new" / "out.txt"
    with pytest.raises(RuntimeError):
        write_half(path)
    assert list(path.parent.iterdir()) == []
    with opened(path) as stream:
        stream.write("whole\n")
    assert path.read_text() == "whole\n"
    assert list(path.parent.iterdir()) == [path]


def test_ensembles_average_probabilities_and_not_logits():
    logits = [torch.tensor([[4.0, 0.0]]), torch.tensor([[0.0, 1.0]])]
    mean = mean_answer("classes", logits)
    expected = (logits[0].double().softmax(-1) + logits[1].double().softmax(-1)) / 2
    torch.testing.assert_close(mean, expected, rtol=0, atol=0)
    assert mean_answer("score", [x[:, :1] for x in logits]).tolist() == [[2.0]]
    assert mean_answer("score", [logits[0][:, :1]]).item() == 4.0


def test_labels_are_the_most_probable():
    found = distributions(torch.tensor([[0.2, 0.8], [0.6, 0.4]]).double(), ["no", "yes"])
    assert [label for label, _ in found] == ["yes", "no"]
    for label, probabilities in found:
        assert probabilities[label] == max(probabilities.values())

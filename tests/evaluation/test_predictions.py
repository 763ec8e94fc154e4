"""Predictions as text, and read from it."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest

from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.predictions import read_predictions, renderer
from fairseq_plugins.targets.classes import ClassPrediction
from fairseq_plugins.targets.score import ScorePrediction
from fairseq_plugins.targets.table import TARGETS
from fairseq_plugins.targets.word_labels import WordPrediction

CHANCES = {"no": 0.25, "yes": 0.75}
CLASS = ClassPrediction("7", "yes", "no", probabilities=CHANCES)
SCORE = ScorePrediction("8", 3.5, 0.0)
P = ({"O": 0.9, "B-x": 0.1}, {"O": 0.2, "B-x": 0.8})
WORDS = WordPrediction("9", ("O", "B-x"), ("O", "O"), ("a", "Ünal"), P)
MADE = {"classes": CLASS, "score": SCORE, "word_labels": WORDS}


def target_of(made):
    return next(one for one in TARGETS.values() if one.prediction is type(made))


def bare(made):
    return replace(made, gold=None)


def render(form, made, **options):
    head, line = renderer(form, target_of(made), **options)
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
    assert len(lines) == 1 + len(made.texts or "x")
    broken = replace(made, id="a\tb\u2028c\nd", texts=tuple(f"{w}\t\r" for w in made.texts))
    assert [line.count("\t") for line in render("tsv", broken).splitlines()] == [
        line.count("\t") for line in render("tsv", made).splitlines()
    ]


@pytest.mark.parametrize("made", MADE.values(), ids=MADE)
def test_columns_of_a_table_come_back_in_every_row(made):
    told = replace(made, columns={"id": "k\t1", "text": "a\nb"})
    assert json.loads(render("jsonl", told))["columns"] == told.columns
    before, after = (render("tsv", one).split("\n")[1:] for one in (made, told))
    assert after == [line and f"{line}\tk 1\ta b" for line in before]


def test_columns_of_words():
    assert render("conll", WORDS) == "a O O\nÜnal O B-x\n\n"
    assert render("conll", bare(WORDS)) == "a O\nÜnal B-x\n\n"


def test_submissions_use_the_names_of_the_server():
    names = {"yes": "entailment", "no": "not_entailment"}
    assert render("glue", CLASS, names=names) == "index\tprediction\n7\tentailment\n"
    assert render("glue", SCORE, names={}) == "index\tprediction\n8\t3.500000\n"


def test_scores_of_a_submission_alone_stay_on_the_scale_of_the_server():
    rng = random.Random(3)
    scores = [5.083, -0.2, -0.0, 0.0, 5.0, 1e30, *(rng.uniform(-9, 14) for _ in range(120))]
    for score in scores:
        made = replace(SCORE, answer=score)
        written = render("glue", made, names={}).split()[-1]
        assert written == f"{sorted((0.0, score, 5.0))[1] or 0.0:.6f}"
        assert json.loads(render("jsonl", made))["score"] == score
        assert render("tsv", made).split()[4] == f"{score:.6f}"


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
    with pytest.raises(InputError, match=f"format '{form}'"):
        renderer(form, TARGETS[target], names)


@pytest.mark.parametrize("made", [*MADE.values(), *map(bare, MADE.values())])
def test_lines_are_read_as_they_were_written(made, tmp_path):
    path = tmp_path / "p.jsonl"
    texts = made.texts or ("a text",)
    path.write_text(render("jsonl", replace(made, texts=texts)), encoding="utf-8")
    (read,) = read_predictions(path, target_of(made))
    chances = made.probabilities if type(made) is ClassPrediction else ()
    assert read == replace(made, texts=texts, line=1, probabilities=chances)


def test_a_class_has_its_name_beside_it_where_there_is_one(tmp_path):
    bare, told = CLASS, replace(CLASS, names={"yes": "acceptable"})
    records = [json.loads(render("jsonl", one)) for one in (bare, told)]
    assert "name" not in records[0]
    assert records[1].pop("name") == "acceptable"
    assert records[0] == records[1]
    assert (told.shown("yes"), told.shown("no")) == ("acceptable (yes)", "no")
    assert bare.shown("yes") == "yes"
    other = replace(CLASS, answer="no", names={"yes": "acceptable"})
    assert "name" not in json.loads(render("jsonl", other))
    for form in ("tsv", "glue"):  # others read these
        given = {"names": {}} if form == "glue" else {}
        assert render(form, told, **given) == render(form, bare, **given)
    (tmp_path / "a.jsonl").write_text(render("jsonl", told))
    assert read_predictions(tmp_path / "a.jsonl", TARGETS["classes"])[0].answer == "yes"

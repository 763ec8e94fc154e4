"""What is said of served models, by which names they are found, and which cannot be served."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fairseq_plugins.bundles.index import CARD, new_bundle
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.prediction_inputs import Wanted
from fairseq_plugins.service import models
from fairseq_plugins.service.kinds import PAIRS, QUESTIONS, SENTENCES, TRANSLATION
from fairseq_plugins.service.models import Served, find_models, load_model
from fairseq_plugins.service.options import ServiceOptions
from fairseq_plugins.targets.classes import CLASSES

OPTIONS = ServiceOptions(max_texts=3, max_characters=40, max_body=500)
LIMITS = {"max_texts": 3, "max_characters": 40, "max_body": 500}


class Stand:
    """Stands for what `load` gives: of the texts that it is asked it notes how many."""

    target, failure = CLASSES, None

    def __init__(self, sentences=1, names=()):
        self.manifest = SimpleNamespace(
            sentences=sentences, dataset="toy", source_lang="en", target_lang="de"
        )
        self.inputs = SimpleNamespace(limit=128)
        self.labels, self.names = ["no", "yes"], dict(names)
        self.predictor = self  # of questions
        self.model = SimpleNamespace(  # of translation
            layout=SimpleNamespace(source=SimpleNamespace(positions=256))
        )
        self.wanted, self.asked = Wanted(sentences), []

    def answer(self, items):
        self.asked += items
        return [SimpleNamespace(record=lambda: self.failure or {}) for _ in items]

    def predict_examples(self, items, batch_size):
        return self.answer(items)

    def answer_paragraphs(self, items):
        return self.answer(items)

    def hypotheses(self, texts, **search):
        return [
            [SimpleNamespace(text=text, score=0.0, misfits=())]
            for text in self.answer(texts) and texts
        ]


def bundle(path, task="text_classification"):
    with new_bundle(path, "understanding", task, {}, {}):
        pass
    return path


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """Give what loads a stand-in as a model of a task, and notes what `load` was told."""

    def load(task, stand, options=OPTIONS):
        told = {}
        monkeypatch.setattr(models, "load", lambda paths, **how: told.update(how) or stand)
        path = tmp_path / f"bundle{len([*tmp_path.iterdir()])}"
        return load_model("a", [bundle(path, task)], options), told

    return load


@pytest.mark.parametrize(
    ("task", "stand", "kind", "own"),
    [
        ("text_classification", Stand(), SENTENCES, {"dataset": "toy", "labels": ["no", "yes"]}),
        (
            "text_classification",
            Stand(2, {"no": "bad"}),
            PAIRS,
            {"dataset": "toy", "labels": ["no", "yes"], "names": {"no": "bad"}},
        ),
        ("extractive_qa", Stand(), QUESTIONS, {"dataset": "toy", "labels": ["no", "yes"]}),
        ("syntax_translation", Stand(), TRANSLATION, {"source": "en", "target": "de"}),
    ],
)
def test_lists_say_what_a_model_is_and_takes(loaded, task, stand, kind, own):
    served, _ = loaded(task, stand)
    longest = 256 if kind is TRANSLATION else 128
    assert (served.name, served.kind, served.model) == ("a", kind, stand)
    assert served.about == {
        **{"name": "a", "task": task, "kind": kind.name, "example": kind.example, "card": None},
        **{"limits": {**LIMITS, "subwords": longest}, **own},
    }
    assert len(stand.asked) == 1


def test_of_questions_the_predictor_inside_is_described(loaded):
    stand = Stand()
    stand.predictor = Stand(names={"no": "other"})
    stand.predictor.inputs.limit = 64
    about = loaded("extractive_qa", stand)[0].about
    assert (about["limits"]["subwords"], about["names"]) == (64, {"no": "other"})


def test_a_model_that_cannot_answer_is_not_served(loaded):
    stand = Stand()
    stand.failure = ValueError("no annotator")
    with pytest.raises(InputError, match="bundle0 cannot answer .*The cat sat.*: no annotator"):
        loaded("text_classification", stand)


@pytest.mark.parametrize(
    ("task", "cut"),
    [("text_classification", "truncate"), ("mrc_ner", "split"), ("extractive_qa", None)],
)
def test_long_texts_are_cut_where_that_is_asked_for(loaded, task, cut):
    options = ServiceOptions(cut_long=True, spacy_model="mine", int8=True)
    _, told = loaded(task, Stand(), options)
    expected = {"int8": True, "cpu": False, "spacy_model": "mine"}
    assert told == (expected | {"long_examples": cut} if cut else expected)
    assert loaded(task, Stand())[1] == {"int8": False, "cpu": False}


def test_translation_is_told_how_many_threads_there_are(loaded):
    _, told = loaded("syntax_translation", Stand(), ServiceOptions(threads=3, workers=5))
    assert told == {"int8": False, "cpu": False, "threads": 3, "workers": 5}


@pytest.mark.parametrize(
    ("content", "card"),
    [
        (b"A card\n", "A card\n"),
        (b"x" * 100_000, "x" * 100_000),
        (b"x" * 100_001, None),
        (b"\xff", None),
        (None, None),
    ],
)
def test_a_card_is_text_of_a_fair_length(tmp_path, content, card):
    if content is not None:
        (tmp_path / CARD).write_bytes(content)
    assert models._card(tmp_path) == card


def test_a_card_is_a_file_of_its_own(tmp_path):
    (tmp_path / "other").write_text("secret")
    (tmp_path / CARD).symlink_to("other")
    assert models._card(tmp_path) is None
    assert models._card(tmp_path / "other") is None


def test_models_are_called_as_they_are_named_or_as_their_folder(tmp_path):
    one, other = bundle(tmp_path / "one"), bundle(tmp_path / "o=ther")
    with pytest.raises(InputError, match="'o=ther' cannot stand in an address"):
        find_models([str(other)])
    assert find_models([f"{one}", f"b={other}", f"c={one}:{other}"]) == {
        "one": [one],
        "b": [other],
        "c": [one, other],
    }


@pytest.mark.parametrize("name", ["a b", ".a", "", "-a", "a" * 101, "ä", "a/b"])
def test_names_stand_in_addresses(tmp_path, name):
    path = bundle(tmp_path / "bundle")
    if name:
        with pytest.raises(InputError, match="cannot stand in an address: name the model, NAME="):
            find_models([f"{name}={path}"])
    assert [*find_models([f"={path}"])] == ["bundle"]
    assert [*find_models([f"{'a' * 100}={path}"])] == ["a" * 100]


def test_what_cannot_be_found_is_told(tmp_path):
    path = bundle(tmp_path / "bundle")
    with pytest.raises(InputError, match="two models are called 'a': name one of them"):
        find_models([f"a={path}", f"a={path}"])
    with pytest.raises(InputError, match="':' names no model"):
        find_models([":"])
    with pytest.raises(FileNotFoundError, match="none: no such bundle or run"):
        find_models([str(tmp_path / "none")])


def test_runs_are_served_where_fairseq_is_and_none_that_translates(tmp_path, monkeypatch):
    run = tmp_path / "run"
    run.mkdir()
    monkeypatch.setattr(models, "task_of", lambda paths: "text_classification")
    assert find_models([str(run)]) == {"run": [run]}
    monkeypatch.setattr(models, "task_of", lambda paths: "syntax_translation")
    with pytest.raises(InputError, match="run is a run that translates: fairseq-plugins export"):
        find_models([str(run)])
    monkeypatch.setattr(models, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="run is no bundle .fairseq-plugins export makes one."):
        find_models([str(run)])


def test_a_served_model_answers_by_its_kind():
    stand = Stand()
    assert Served("a", QUESTIONS, stand, {}).answer(["x", "y"]) == [{}, {}]
    assert stand.asked == ["x", "y"]

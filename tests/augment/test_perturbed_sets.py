"""Perturbed sets: folders of `perturb`, AdvGLUE's file; and labels of other hands."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from perturbed_corpora import INFERENCE, edit, model, pairs, refusal, swapped, write_folder
from raw_datasets import write_raw

from fairseq_plugins.augment.perturbation.options import PerturbOptions
from fairseq_plugins.augment.perturbation.perturb import perturb
from fairseq_plugins.augment.perturbation.transformations import pair_datasets
from fairseq_plugins.augment.perturbed_sets import read_sets
from fairseq_plugins.corpora.datasets import DATASETS, find_splits
from fairseq_plugins.corpora.readers.expected import MEANINGS, Expected
from fairseq_plugins.targets.table import TARGETS


@pytest.fixture
def folder(tmp_path):
    """A perturbed set of 3 changed pairs among 4."""
    before = pairs(4)
    return write_folder(tmp_path / "SwapAnt", before, [before[0], *swapped(before[1:])])


def test_a_folder_gives_changed_pairs_and_their_originals(folder):
    (one,) = read_sets([folder], model())
    before = pairs(4)
    assert (one.name, one.dataset, one.split, one.source) == (
        "SwapAnt",
        "paws_wiki",
        "test",
        folder,
    )
    assert [(e.id, e.texts, e.label) for e in one.originals] == [
        (e.id, e.texts, e.label) for e in before[1:]
    ]
    assert [(e.texts, e.label) for e in one.perturbed] == [
        (e.texts, e.label) for e in swapped(before[1:])
    ]


@pytest.mark.parametrize("name", pair_datasets())
@pytest.mark.parametrize("count", [0, 5])
def test_what_perturb_writes_is_read(name, count, tmp_path):
    """In every dataset's format, whole or as a sample."""
    write_raw(name, tmp_path / "raw", count=8, seed=3)
    split = "valid" if "valid" in find_splits(DATASETS[name], tmp_path / "raw") else "test"
    given_ = {"split": split, "transformations": "AddPunc", "max_pairs": count, "workers": 1}
    perturb(PerturbOptions(name, str(tmp_path / "raw"), str(tmp_path / "out"), **given_))
    dataset = DATASETS[name]
    (one,) = read_sets(
        [tmp_path / "out"], model(dataset.labels or (), dataset=name, target=dataset.target)
    )
    assert (one.name, one.split, len(one.source_hash)) == ("AddPunc", split, 64)
    assert len(one.perturbed) == len(one.originals) == (count or 8)
    for before, after in zip(one.originals, one.perturbed):
        assert before.texts != after.texts
        assert (before.id, before.label) == (after.id, after.label)
    changes = (tmp_path / "out" / "AddPunc" / "changes.jsonl").read_text().splitlines()
    assert [e.id for e in one.perturbed] == [json.loads(line)["id"] for line in changes]


def test_untouched_pairs_may_be_kept(tmp_path):
    before = pairs(4)
    after = [before[0], *swapped(before[1:])]
    (one,) = read_sets([write_folder(tmp_path / "x", before, after, keep=True)], model())
    assert len(one.perturbed) == len(one.originals) == 4
    assert one.perturbed[0].texts == one.originals[0].texts


def test_a_folder_of_folders_gives_all_once(folder, tmp_path):
    write_folder(tmp_path / "NumWord", pairs(2), swapped(pairs(2)), name="NumWord")
    found = read_sets([tmp_path, folder, tmp_path / "SwapAnt" / ".." / "NumWord"], model())
    assert [one.name for one in found] == ["NumWord", "SwapAnt"]
    write_folder(tmp_path / "again", pairs(2), swapped(pairs(2)), name="NumWord")
    assert "are both NumWord" in refusal([tmp_path])


def test_what_a_killed_run_left_is_no_set(folder, tmp_path):
    folder.rename(tmp_path / ".SwapAnt.tmp12")
    assert "holds no perturbed set" in refusal([tmp_path], error=FileNotFoundError)


@pytest.mark.parametrize("name", ["../SwapAnt", "a\\b", "", "..", "original", "SwapAnt.original"])
def test_names_of_other_files_are_refused(name, tmp_path):
    """Predictions are written under the name of the set."""
    path = write_folder(tmp_path / "x", pairs(2), swapped(pairs(2)), name=name)
    told = refusal([path])
    assert f"{path}: transformation {name!r} cannot name a file" in told


def test_labels_are_called_as_the_model_calls_them(tmp_path):
    names = ["not_entailment", "entailment"]
    before = pairs(2, names)
    path = write_folder(tmp_path / "x", before, swapped(before, names), dataset="rte")
    (one,) = read_sets([path], model(["neutral", "entails"], dataset="scitail"))
    assert [e.label for e in one.originals] == ["entails", "neutral"]
    assert [e.label for e in one.perturbed] == ["neutral", "entails"]


def test_parts_that_contradict_each_other_are_refused(folder):
    data, original, changes = (
        folder / name for name in ("test.tsv", "original/test.tsv", "changes.jsonl")
    )
    row = "2\talice sees cat 2\tBob sees the bad garden 2\t0"
    cases = [
        (data, row, row[:-1] + "1", "test.tsv:2: label '1' contradicts", "changes.jsonl:3"),
        (data, row, row[:-1] + "7", "test.tsv:2: unknown label '7'", "choices are 0, 1"),
        (data, row, row.replace("bad", "sad"), "test.tsv:2: text [", "contradicts"),
        (data, row + "\n", "", "test.tsv:2: id '3'", "original/test.tsv:2 has '2'"),
        (data, row, "9" + row[1:], "test.tsv:2: id '9'", "same order"),
        (original, "good garden 2\t1", "good garden 2\t0", "original/test.tsv:2: label", ":3"),
        (changes, '"changed": false', '"changed": 1', "changes.jsonl:1: 'changed' is 1", "a truth"),
        (changes, '{"id": "2"', '{"id": "2', "changes.jsonl:3: no JSON", ""),
        (changes, '"changed": false', '"changed": true', "3 examples", "4 changed ones among 4"),
    ]
    for path, old, new, *told in cases:
        text = path.read_text()
        edit(path, old, new)
        message = refusal([folder])
        assert all(part in message for part in told), message
        path.write_text(text)
    read_sets([folder], model())


def test_a_folder_without_its_originals_says_how_to_get_them(folder):
    read_sets([folder], model())
    (folder / "original").rename(folder.parent / "elsewhere")
    told = refusal([folder], error=FileNotFoundError)
    assert str(folder / "original") in told
    assert told.endswith("run fairseq-plugins perturb again")


def test_missing_parts_are_named(folder):
    for name in ("changes.jsonl", "original/test.tsv", "test.tsv"):
        path = folder / name
        text = path.read_text()
        path.unlink()
        message = refusal([folder], error=FileNotFoundError)
        assert str(path.parent) in message
        path.write_text(text)
    edit(folder / "perturbation.json", '"test"', '"tests"')
    assert "unknown split 'tests'; choices: train, valid, test" in refusal([folder])
    edit(folder / "perturbation.json", "paws_wiki", "laws_wiki")
    assert "perturbation.json: unknown dataset 'laws_wiki'; choices" in refusal([folder])
    (folder / "perturbation.json").write_text("{")
    assert "perturbation.json: no JSON" in refusal([folder])


def test_sets_for_other_models_are_refused(folder, tmp_path):
    assert "labels words" in refusal([folder], model(target="word_labels"))
    assert "has classes, but the model gives scores" in refusal([folder], model((), target="score"))
    other = refusal([folder], model(sentences=1))
    assert "test.tsv:1: pairs of sentences, but the model reads single sentences" in other
    unknown = refusal([folder], model(["no", "yes"]))
    assert "test.tsv:1: gold label '1' is none of the model's; choices: no, yes" in unknown
    single = [replace(e, texts=e.texts[1:]) for e in pairs(2)]
    path = write_folder(tmp_path / "s", single, swapped(single), dataset="sst2")
    assert "single sentences, but the model reads pairs" in refusal([path])


def test_scores_stay_as_they_are(tmp_path):
    before = [replace(e, label="3.50") for e in pairs(2)]
    after = [replace(e, label="3.50") for e in swapped(before)]
    path = write_folder(tmp_path / "x", before, after, dataset="sts_b", name="AddPunc")
    (one,) = read_sets([path], model((), dataset="sts_b", target="score"))
    assert {e.label for e in one.perturbed} == {"3.50"}


def test_nothing_there_is_told(tmp_path):
    assert "no such file or folder" in refusal([tmp_path / "none"], error=FileNotFoundError)
    assert "holds no perturbed set" in refusal([tmp_path], error=FileNotFoundError)
    (tmp_path / "x.txt").write_text("x")
    assert "is no perturbed set; expected a folder with" in refusal([tmp_path / "x.txt"])


def advglue(path, **tasks):
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def test_advglue_gives_the_tasks_of_the_models_dataset(tmp_path):
    item = {"idx": 4, "label": 2, "premise": "alice sees", "hypothesis": "Bob sees"}
    other = {"idx": 0, "label": 1, "question1": "a", "question2": "b"}
    path = advglue(tmp_path / "dev.json", **{"mnli": [item], "mnli-mm": [item] * 2, "qqp": [other]})
    found = read_sets([path], model(INFERENCE, dataset="mnli"))
    assert [(one.name, len(one.perturbed)) for one in found] == [
        ("AdvGLUE-mnli", 1),
        ("AdvGLUE-mnli-mm", 2),
    ]
    assert found[0].originals is None
    assert (found[0].perturbed[0].id, found[0].perturbed[0].label) == ("4", "contradiction")
    (chosen,) = read_sets([f"{path}:mnli-mm"], model(INFERENCE, dataset="snli"))
    assert chosen.name == "AdvGLUE-mnli-mm"
    (pair,) = read_sets([f"{path}:qqp"], model())
    assert pair.perturbed[0].label == "1"


def test_advglue_faults_are_named(tmp_path):
    item = {"idx": 4, "label": 1, "sentence1": "alice", "sentence2": "Bob"}
    rte = model(["entailment", "not_entailment"], dataset="rte")
    path = tmp_path / "dev.json"
    cases = [
        ([{**item, "label": 2}], "item 1 of 'rte': label 2; choices: 0 (entailment), 1 (not_"),
        ([item, {**item, "label": "1"}], "item 2 of 'rte': label '1'"),
        ([{"label": 1, "sentence1": "a"}], "no example, which has sentence1, sentence2, label"),
        ([{**item, "sentence2": " "}], "' ' is no sentence"),
        ([], "has no examples"),
    ]
    for items, told in cases:
        assert told in refusal([advglue(path, rte=items)], rte)
    assert "no task of dataset 'paws_wiki'; those there, to be given as dev.json:TASK, are rte" in (
        refusal([advglue(path, rte=[item])])
    )
    path.write_text("[1]")
    assert "expected a JSON object" in refusal([path])
    path.write_bytes(b'{"rte": "\xff"}')
    assert "not valid UTF-8" in refusal([path], rte)


@pytest.mark.slow
@given(
    st.text() | st.sampled_from([*MEANINGS]),
    st.sampled_from([("0", "1"), ("entailment", "not_entailment"), tuple(INFERENCE)]),
)
def test_any_label_is_the_models_or_refused(written, labels):
    expected = Expected(TARGETS["classes"], labels, 2)
    try:
        found = expected.label(written, "x:1")
    except ValueError as error:
        found = str(error)
    assert found in labels or found.startswith("x:1: ")

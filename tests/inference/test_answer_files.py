"""Files of answers: official forms, metrics that the official evaluation gives of them."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from answer_runs import WINDOWS, gold_of
from squad_files import paragraph, question, write_squad

from fairseq_plugins.criterions._text_criterion import ExtractiveQACriterion
from fairseq_plugins.errors import InputError
from fairseq_plugins.evaluation.squad_files import SquadScoring, score_files
from fairseq_plugins.inference import answer_files as files
from fairseq_plugins.inference.answer_files import n_best_entries
from fairseq_plugins.inference.options import DEFAULT, AnswerOptions
from fairseq_plugins.inference.options import WINDOWS as OVERRIDES
from fairseq_plugins.inference.question_answering import load
from fairseq_plugins.inference.text_checkpoints import load_models
from fairseq_plugins.targets.answers import Answered, Candidate

pytestmark = pytest.mark.slow

RAW = {"train": "train-v2.0.json", "valid": "dev-v2.0.json", "test": "test-v2.0.json"}


def answers(runs, out, *, name="second", **options):
    """Answer into a folder; return the content of its files by name."""
    files.answer_files(AnswerOptions(str(runs / name), str(out), cpu=True, **options))
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in out.iterdir()}


@pytest.fixture(scope="module")
def valid(answer_runs, tmp_path_factory):
    """Files of the validation set by the disturbed run."""
    return answers(answer_runs, tmp_path_factory.mktemp("valid"), split="valid")


def assert_alike(one, other):
    """Compare contents, numbers up to rounding."""
    assert one.keys() == other.keys()
    for name in (files.PREDICTIONS, files.ODDS):
        assert list(one[name]) == list(other[name])
    assert one[files.PREDICTIONS] == other[files.PREDICTIONS]
    assert one[files.ODDS] == pytest.approx(other[files.ODDS], abs=1e-5)
    best = [
        [(e["text"], e["probability"]) for row in files_[files.N_BEST].values() for e in row[:1]]
        for files_ in (one, other)
    ]
    for (text, probability), (same, expected) in zip(*best):
        assert (text, probability) == (same, pytest.approx(expected, abs=1e-5))


@pytest.mark.parametrize("split", RAW)
def test_a_split_gives_the_files_of_its_raw_file(answer_runs, tmp_path, split):
    prepared = answers(answer_runs, tmp_path / "a", split=split)
    raw = answers(answer_runs, tmp_path / "b", input=str(answer_runs / "raw" / RAW[split]))
    assert_alike(prepared, raw)
    assert (files.METRICS in prepared) == (split != "test")
    assert_alike(answers(answer_runs, tmp_path / "c", split=split, batch_size=1), prepared)


def test_training_questions_are_answered(answer_runs, tmp_path):
    found = answers(answer_runs, tmp_path, name="first", split="train")
    gold = gold_of(answer_runs / "raw" / RAW["train"])
    assert found[files.PREDICTIONS] == {name: (texts or [""])[0] for name, texts in gold.items()}
    assert found[files.METRICS]["exact"] == found[files.METRICS]["best_f1"] == 100.0


def test_metrics_are_those_of_the_official_files(answer_runs, tmp_path, valid):
    for name in (files.PREDICTIONS, files.ODDS):
        (tmp_path / name).write_text(json.dumps(valid[name]))
    gold = str(answer_runs / "raw" / RAW["valid"])
    official = score_files(SquadScoring(gold, str(tmp_path / files.PREDICTIONS)))
    metrics = valid[files.METRICS]
    assert {name: metrics[name] for name in official} == official
    assert list(metrics)[: len(official)] == list(official)
    best = {name: metrics[name] for name in metrics if name.startswith("best_")}
    assert best["best_f1"] >= metrics["f1"]
    never = answers(answer_runs, tmp_path / "never", split="valid", null_threshold=1e9)
    (tmp_path / files.PREDICTIONS).write_text(json.dumps(never[files.PREDICTIONS]))
    odds = str(tmp_path / files.ODDS)
    found = score_files(SquadScoring(gold, str(tmp_path / files.PREDICTIONS), odds))
    assert {name: found[name] for name in best} == pytest.approx(best)


def test_metrics_are_those_of_validation(answer_runs, valid):
    """What fairseq logs during training, as fractions."""
    reader = load(answer_runs / "second", cpu=True)
    task, (model,) = load_models([answer_runs / "second" / DEFAULT])
    criterion = ExtractiveQACriterion(task)
    dataset = reader.predictor.load_split("valid")
    counts = [
        criterion.tally.count(model(**batch["net_input"])[0].detach(), {}, batch)
        for batch in reader.predictor.batches(dataset, 3)
    ]
    columns = {name: np.concatenate([one[name] for one in counts]) for name in counts[0]}
    logged = criterion.tally.score(columns)
    official = {
        **{"exact": "exact", "f1": "f1", "has_answer_f1": "HasAns_f1"},
        **{"no_answer_exact": "NoAns_exact", "tuned_exact": "best_exact", "tuned_f1": "best_f1"},
    }
    for ours, theirs in official.items():
        assert 100 * logged[ours] == pytest.approx(valid[files.METRICS][theirs])
    threshold = valid[files.METRICS]["best_f1_thresh"]
    assert logged["tuned_threshold"] == pytest.approx(threshold, abs=1e-5)


def test_best_answers_have_the_form_of_berts_code(valid):
    for name, rows in valid[files.N_BEST].items():
        assert all(list(row) == ["text", "probability", "start_logit", "end_logit"] for row in rows)
        assert sum(row["probability"] for row in rows) == pytest.approx(1)
        scores = [row["start_logit"] + row["end_logit"] for row in rows]
        assert scores == sorted(scores, reverse=True)
        (null,) = [score for row, score in zip(rows, scores) if row["text"] == ""]
        best = max(score for row, score in zip(rows, scores) if row["text"])
        assert valid[files.ODDS][name] == pytest.approx(null - best)
        answered = "" if null > best else next(row["text"] for row in rows if row["text"])
        assert valid[files.PREDICTIONS][name] == answered


def test_logits_that_nobody_knows_are_null():
    found = Answered((Candidate("mill", 0, 4, 1.0),), 2.0)
    first, second = n_best_entries(found)
    assert (first["text"], first["start_logit"], first["end_logit"]) == ("", None, None)
    assert second["text"] == "mill"


def test_options_reach_the_search(answer_runs, tmp_path, valid):
    short = answers(answer_runs, tmp_path, split="valid", n_best=2, max_answer_length=1)
    assert all(len(rows) == 3 for rows in short[files.N_BEST].values())
    assert any(len(rows) > 3 for rows in valid[files.N_BEST].values())
    assert not any(" " in row["text"] for rows in short[files.N_BEST].values() for row in rows)


@pytest.mark.parametrize("name", OVERRIDES)
def test_windows_can_be_others_than_in_training(answer_runs, tmp_path, valid, name):
    size = {"max_positions": 20, "doc_stride": 3, "max_query_length": 2}[name]
    dev = str(answer_runs / "raw" / RAW["valid"])
    split = answers(answer_runs, tmp_path / "split", split="valid", **{name: size})
    raw = answers(answer_runs, tmp_path / "raw", input=dev, **{name: size})
    assert_alike(split, raw)
    assert split[files.ODDS] != valid[files.ODDS]
    recorded = {key: valid[files.METRICS][key] for key in WINDOWS}
    assert recorded == WINDOWS
    assert {key: split[files.METRICS][key] for key in WINDOWS} == recorded | {name: size}


@pytest.mark.parametrize("threshold", [float("inf"), float("-inf"), 1e308])
def test_extreme_thresholds_answer_all_or_none(answer_runs, tmp_path, valid, threshold):
    found = answers(answer_runs, tmp_path, split="valid", null_threshold=threshold)
    assert {text == "" for text in found[files.PREDICTIONS].values()} == {threshold < 0}
    assert found[files.METRICS]["null_threshold"] == threshold
    assert found[files.METRICS]["best_f1"] == valid[files.METRICS]["best_f1"]


def test_version_one_has_no_unanswerable_questions(answer_runs, tmp_path):
    body = paragraph("Mara built it.", question("a", "Who built it?", "Mara", "Mara built"))
    path = write_squad(tmp_path / "one.json", [body], version="1.1")
    metrics = answers(answer_runs, tmp_path / "out", input=str(path))[files.METRICS]
    assert (metrics["total"], metrics["HasAns_total"]) == (1, 1)
    assert not any(name.startswith("NoAns") for name in metrics)


def test_texts_that_cannot_be_seen_are_refused_before_all_answers(
    answer_runs, tmp_path, monkeypatch
):
    bodies = [
        paragraph("Mara built it.", question("a", "Who built it?", gold=False)),
        paragraph("Otto sold it.", question("b", "\u200b\u0001", gold=False)),
    ]
    path = write_squad(tmp_path / "raw.json", bodies)
    monkeypatch.setattr(files, "_replies", None)  # not asked for
    with pytest.raises(
        ValueError, match=r"raw\.json: data\[0\]\.paragraphs\[1\]\.qas\[0\] \(id 'b'\)"
    ):
        answers(answer_runs, tmp_path / "out", input=str(path))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("source", ["split", "input"])
def test_some_questions(answer_runs, tmp_path, valid, source):
    chosen = list(valid[files.PREDICTIONS])[4:0:-3]
    (tmp_path / "ids").write_text("\n".join([*chosen, chosen[0]]))  # twice is once
    place = {"split": "valid", "input": str(answer_runs / "raw" / RAW["valid"])}
    given = {source: place[source], "ids": str(tmp_path / "ids")}
    found = answers(answer_runs, tmp_path / "out", **given)
    expected = {name: text for name, text in valid[files.PREDICTIONS].items() if name in chosen}
    assert list(found[files.PREDICTIONS].items()) == list(expected.items())
    assert found[files.METRICS]["total"] == len(chosen)
    (tmp_path / "ids").write_text("nobody\nhere")
    with pytest.raises(InputError, match=r"ids: 2 ids \(nobody, here\) not in"):
        answers(answer_runs, tmp_path / "none", **given)
    assert not (tmp_path / "none").exists()


def test_ensembles_say_what_they_are(answer_runs, tmp_path):
    paths = os.pathsep.join(str(answer_runs / name) for name in ("first", "second"))
    found = {}
    for ensemble in ("logits", "paper"):
        out = tmp_path / ensemble
        options = AnswerOptions(paths, str(out), split="valid", ensemble=ensemble, cpu=True)
        files.answer_files(options)
        found[ensemble] = json.loads((out / files.ODDS).read_text())
        metrics = json.loads((out / files.METRICS).read_text())
        assert metrics["ensemble"] == ensemble
        assert len(metrics["checkpoints"]) == 2
    assert found["logits"] != found["paper"]


@pytest.mark.parametrize("step", ["n_best_entries", "_metrics"])
def test_a_broken_off_job_leaves_the_older_files(answer_runs, tmp_path, monkeypatch, valid, step):
    before = answers(answer_runs, tmp_path, split="valid")

    def broken(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"{files.__name__}.{step}", broken)
        with pytest.raises(KeyboardInterrupt):
            answers(answer_runs, tmp_path, split="train")
    after = {path.name: json.loads(path.read_text()) for path in tmp_path.iterdir()}
    assert after == before == valid
    assert files.METRICS not in answers(answer_runs, tmp_path, split="test")  # of other answers


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give either --split or --input"),
        ({"split": "valid", "input": "x"}, "give either --split or --input"),
        ({"split": "dev"}, "no split 'dev'; choices: train, valid, test"),
        ({"input": "nowhere.json"}, r"nowhere\.json: no such file"),
        ({"split": "valid", "ids": "nowhere"}, "nowhere: no such file"),
        ({"split": "valid", "n_best": 0}, "--n-best 0: must be at least 1"),
        ({"split": "valid", "max_answer_length": -1}, "--max-answer-length -1: must be"),
        ({"split": "valid", "batch_size": 0}, "--batch-size 0: must be"),
        ({"split": "valid", "doc_stride": 0}, "--doc-stride 0: must be at least 1"),
        ({"split": "valid", "max_positions": 4}, "--max-positions 4: must be at least 5"),
        ({"split": "valid", "null_threshold": float("nan")}, "--null-threshold is nan"),
        ({"split": "valid", "ensemble": "vote"}, "--ensemble 'vote': choices are logits, paper"),
    ],
)
def test_options_without_sense_are_refused(answer_runs, tmp_path, given, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        answers(answer_runs, tmp_path / "out", **given)
    assert not (tmp_path / "out").exists()


def test_files_in_the_way_are_refused(answer_runs, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="out is a file, not a folder"):
        answers(answer_runs, tmp_path / "out", split="valid")
    (tmp_path / "bad.json").write_text('{"data": [')
    with pytest.raises(InputError, match=r"bad\.json is no JSON: line 1, column 11"):
        answers(answer_runs, tmp_path / "new", input=str(tmp_path / "bad.json"))

"""What is refused before anything is predicted, and what a failure leaves behind."""

from __future__ import annotations

import io
import json
import shutil
from types import SimpleNamespace

import pytest
from inference.text_runs import COUNT, SUBMISSION

from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.averaging import average_states
from fairseq_plugins.inference.export import export_checkpoint
from fairseq_plugins.inference.options import PredictionOptions
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.inference.prediction_files import predict_files

pytestmark = pytest.mark.slow


TABLE = {"text_column": "a"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "test", **TABLE}, "--text-column goes with --input FILE"),
        ({"input": "-", **TABLE}, "--text-column goes with --input FILE"),
        ({"input": __file__, "input_format": "conll", **TABLE}, "and not with --input-format"),
        ({"input": __file__, "keep_columns": True}, "--keep-columns is for a table: give --text-c"),
        ({"input": __file__, "label_column": "y"}, "--label-column is for a table: give --text-c"),
        ({"input": __file__, **TABLE, "keep_columns": True, "format": "glue"}, "is jsonl or tsv"),
        ({}, "either --split or --input"),
        ({"split": "test", "input": "-"}, "either --split or --input"),
        ({"input": "-", "submission_dir": "x"}, "--submission-dir goes with --split"),
        ({"split": "test", "max_tokens": 0}, "--max-tokens 0: must be"),
        ({"split": "test", "batch_size": -1}, "--batch-size -1: must be"),
        ({"split": "test", "output": "."}, r"\. is a folder"),
        ({"split": "valid", "metrics": "."}, r"\. is a folder"),
        ({"split": "valid", "metrics": "x", "output": "./x"}, "x is named twice among --input, "),
        ({"input": __file__, "output": __file__}, r"\.py is named twice among --input, --output"),
    ],
)
def test_options_that_do_not_go_together(options, message):
    with pytest.raises(InputError, match=message):
        predict_files(PredictionOptions("no-such-checkpoint", **options))


def test_missing_input_is_named_first(tmp_path):
    with pytest.raises(FileNotFoundError, match="none: no such file"):
        predict_files(PredictionOptions("no-such-checkpoint", input=str(tmp_path / "none")))


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("classes", {"split": "dev"}, "no split 'dev'; choices: train, valid, test"),
        ("classes", {"split": "test", "metrics": "m"}, "has no labels: metrics need gold labels"),
        ("classes", {"split": "valid", "submission_dir": "s"}, "'valid' of 'toy' is no submission"),
        ("classes", {"split": "valid", "format": "glue"}, "'glue' is for splits of GLUE"),
        ("classes", {"split": "valid", "format": "conll"}, "'conll' is not for classes"),
        ("entities", {"split": "test", "submission_dir": "s"}, "choices: none of this dataset"),
        ("entities", {"input": "in", "metrics": "m"}, "in has no labels: metrics need gold"),
        ("entities", {"input": "-", "metrics": "m"}, "give a file or a split, not '-'"),
        ("classes", {"input": "in", "input_format": "conll"}, "for models that label words"),
        ("classes", {"split": "valid", "tune_thresholds": True}, "sets of labels, not for classes"),
        ("score", {"split": "valid", "label_thresholds": "0.2"}, "sets of labels, not for scores"),
        ("multi_label", {"split": "test", "tune_thresholds": True}, "'test' of .* has no labels"),
        ("multi_label", {"split": "valid", "label_thresholds": "1,2"}, "each of alice, good, par"),
        (
            "multi_label",
            {"input": "in", "tune_thresholds": True},
            "tune-thresholds goes with --spl",
        ),
    ],
)
def test_refusals_leave_nothing(runs, tmp_path, monkeypatch, kind, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").write_text("alice\tsees\n")
    with pytest.raises(InputError, match=message):
        predict(runs / f"{kind}1", output="out", **options)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def predict(run, **options):
    predict_files(PredictionOptions(str(run), cpu=True, **options))


def test_a_failure_on_the_way_leaves_no_file(runs, tmp_path):
    """Examples that are too long are found when their turn comes."""
    text, out = tmp_path / "in", tmp_path / "out"
    text.write_text("alice\tgood\n" * 40 + "alice\t" + "new paris " * 300 + "\n")
    with pytest.raises(InputError, match=r"example 40 \(line 41\) has 90\d tokens"):
        predict(runs / "classes1", input=str(text), output=str(out), batch_size=1)
    assert list(tmp_path.iterdir()) == [text]
    options = {"long_examples": "truncate", "output": str(out)}
    predict(runs / "classes1", input=str(text), **options)
    assert len(out.read_text().splitlines()) == 41


def test_messages_offer_what_can_be_done(runs, tmp_path):
    """A larger limit is offered where the model has positions, and the option is there."""
    text = tmp_path / "in"
    text.write_text("alice\t" + "new paris " * 300 + "\n")
    positions = load(runs / "classes1", cpu=True).inputs.limit
    with pytest.raises(InputError, match=rf"limit is {positions}; choices: --long-examples tr\w+$"):
        predict(runs / "classes1", input=str(text), output="out")
    text.write_text("alice\t" + "new paris " * 20 + "\n")
    short = {"input": str(text), "output": str(tmp_path / "out"), "max_positions": 16}
    message = rf"limit is 16; choices: .*, or a larger --max-positions, at most {positions}$"
    with pytest.raises(InputError, match=message):
        predict(runs / "classes1", **short)
    predict(runs / "classes1", **{**short, "max_positions": positions})
    with pytest.raises(InputError, match=f"--max-positions 9999: the model has only {positions}"):
        predict(runs / "classes1", **{**short, "max_positions": 9999})


def test_bytes_of_standard_input(runs, monkeypatch, capsys):
    stdin = io.BytesIO("alice\tgood\r\nBob\tÜ\n".encode())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stdin, isatty=lambda: True))
    monkeypatch.setattr("sys.stdout.reconfigure", lambda **_: None, raising=False)
    predict(runs / "score1", input="-")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row.keys() for row in rows] == [{"id", "score"}] * 2


def test_tables_are_predicted_as_lines_are_and_come_back(runs, tmp_path):
    """What stands in other columns changes nothing."""
    text, table, out = (tmp_path / name for name in ("in", "in.csv", "out"))
    text.write_text("alice, she\tgood\n")
    table.write_text('n;b;gold;a\n7;good;yes;"alice, she"\n8;"new paris; ";no;"Bob\n"\n')
    predict(runs / "classes1", input=str(text), output=str(out))
    [wanted] = map(json.loads, out.read_text().splitlines())
    columns = {"text_column": "a", "text2_column": "b", "label_column": "gold", "id_column": "n"}
    how = {"input": str(table), "output": str(out), "keep_columns": True, **columns}
    predict(runs / "classes1", **how, metrics=str(tmp_path / "m.json"))
    first, second = map(json.loads, out.read_text().splitlines())
    assert second["columns"] == {"n": "8", "b": "new paris; ", "gold": "no", "a": "Bob\n"}
    assert first.pop("columns") == {"n": "7", "b": "good", "gold": "yes", "a": "alice, she"}
    assert (first.pop("id"), first.pop("gold"), wanted.pop("id")) == ("7", "yes", "0")
    chances = (one.pop("probabilities") for one in (first, wanted))
    assert next(chances) == pytest.approx(next(chances), abs=1e-6)
    assert first.pop("probability") == pytest.approx(wanted.pop("probability"), abs=1e-6)
    assert first == wanted
    assert json.loads((tmp_path / "m.json").read_text())["labelled"] == 2
    predict(runs / "classes1", **how, format="tsv")
    head, *rows = out.read_text().splitlines()
    assert head.split("\t")[4:] == ["table.n", "table.b", "table.gold", "table.a"]
    assert [row.split("\t")[4:] for row in rows] == [
        ["7", "good", "yes", "alice, she"],
        ["8", "new paris; ", "no", "Bob "],
    ]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("in.csv", {}, "in.csv is a table: name its column of texts by --text-column"),
        ("in.jsonl", {}, "in.jsonl is a table: name its column of texts by --text-column"),
        ("in.csv", {"text_column": "a"}, "the model reads two sentences: give --text2-column"),
        ("in.csv", {"text_column": "a", "text2_column": "c"}, "in.csv:1: no column 'c'"),
        ("in.csv", {"text_column": "a", "text2_column": "b", "label_column": "y"}, "no column 'y'"),
        ("in.csv", {"text_column": "a", "text2_column": "b", "label_column": "a"}, "unknown label"),
        ("in.csv", {"text_column": "a", "text2_column": "b", "metrics": "m"}, "--label-column"),
    ],
)
def test_tables_that_do_not_fit_are_refused(runs, tmp_path, monkeypatch, name, options, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("a,b\nalice,good\n")
    with pytest.raises(InputError, match=message):
        predict(runs / "classes1", input=name, output="out", **options)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_metrics_know_what_they_are_of(runs, tmp_path):
    path = tmp_path / "m.json"
    predict(runs / "score1", split="valid", metrics=str(path))
    report = json.loads(path.read_text())
    assert report["metrics"].keys() == {"pearson", "spearman", "mse"}
    assert (report["dataset"], report["of"]) == ("toy", "valid")
    assert (report["examples"], report["labelled"]) == (COUNT, COUNT)
    assert report["checkpoints"] == [str(runs / "score1" / "checkpoint_best.pt")]


def test_split_without_gold_is_submitted(runs, tmp_path):
    predict(runs / "classes1", split="test", submission_dir=str(tmp_path / "new"))
    rows = (tmp_path / "new" / "Toy.tsv").read_text().splitlines()
    assert {row.split("\t")[1] for row in rows[1:]} <= set(SUBMISSION["test"]["labels"].values())
    assert len(rows) == 8


def test_tuned_thresholds_are_kept_in_checkpoint_and_bundle(runs, tmp_path):
    """Answers change, probabilities do not; no threshold is better for any label."""
    run, made = tmp_path / "run", {}
    shutil.copytree(runs / "multi_label1", run)

    def scored(name, model=run, **options):
        more = {"data": str(runs / "multi_label-data"), "metrics": str(tmp_path / f"{name}.json")}
        predict(model, split="valid", output=str(tmp_path / name), **more, **options)
        made[name] = [json.loads(line) for line in (tmp_path / name).read_text().splitlines()]
        return json.loads((tmp_path / f"{name}.json").read_text())["metrics"]

    shy = scored("shy", label_thresholds="0.99")
    assert all(
        share >= 0.99
        for one in made["shy"]
        for share in map(one["probabilities"].get, one["label_set"])
    )
    tuned = scored("tuned", tune_thresholds=True)
    assert tuned["macro_f1"] > shy["macro_f1"]
    for least in ("0.3", "0.5", "0.7"):
        other = scored("other", label_thresholds=least)
        assert all(tuned[name] >= other[name] for name in tuned if name.startswith("f1_"))
    assert scored("again") == tuned
    export_checkpoint(run, tmp_path / "exported", str(runs / "multi_label-data"))
    assert scored("bundle", tmp_path / "exported") == tuned
    assert made["bundle"] == made["again"] == made["tuned"] != made["shy"]
    shares = [[one["probabilities"] for one in made[name]] for name in ("shy", "tuned")]
    assert shares[0] == shares[1]
    untuned = f"{runs / 'multi_label1'}:{runs / 'multi_label2'}"
    for wrong in (untuned, tmp_path / "exported"):
        with pytest.raises(InputError, match="changes one checkpoint, before its export; not "):
            scored("wrong", wrong, tune_thresholds=True)
    mixed = f"{run}:{runs / 'multi_label2'}"
    with pytest.raises(InputError, match="have other thresholds of labels: give the ensemble its"):
        scored("wrong", mixed)
    scored("mixed", mixed, label_thresholds="0.5")
    with pytest.raises(InputError, match="differ in their thresholds of labels: no average"):
        average_states([one / "checkpoint_best.pt" for one in (run, runs / "multi_label2")])

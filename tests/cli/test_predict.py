"""`predict`, on splits and raw text of tiny folders."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import prepared_text
import pytest
import torch
from cli import shims
from cli.commands import USER_DIR, run
from moved_runs import moved
from prepared_text import examples

pytestmark = pytest.mark.slow

PREDICT = "predict"
COUNT = 40
SUBMISSION = {"test": {"file": "Toy.tsv", "labels": {"yes": "entailment", "no": "neutral"}}}
SLOW = "--max-update 60 --disable-validation --no-epoch-checkpoints --features case".split()


def make(root, kind):
    splits = {
        "train": examples(kind, 160, 1),
        "valid": examples(kind, COUNT, 2),
        "test": examples(kind, 7, 3, gold=False),
    }
    more = {"submission": SUBMISSION if kind == "classes" else {}}
    folder = prepared_text.prepare(root / f"{kind}-data", kind, splits, annotations=(), **more)
    save = root / kind
    run("fairseq-train", *prepared_text.arguments(folder, save, *USER, *SLOW))
    return (save / "checkpoint_last.pt").rename(save / "checkpoint_best.pt").parent


USER = ["--user-dir", str(USER_DIR)]


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """Run folder of a model of classes."""
    return make(tmp_path_factory.mktemp("classes"), "classes")


@pytest.fixture(scope="module")
def entities(tmp_path_factory):
    """Run folder of a model of word labels."""
    return make(tmp_path_factory.mktemp("entities"), "entities")


def predict(*arguments, **options):
    return run(PREDICT, *arguments, "--cpu", **options)


@pytest.fixture
def refusal(run_here):
    """Return what predicts where it has to fail, and returns its one line."""

    def call(*arguments):
        found = run_here(PREDICT, *arguments, "--cpu", fails=True)
        assert found.code == 1
        (line,) = [line for line in found.err.splitlines() if line.startswith("error: ")]
        return line

    return call


def records(text):
    return [json.loads(line) for line in text.splitlines()]


def test_a_split_gives_records_and_metrics(classes, tmp_path):
    out, metrics = tmp_path / "new" / "out.jsonl", tmp_path / "metrics.json"
    found = predict(classes, "--split", "valid", "--output", out, "--metrics", metrics)
    assert found.out == ""
    rows = records(out.read_text())
    assert [row["id"] for row in rows] == [e.id for e in examples("classes", COUNT, 2)]
    right = sum(row["label"] == row["gold"] for row in rows) / COUNT
    report = json.loads(metrics.read_text())
    assert report["metrics"]["accuracy"] == pytest.approx(right)
    assert right > 0.9
    assert {"f1", "macro_f1", "mcc", "ece", "f1_no", "support_yes"} <= report["metrics"].keys()
    assert re.search(r"\nlabel +precision +recall +f1 +support\nno ", found.err)
    assert (report["examples"], report["labelled"]) == (COUNT, COUNT)
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["metrics.json", "out.jsonl"]


def test_raw_text_is_predicted_as_the_split(classes, tmp_path):
    text = "".join(f"{e.texts[0]}\n" for e in examples("classes", COUNT, 2))
    (tmp_path / "in.txt").write_text(text)
    split = records(predict(classes, "--split", "valid").out)
    file = records(predict(classes, "--input", tmp_path / "in.txt", "--batch-size", 3).out)
    stdin = records(predict(classes, "--input", "-", "--max-tokens", 64, stdin=text).out)
    assert [row["id"] for row in file] == [str(i) for i in range(COUNT)]
    for rows in (file, stdin):
        assert [row["label"] for row in rows] == [row["label"] for row in split]
        assert [row["probability"] for row in rows] == pytest.approx(
            [row["probability"] for row in split], abs=1e-6
        )


@pytest.mark.parametrize("kind", ["classes", "entities"])
def test_a_moved_run_predicts_without_its_prepared_folder(refusal, kind, request, tmp_path):
    own, text = request.getfixturevalue(kind), "alice sees good new paris\nthe odd cat\n"
    raw = ("--input", "-")
    before = predict(own, *raw, stdin=text).out
    assert len(records(before)) == 2
    with moved(own, own.with_name(f"{kind}-data"), tmp_path) as there:
        assert predict(there, *raw, stdin=text).out == before
        assert "choices: none; name a prepared folder with --data" in refusal(
            there, "--split", "valid"
        )
        run("export", there, "--output", tmp_path / "bundle")
        assert predict(tmp_path / "bundle", *raw, stdin=text).out == before
        shutil.copy(there / "checkpoint_best.pt", tmp_path / "alone.pt")
        assert "is not there, and" in refusal(tmp_path / "alone.pt", *raw)


def test_submissions_have_the_names_of_the_server(classes, tmp_path):
    found = predict(classes, "--split", "test", "--submission-dir", tmp_path)
    assert found.out == ""
    head, *rows = (tmp_path / "Toy.tsv").read_text().splitlines()
    assert head == "index\tprediction"
    made = records(predict(classes, "--split", "test").out)
    names = SUBMISSION["test"]["labels"]
    assert rows == [f"{row['id']}\t{names[row['label']]}" for row in made]
    assert "gold" not in made[0]
    same = predict(classes, "--split", "test", "--format", "glue")
    assert same.out == (tmp_path / "Toy.tsv").read_text()


def test_words_get_a_column(entities, tmp_path):
    data = examples("entities", COUNT, 2)
    split = predict(entities, "--split", "valid", "--format", "conll").out
    blocks = [block.splitlines() for block in split.strip().split("\n\n")]
    rows = [[line.split(" ") for line in block] for block in blocks]
    assert [[word for word, _, _ in block] for block in rows] == [list(e.words) for e in data]
    assert [[gold for _, gold, _ in block] for block in rows] == [list(e.word_labels) for e in data]
    right = sum(gold == label for block in rows for _, gold, label in block)
    assert right > 0.9 * sum(map(len, rows))
    columns = tmp_path / "in.conll"
    columns.write_text("\n\n".join("\n".join(" ".join(row[:2]) for row in b) for b in rows))
    metrics = tmp_path / "m.json"
    options = ["--input-format", "conll", "--format", "conll", "--metrics", metrics]
    again = predict(entities, "--input", columns, *options, "--output", "-").out
    assert again == split
    report = json.loads(metrics.read_text())
    assert report["metrics"]["accuracy"] == pytest.approx(right / sum(map(len, rows)))
    assert {"entity_f1", "f1_PER", "ece"} <= report["metrics"].keys()


def test_lines_of_words_are_cut_as_the_folder_says(entities):
    (row,) = records(predict(entities, "--input", "-", stdin="alice sees  new paris\n").out)
    assert row["words"] == ["alice", "sees", "new", "paris"]
    assert len(row["labels"]) == len(row["probability"]) == 4


def test_tables(entities):
    table = predict(entities, "--split", "test", "--format", "tsv").out
    words = [word for e in examples("entities", 7, 3) for word in e.words]
    rows = [line.split("\t") for line in table.splitlines() if line]
    assert [row[1] for row in rows[1:]] == words


def test_ensembles_are_joined(classes, tmp_path):
    state = torch.load(classes / "checkpoint_best.pt", weights_only=True)
    for name, value in state["model"].items():
        if "head" in name:
            value.zero_()
    torch.save(state, tmp_path / "flat.pt")
    alone = records(predict(classes, "--split", "valid").out)
    both = records(predict(f"{classes}:{tmp_path / 'flat.pt'}", "--split", "valid").out)
    for one, mean in zip(alone, both):
        for label, p in one["probabilities"].items():
            assert mean["probabilities"][label] == pytest.approx((p + 0.5) / 2, abs=1e-6)


def test_refusals_are_one_line(refusal, classes, tmp_path):
    path, out = tmp_path / "in.txt", tmp_path / "out"
    path.write_text("alice\n\n")
    assert "in.txt:2: empty line" in refusal(classes, "--input", path, "--output", out)
    assert "none: no such file or folder" in refusal(tmp_path / "none", "--split", "test")
    assert "none: no such file or folder; fairseq-plugins prepare makes" in refusal(
        classes, "--split", "test", "--data", "none"
    )
    assert list(tmp_path.iterdir()) == [path]


class Evil:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return type(self.mark).touch, (self.mark,)


def test_checkpoints_that_would_run_code_are_refused(refusal, classes, tmp_path):
    mark, path = tmp_path / "executed", tmp_path / "a.pt"
    state = torch.load(classes / "checkpoint_best.pt", weights_only=True)
    torch.save({**state, "evil": Evil(mark)}, path)
    assert "refused" in refusal(path, "--split", "test")
    code = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    state["cfg"]["model"] = {
        "_name": "transformer_lm",
        "character_embeddings": True,
        "character_filters": code,
    }
    torch.save(state, path)
    assert "holds model 'transformer_lm'" in refusal(path, "--split", "test")
    assert not mark.exists()


def test_a_pipe_gets_answers_before_it_ends_and_may_close_early(classes):
    command = [
        shims.python(),
        "-m",
        "fairseq_plugins",
        PREDICT,
        classes,
        "--input",
        "-",
        "--batch-size",
        "1",
        "--cpu",
    ]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(list(map(str, command)), text=True, **pipes)
    process.stdin.write("alice sees bob\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == "0"
    process.stdout.close()
    _, errors = process.communicate("good\n" * 3, timeout=60)
    assert "Traceback" not in errors
    assert "Error" not in errors

"""`robustness`, and `compare` on what it writes."""

from __future__ import annotations

import json

import pytest
from cli.commands import run
from inference.text_runs import make_runs
from perturbed_corpora import LABELS, pairs, prepare_test, swapped, write_folder

ROBUSTNESS = "robustness"
COMPARE = "compare"
COUNT = 30
HASH = "a" * 64


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Runs, a prepared folder for them and a perturbed set of its test split."""
    root = make_runs(tmp_path_factory.mktemp("robustness"), ["classes"])
    before = prepare_test(root, COUNT, HASH)
    write_folder(
        root / "sets" / "SwapAnt", before, swapped(before, LABELS), sha256=HASH, dataset="plain"
    )
    return root


def arguments(root, output, *more):
    runs = [f"{name}={root / path}" for name, path in (("BERT", "classes2"), ("ours", "classes1"))]
    fixed = ["--sets", root / "sets", "--output", output, "--data", root / "data", "--cpu"]
    return [*runs, *fixed, *more]


@pytest.mark.slow
def test_table_files_and_examples(root, tmp_path):
    output = tmp_path / "new" / "paws"
    found = run(ROBUSTNESS, *arguments(root, output))
    assert found.out == output.with_suffix(".md").read_text(encoding="utf-8")
    assert "| system | original (n=30) | SA (n=30) |" in found.out
    for system in ("BERT", "ours"):
        shares = []
        for name in ("original", "SwapAnt"):
            lines = (output / system / "1" / f"{name}.jsonl").read_text().splitlines()
            answers = list(map(json.loads, lines))
            shares.append(sum(one["label"] == one["gold"] for one in answers) / COUNT)
        assert f"| {system} | {100 * shares[0]:.2f} (1 seed" in found.out
    assert shares[-1] > 0.9  # it learnt what "good" means, before and after
    files = [output / name / "1" / "SwapAnt.jsonl" for name in ("BERT", "ours")]
    again = run(COMPARE, *files, "--max", 3, "--html", tmp_path / "page.html")
    assert "{+Bob+}" in again.out
    assert "BERT  wrong" in again.out
    assert "ours  right" in again.out
    assert again.out.splitlines()[-2].endswith("such examples shown")
    assert "<b>Bob</b>" in (tmp_path / "page.html").read_text()


def test_examples_kept_as_they_were_are_counted(root, tmp_path):
    before = pairs(3, LABELS)
    after = [before[0], *swapped(before[1:], LABELS)]
    kept = write_folder(tmp_path / "x", before, after, dataset="plain", keep=True)
    found = run(ROBUSTNESS, *arguments(root, tmp_path / "out", "--sets", kept, "--samples", 0))
    assert "SA: 1 of its examples are as they were before." in found.out


def test_refusals_are_one_line(run_here, root, tmp_path):
    output = tmp_path / "out"
    (tmp_path / "x.json").write_text("{")
    for more, told in (
        (["--samples", -1], "--samples -1: must be"),
        (["--sets", tmp_path / "none"], "no such file or folder"),
        (["--sets", tmp_path / "x.json"], "x.json: no JSON"),
        (["--data", tmp_path / "none"], "none: no such file or folder"),
    ):
        found = run_here(ROBUSTNESS, *arguments(root, output, *more), fails=True)
        (line,) = [line for line in found.err.splitlines() if line.startswith("error: ")]
        assert told in line
        assert not list(tmp_path.glob("out*"))


def test_comparisons_that_make_no_sense_are_refused(run_here, tmp_path):
    row = {"id": "0", "label": "a", "probabilities": {"a": 0.9, "b": 0.1}, "gold": "a"}
    classes = tmp_path / "a.jsonl"
    classes.write_text(json.dumps(row) + "\n")
    plain = tmp_path / "x.txt"
    plain.write_text("hello\n")
    for arguments_, told in (
        ([classes, classes, "--metric", "bleu"], "--metric is not for classes, which "),
        ([classes, plain], "x.txt, line 1: no JSON"),
        ([classes], "two systems at least"),
        ([plain, plain, plain, "--gold", plain], "3 systems: translations are compared two by two"),
        ([plain, plain, "--gold", plain, "--positive", "a"], "--positive is not for translations"),
        ([tmp_path / "none", plain], "no such file"),
    ):
        found = run_here(COMPARE, *arguments_, fails=True)
        assert told in found.err

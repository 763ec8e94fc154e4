"""The demos of the examples, raw text to tables: two updates a run."""

from __future__ import annotations

import json

import pytest
from examples.example_commands import example


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "systems", "labels"),
    [
        ("bertqa_squad", ("bert_plain_tiny", "bertqa_tiny"), ("BERT", "BERTQA")),
        ("dabert", ("bert_plain_minilm", "dabert_minilm"), ("BERT", "DABERT")),
    ],
)
def test_demos_end_with_a_table_that_says_what_they_are(project, kind, systems, labels):
    status, out, err = example(project, kind, "demo", "--smoke", "--cpu", "--archs", *systems)
    assert status == 0, err
    table = (project / "runs" / f"{kind}_demo" / "tables.md").read_text()
    assert out.endswith(table)
    assert all(f"| {label} |" in table for label in labels)
    assert "Smoke test" in table
    assert "Invented corpus" in table
    assert "[" not in table.split("\n\n")[1]  # no figures of the paper beside an invented corpus


@pytest.mark.slow
def test_sla_demo_is_not_run_twice(project):
    arguments = ("demo", "--smoke", "--cpu", "--archs", "bert_plain_tiny", "bert_sla_tiny")
    status, out, err = example(project, "sla", *arguments)
    assert status == 0, err
    results = {path: path.stat().st_mtime_ns for path in project.glob("runs/*/*/*/*/result.json")}
    assert len(results) == 2
    gates = json.loads(next(project.glob("runs/*/bert_sla*/*/*/result.json")).read_text())["gates"]
    assert gates.keys() == {"0", "1"}
    status, again, err = example(project, "sla", *arguments)
    assert (status, again) == (0, out), err
    assert {path: path.stat().st_mtime_ns for path in results} == results


@pytest.mark.long
def test_sembert_demo_ends_with_the_metrics_of_both(project):
    status, _, err = example(project, "sembert", "--cpu", "--max-update", "2")
    assert status == 0, err
    for arch in ("bert_plain_tiny", "bert_sembert_tiny"):
        metrics = json.loads((project / "runs" / "sembert_demo" / f"{arch}.json").read_text())
        assert 0 < metrics["metrics"]["accuracy"] < 1

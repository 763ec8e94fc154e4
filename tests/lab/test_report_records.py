"""What a folder of runs holds: plans, finished, failed and unfinished runs, broken files."""

from __future__ import annotations

import math
import os

import pytest
from lab.report_runs import PLAIN, SLA, SVG, describe, experiment, lines_of, part_of, write_lines

from fairseq_plugins.lab.report.contents import (
    commands_of,
    counts_of,
    failures_of,
    unfinished_table,
)
from fairseq_plugins.lab.report.making import ReportOptions, write_report
from fairseq_plugins.lab.report.model import Counts
from fairseq_plugins.lab.results.frame import read_experiments


def read(root):
    found, links = read_experiments(root)
    return found, [*links, *(fault for one in found for fault in one.faults)]


def test_every_run_of_a_plan_is_counted_once(tmp_path):
    (one,), remarks = read(experiment(tmp_path / "toy"))
    counts = counts_of(one)
    assert counts == Counts(finished=9, failed=1, unfinished=1, waiting=1)
    assert remarks == []


def test_runs_stand_in_the_order_of_their_rows(tmp_path):
    root = experiment(tmp_path / "toy")
    rows = lines_of(root)[::-1]
    write_lines(root, rows)
    ((one,), _) = read(root)
    assert [str(folder.relative_to(root)) for folder in one.runs.folder] == [
        row["folder"] for row in rows
    ]


def test_an_unfinished_run_tells_how_far_it_is(tmp_path):
    (one,), _ = read(experiment(tmp_path / "toy"))
    ((run, updates, share, written),) = unfinished_table(one).rows
    assert run.text == f"sst2/{SLA}/lr2e-05-epochs3/seed2"
    assert (updates.value, updates.detail) == (20, "of 40")
    assert share.share == 0.5
    assert "UTC" in written.text


def test_a_failed_run_shows_its_last_lines(tmp_path):
    root = experiment(tmp_path / "toy")
    (one,), _ = read(root)
    (failure,) = failures_of(one)
    assert "out of memory" in failure.text
    assert failure.updates == "10 of 40 updates"
    rows = lines_of(root)
    log = root / rows[-1]["folder"] / "train.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)))
    write_lines(root, [*rows[:-1], {**rows[-1], "error": ""}])
    (failure,) = failures_of(read(root)[0][0])
    assert failure.text.splitlines() == [f"line {number}" for number in range(80, 100)]


def test_commands_are_those_that_runs_recorded(tmp_path):
    root = experiment(tmp_path / "toy")
    whole, *single = commands_of(read(root)[0][0])
    assert whole.is_whole
    assert whole.text.startswith("fairseq-plugins run")
    assert "--seed 1" in single[0].text


def test_a_part_is_an_experiment_of_its_own(tmp_path):
    part_of(tmp_path / "cola", "cola", "mcc", {PLAIN: [0.5]})
    part_of(tmp_path / "rte", "rte", "accuracy", {PLAIN: [0.6]})
    (whole,), _ = read(tmp_path)
    assert [*whole.parts] == ["cola", "rte"]
    (alone,), _ = read(tmp_path / "rte")
    assert (alone.title, len(alone.runs)) == ("rte", 1)


def test_experiments_of_a_folder_are_read_together(tmp_path):
    for name in ("one", "two"):
        experiment(tmp_path / name)
    found, _ = read(tmp_path)
    assert [one.folder.name for one in found] == ["one", "two"]


def test_an_experiment_that_has_not_begun_can_be_reported(tmp_path):
    describe(tmp_path, ("cola",), [{"folder": "cola/a/b/seed1", "updates": 4}])
    write_lines(tmp_path, [])
    (one,), remarks = read(tmp_path)
    assert (counts_of(one).waiting, remarks) == (1, [])


def test_runs_outside_of_the_experiment_are_none_of_its_plan(tmp_path):
    describe(tmp_path, ("cola",), [{"folder": "../x", "updates": 4}, "x", {"folder": 3}])
    write_lines(tmp_path, [])
    (one,), _ = read(tmp_path)
    assert one.waiting == {}


@pytest.mark.parametrize(
    ("name", "text", "remark", "left"),
    [
        ("experiment.json", '{"parts": [', "not JSON", 10),
        ("experiment.json", "[]", "not a JSON object", 10),
        ("rows.jsonl", '{"part": "cola"', ":1: no row", 0),
    ],
)
def test_a_broken_file_costs_one_remark(tmp_path, name, text, remark, left):
    root = experiment(tmp_path / "toy")
    (root / name).write_text(text)
    (one,), remarks = read(root)
    assert len(remarks) == 1
    assert name in remarks[0]
    assert remark in remarks[0]
    assert len(one.runs) == left


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", 2),
        ("system", "\ud800"),  # half a character
        ("seed", math.inf),
        ("epochs", -1),
        ("learning_rate", 10**400),
        ("metrics", {"valid": {"mcc": 10**400}}),
        ("metrics", {"valid": {"accuracy": 0.5}}),
        ("parameters", [[]]),
        ("choice", {"a": {}}),
        ("share", math.nan),
        ("share", "x"),
        ("share", 0),
        ("folder", "x" * 6000),
        ("folder", "a\0b"),
        ("folder", "../elsewhere"),
        ("unknown", 1),
    ],
)
def test_a_line_that_is_no_row_costs_one_remark(tmp_path, key, value):
    root = experiment(tmp_path / "toy")
    first, *others = lines_of(root)
    write_lines(root, [first | {key: value}, *others])
    (one,), remarks = read(root)
    assert len(one.runs) == len(others)
    (remark,) = remarks
    assert remark.startswith(f"passed over {root}/rows.jsonl:1: ")


@pytest.mark.slow
def test_a_report_survives_names_of_files_that_are_no_text(tmp_path):
    root = experiment(tmp_path / "toy")
    for name in (b"\xff.txt", b"\xff.svg"):
        (root / "after" / "gates" / os.fsdecode(name)).write_text(SVG)
    pages, _ = write_report(root, tmp_path / "page", ReportOptions(samples=5))
    assert "gates: ?" in pages[0].read_text()
    assert "%FF.svg" in pages[1].read_text()


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no runs"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        read(tmp_path / "nowhere")

"""What a folder of runs holds: plans, finished, failed and unfinished runs, broken files."""

from __future__ import annotations

import json
import math
import os

import pytest
from lab.report_runs import (
    PLAIN,
    SLA,
    SVG,
    describe,
    experiment,
    part_of,
    rows_of,
    start,
    write_rows,
)

from fairseq_plugins.lab.report.contents import (
    commands_of,
    counts_of,
    failures_of,
    title_of,
    unfinished_table,
)
from fairseq_plugins.lab.report.making import ReportOptions, write_report
from fairseq_plugins.lab.report.model import Counts
from fairseq_plugins.lab.results.runs import read_experiments


def read(root):
    remarks = []
    return read_experiments(root, remarks), remarks


def test_every_run_of_a_plan_is_counted_once(tmp_path):
    (one,), remarks = read(experiment(tmp_path / "toy"))
    counts = counts_of(one)
    assert counts == Counts(finished=9, failed=1, unfinished=1, waiting=1)
    assert remarks == []


def test_runs_stand_in_the_order_of_the_plan(tmp_path):
    root = experiment(tmp_path / "toy")
    rows = rows_of(root, ("cola", "sst2"))
    write_rows(root, reversed(rows))
    ((one,), _) = read(root)
    told = [str(folder.relative_to(root)) for folder in one.runs.folder][: len(rows)]
    assert told == [row["folder"] for row in reversed(rows)]


def test_an_unfinished_run_tells_how_far_it_is(tmp_path):
    (one,), _ = read(experiment(tmp_path / "toy"))
    ((run, updates, share, written),) = unfinished_table(one).rows
    assert SLA in run.text
    assert "seed 2" in run.detail
    assert (updates.value, updates.detail) == (20, "of 40")
    assert share.share == 0.5
    assert "UTC" in written.text


def test_a_failed_run_shows_its_last_lines(tmp_path):
    root = experiment(tmp_path / "toy")
    (one,), _ = read(root)
    (failure,) = failures_of(one)
    assert "out of memory" in failure.text
    assert failure.updates == "10 of 40 updates"
    rows = [json.loads(line) for line in (root / "rows.jsonl").read_text().splitlines()]
    log = root / rows[-1]["folder"] / "train.log"
    log.write_text("".join(f"line {number}\n" for number in range(100)))
    write_rows(root, [*rows[:-1], {**rows[-1], "error": ""}])
    (failure,) = failures_of(read(root)[0][0])
    assert failure.text.splitlines() == [f"line {number}" for number in range(80, 100)]


def test_commands_are_those_that_runs_recorded(tmp_path):
    root = experiment(tmp_path / "toy")
    whole, *single = commands_of(read(root)[0][0])
    assert whole.is_whole
    assert whole.text.startswith("fairseq-plugins run")
    assert "--seed 1" in single[0].text
    begun = root / "sst2" / SLA / "lr2e-05-epochs3" / "seed2"
    (begun / "command.txt").write_text("fairseq-train data-bin/sst2 --seed 2\n")
    told = {one.text for one in commands_of(read(root)[0][0])} - {one.text for one in single}
    assert told == {whole.text, "fairseq-train data-bin/sst2 --seed 2"}


def test_folders_without_description_are_one_experiment(tmp_path):
    part_of(tmp_path / "cola", "cola", "mcc", {PLAIN: [0.5]})
    part_of(tmp_path / "rte", "rte", "accuracy", {PLAIN: [0.6]})
    part_of(tmp_path / "toy_demo", "rte", "accuracy", {PLAIN: [0.7]})
    found, _ = read(tmp_path)
    assert [one.title for one in found] == ["toy_demo", tmp_path.name]
    assert [part.name for part in found[1].parts] == ["cola", "rte"]
    assert [part.dataset for part in found[1].parts] == ["cola", "rte"]
    (alone,), _ = read(tmp_path / "rte")
    assert (alone.title, len(alone.runs)) == ("rte", 1)


def test_experiments_of_a_folder_are_read_together(tmp_path):
    for name in ("one", "two"):
        experiment(tmp_path / name)
    found, _ = read(tmp_path)
    assert [one.folder.name for one in found] == ["one", "two"]


def test_an_experiment_that_has_not_begun_can_be_reported(tmp_path):
    describe(tmp_path, ("cola",), ["cola/a/b/seed1"])
    (one,), remarks = read(tmp_path)
    assert (counts_of(one).waiting, remarks) == (1, [])


@pytest.mark.parametrize(
    ("name", "text", "remark"),
    [
        ("experiment.json", '{"parts": [', "not JSON"),
        ("experiment.json", "[]", "not a JSON object"),
        ("rows.jsonl", '{"part": "cola"', "line 1: not a row"),
        (f"cola/{PLAIN}/lr2e-05-epochs3/seed1/result.json", "{", "not JSON"),
        (f"sst2/{SLA}/lr2e-05-epochs3/seed2/settings.json", "", "not JSON"),
        (f"sst2/{SLA}/lr2e-05-epochs3/seed2/settings.json", '{"seed": "x"}', "nothing of a run"),
    ],
)
def test_a_broken_file_costs_one_remark(tmp_path, name, text, remark):
    root = experiment(tmp_path / "toy")
    (root / name).write_text(text)
    (one,), remarks = read(root)
    assert len(remarks) == 1
    assert name.rpartition("/")[0] in remarks[0]
    assert remark in remarks[0]
    assert len(one.runs) >= 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("system", "\ud800"),  # half a character
        ("seed", math.inf),
        ("epochs", math.inf),
        ("learning_rate", 10**400),
        ("best", {"mcc": 10**400}),
        ("parameters", [[]]),
        ("choice", {"a": {}}),
        ("fraction", math.nan),
        ("fraction", "x"),
        ("folder", "x" * 6000),
        ("folder", "a\0b"),
    ],
)
def test_a_report_survives_what_json_can_say(tmp_path, key, value):
    root = experiment(tmp_path / "toy")
    path = root / f"cola/{PLAIN}/lr2e-05-epochs3/seed1/result.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    described = json.loads((root / "experiment.json").read_text())
    described["parts"] += [{"name": "x", "folder": value}] if key == "folder" else []
    (root / "experiment.json").write_text(json.dumps(described))
    first, *others = (root / "rows.jsonl").read_text().splitlines()
    bad = json.dumps(json.loads(first) | {key: value})
    (root / "rows.jsonl").write_text("\n".join([bad, *others]))
    pages, report = write_report(root, tmp_path / "page", ReportOptions(samples=5))
    assert report.remarks
    assert "bert_sla_tiny" in pages[0].read_text()


@pytest.mark.slow
def test_a_report_survives_names_of_files_that_are_no_text(tmp_path):
    root = experiment(tmp_path / "toy")
    for name in (b"\xff.txt", b"\xff.svg"):
        (root / "after" / "gates" / os.fsdecode(name)).write_text(SVG)
    pages, _ = write_report(root, tmp_path / "page", ReportOptions(samples=5))
    assert "gates: ?" in pages[0].read_text()
    assert "%FF.svg" in pages[1].read_text()


def test_parts_outside_of_the_experiment_are_passed_over(tmp_path):
    root = experiment(tmp_path / "toy")
    described = json.loads((root / "experiment.json").read_text())
    described["parts"].append({"name": "far", "folder": "../other"})
    (root / "experiment.json").write_text(json.dumps(described))
    (one,), remarks = read(root)
    assert [part.name for part in one.parts] == ["cola", "sst2"]
    assert "lies outside" in remarks[0]


def test_a_folder_without_runs_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no experiment and no run"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        read(tmp_path / "nowhere")


def test_translation_has_no_epochs(tmp_path):
    folder = tmp_path / "syntax" / "lr0.001-updates40-fraction0.1" / "seed1"
    facts = {"epochs": 0, "fraction": 0.1, "learning_rate": 1e-3}
    start(folder, "syntax", 1, **facts, dataset="translation", metric="loss")
    ((one,), _) = read(tmp_path)
    (run,) = one.runs.itertuples()
    assert (run.setting.updates, run.setting.fraction, run.planned) == (40, 0.1, 40)
    assert "10 % of the data" in title_of(run)

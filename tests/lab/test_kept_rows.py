"""Rows that are kept without their runs tell of seeds what the runs tell; bad ones are named."""

from __future__ import annotations

import json
import math
import shutil

import pytest
from cli.commands import run
from lab.report_runs import PLAIN, SLA, describe, part_of, rows_of, write_rows

from fairseq_plugins.lab.results.setting_tables import csv_files, format_markdown, make_report

BOOTSTRAP = "low high bootstrap_p corrected_p examples samples".split()
BOOTSTRAP += "error examples_error untested level detectable".split()
SCORES = {SLA: [0.4, 0.45, 0.41], PLAIN: [0.3, 0.36, 0.31], "bert_pos_tiny": [0.33]}


@pytest.fixture
def root(tmp_path):
    """An experiment with its runs, and with predictions."""
    part_of(tmp_path / "runs" / "cola", "cola", "mcc", SCORES)
    describe(tmp_path / "runs", ["cola"], [])
    write_rows(tmp_path / "runs", sorted_rows(tmp_path / "runs"))
    return tmp_path / "runs"


def sorted_rows(root):
    """Return the rows in the order of a plan: seed by seed, systems as in `SCORES`."""
    order = list(SCORES)
    return sorted(
        rows_of(root, ["cola"]), key=lambda row: (row["seed"], order.index(row["system"]))
    )


@pytest.fixture
def rows(root, tmp_path):
    """The rows of the same, lying elsewhere."""
    (tmp_path / "kept").mkdir()
    return shutil.copy(root / "rows.jsonl", tmp_path / "kept" / "cola.jsonl")


def test_rows_alone_tell_of_seeds_what_the_runs_tell(root, rows):
    runs, kept = make_report(root / "cola", samples=20), make_report(rows)
    assert csv_files(runs)["settings.csv"] == csv_files(kept)["settings.csv"]
    over_seeds = [one.comparisons.drop(columns=BOOTSTRAP) for one in (runs, kept)]
    assert len(over_seeds[0]) == 2
    assert over_seeds[0].equals(over_seeds[1])
    assert {name: sorted(values) for name, values in kept.scores.items()} == {
        name: sorted(values) for name, values in SCORES.items()
    }
    assert list(kept.scores) == [PLAIN, SLA, "bert_pos_tiny"]  # the baseline, then as in the file
    assert runs.comparisons.low.notna().any()
    assert kept.comparisons[["low", "high", "bootstrap_p", "examples"]].isna().all(axis=None)
    assert "compared over seeds alone" in format_markdown(kept)
    assert "compared over seeds alone" not in format_markdown(runs)


def test_the_interval_over_seeds_leaves_zero_out_where_the_test_is_sure(rows, tmp_path):
    found = make_report(rows).comparisons.set_index("system")
    sla, alone = found.loc[SLA], found.loc["bert_pos_tiny"]
    assert sla.t_low < sla.difference < sla.t_high
    assert (sla.t_low > 0) == (sla.t_p < 0.05)
    assert math.isnan(alone.t_low)
    back = make_report(rows, baseline=SLA).comparisons.set_index("system").loc[PLAIN]
    assert (back.t_low, back.t_high) == (pytest.approx(-sla.t_high), pytest.approx(-sla.t_low))
    edge = {PLAIN: SCORES[PLAIN], SLA: [value - sla.t_low for value in SCORES[SLA]]}
    part_of(tmp_path / "edge", "cola", "mcc", edge)  # whose interval ends at 0
    (on_it,) = make_report(tmp_path / "edge", samples=20).comparisons.itertuples()
    assert (on_it.t_low, on_it.t_p) == (pytest.approx(0, abs=1e-9), pytest.approx(0.05))


def test_rows_that_lie_in_their_experiment_find_its_predictions(root):
    runs, kept = (make_report(root / name, samples=20) for name in ("cola", "rows.jsonl"))
    assert runs.comparisons.equals(kept.comparisons)


@pytest.mark.parametrize("output", [True, False])
def test_the_command_writes_everything(rows, root, tmp_path, output):
    place = tmp_path / "out" if output else tmp_path / "kept" / "cola_seeds"
    shown = run("seeds", rows, *["--output", place] * output).out
    names = ["comparisons.csv", "seeds.md", "seeds.png", "settings.csv"]
    assert sorted(path.name for path in place.iterdir()) == names
    assert shown.endswith((place / "seeds.md").read_text())  # after logs, in tests
    run("seeds", root / "cola", "--samples", 20)
    assert {path.name for path in (root / "cola").iterdir() if path.is_file()} == set(names)


def changed(rows, number, **changes):
    """Change keys of a line, from 1; None takes one away."""
    lines = [json.loads(line) for line in rows.read_text().splitlines()]
    lines[number - 1] |= changes
    kept = ({key: one for key, one in line.items() if one is not None} for line in lines)
    rows.write_text("".join(json.dumps(line) + "\n" for line in kept))


@pytest.mark.parametrize(
    ("number", "key", "value"),
    [
        *((2, key, None) for key in "dataset system seed metric best last status folder".split()),
        (3, "dataset", "rte"),
        (3, "metric", "loss"),
        (5, "seed", "one"),
        (5, "best", {"accuracy": 0.5}),
        (5, "last", [1]),
        (6, "folder", "../elsewhere"),
        (6, "learning_rate", "fast"),
        (4, "seed", 1),
    ],
)
def test_a_bad_row_is_named_with_file_line_and_key(rows, number, key, value):
    changed(rows, number, **{key: value})
    with pytest.raises(ValueError, match=rf"cola\.jsonl:{number}: (no )?key '{key}'"):
        make_report(rows)


@pytest.mark.parametrize("line", ["half", "[1]", '{"a": ', "\udcff"])
def test_a_line_that_is_no_json_object_is_named(rows, line):
    before = rows.read_bytes()
    rows.write_bytes(before + line.encode(errors="surrogateescape") + b"\n")
    number = before.count(b"\n") + 1
    with pytest.raises(ValueError, match=rf"cola\.jsonl:{number}: no row"):
        make_report(rows)


def test_failed_runs_are_passed_over(rows):
    before = make_report(rows).settings
    changed(rows, 3, status="failed", best=None, last=None, error="out of memory")
    after = make_report(rows).settings
    assert sum(after.n) == sum(before.n) - 1
    for number in range(1, sum(before.n) + 1):
        changed(rows, number, status="failed")
    with pytest.raises(ValueError, match="no finished run"):
        make_report(rows)


@pytest.fixture
def kept(root, tmp_path):
    """The rows as `keep` writes them, elsewhere."""
    run("keep", root, tmp_path / "away" / "cola.jsonl")
    return tmp_path / "away" / "cola.jsonl"


def test_kept_rows_tell_of_examples_what_the_runs_tell(root, kept):
    runs, alone = make_report(root / "cola", samples=50), make_report(kept, samples=50)
    assert alone.comparisons.bootstrap_p.notna().all()
    assert csv_files(runs) == csv_files(alone)
    assert "compared over seeds alone" not in format_markdown(alone)


def test_rows_of_runs_that_are_gone_stay_and_new_ones_are_added(root, kept):
    before = kept.read_text().splitlines()
    rows = [json.loads(line) for line in (root / "rows.jsonl").read_text().splitlines()]
    part_of(root / "cola", "cola", "mcc", {"bert_wla_tiny": [0.2]})
    new = next(row for row in rows_of(root, ["cola"]) if row["system"] == "bert_wla_tiny")
    again = {**rows[0], "best": {**rows[0]["best"], "mcc": 0.9}}
    write_rows(root, [new, again])
    told = run("keep", root, kept)
    assert told.out == f"{kept}: 2 runs of {root}, {len(rows) + 1} in all\n"
    after = kept.read_text().splitlines()
    assert after[1:-1] == before[1:]
    assert json.loads(after[0])["best"]["mcc"] == 0.9
    assert json.loads(after[-1])["system"] == "bert_wla_tiny"
    assert json.loads(after[-1])["counts"]["shape"] == [50, 1]


def test_rows_of_another_experiment_are_not_added(root, kept):
    before = kept.read_bytes()
    rows = [json.loads(line) for line in (root / "rows.jsonl").read_text().splitlines()]
    others = [{**row, "folder": f"other/{row['folder']}", "dataset": "rte"} for row in rows]
    write_rows(root, others)
    refused = run("keep", root, kept, fails=True)
    assert "key 'dataset': 'rte', of rows before 'cola'" in refused.err
    assert kept.read_bytes() == before
    assert "no finished run" in run("keep", root, kept, "--part", "sst2", fails=True).err


def test_every_share_of_the_data_is_compared(root, kept):
    lines = [json.loads(line) for line in kept.read_text().splitlines()]
    few = [{**row, "fraction": 0.05, "folder": f"few/{row['folder']}"} for row in lines]
    for row in few:
        row["best"] = {**row["best"], "mcc": row["best"]["mcc"] / 2}
    kept.write_text("".join(json.dumps(row) + "\n" for row in (*lines, *few)))
    report = make_report(kept, samples=20)
    found = report.comparisons
    assert list(found.title) == ["bert_pos_tiny 5 %", f"{SLA} 5 %", "bert_pos_tiny", SLA]
    assert found.difference[0] == pytest.approx(found.difference[2] / 2)
    assert list(report.scores)[:2] == [f"{PLAIN} 5 %", f"{SLA} 5 %"]
    assert list(report.scores)[3:] == [PLAIN, SLA, "bert_pos_tiny"]

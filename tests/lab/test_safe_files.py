"""Files of an experiment: read, written and emptied where they lie, and nowhere else.

Every attack is made once with the guard left out, so that the mark that it leaves is known to work.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from lab.fake_runs import make_runs
from lab.filled_tables import parts_of
from lab.finished_runs import change_rows, finish
from lab.report_runs import SLA, experiment

from fairseq_plugins.errors import InputError
from fairseq_plugins.lab import safe_files
from fairseq_plugins.lab.execution.after import perform
from fairseq_plugins.lab.execution.experiment import Plan, check_plan
from fairseq_plugins.lab.execution.processes import launch
from fairseq_plugins.lab.execution.training import locked
from fairseq_plugins.lab.plan.experiment_file import PlannedExperiment, PlannedPart
from fairseq_plugins.lab.plan.grid import Grid
from fairseq_plugins.lab.plan.steps import read_steps
from fairseq_plugins.lab.report import steps
from fairseq_plugins.lab.report.making import ReportOptions, write_report

SECRET = "the-secret-of-another-folder"
FAILED = f"sst2/{SLA}/lr2e-05-epochs3/seed3"
BEGUN = f"sst2/{SLA}/lr2e-05-epochs3/seed2"


@pytest.fixture
def secret(tmp_path):
    """A file that belongs to nobody here."""
    path = tmp_path / "elsewhere" / "secret"
    path.parent.mkdir()
    path.write_text(f"{SECRET}\n")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An experiment that is copied for every test."""
    root = experiment(tmp_path_factory.mktemp("made") / "toy")
    rows = (root / "rows.jsonl").read_text().splitlines()
    last = {**json.loads(rows[-1]), "error": ""}  # its log is shown in its place
    (root / "rows.jsonl").write_text("\n".join([*rows[:-1], json.dumps(last)]) + "\n")
    return root


@pytest.fixture
def root(made, tmp_path):
    return Path(shutil.copytree(made, tmp_path / "runs" / "toy"))


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """Return a function that reports on a folder: the text of the page, and the remarks."""
    monkeypatch.setattr("fairseq_plugins.lab.report.making.draw", lambda *_, **__: [])
    monkeypatch.setattr("fairseq_plugins.lab.report.making.all_tables", lambda *_: [])

    def report(folder):
        page, _, remarks = write_report(folder, tmp_path / "page", ReportOptions(samples=2))
        return page.read_text(), remarks

    return report


def linked(place, target):
    """Put a link in the place of a file or folder."""
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


@pytest.mark.parametrize(
    "name",
    [
        *("after/gates/n.txt", "after/x/inner/n.md", f"{FAILED}/train.log"),
    ],
)
@pytest.mark.parametrize("is_link", [True, False])
def test_reports_show_files_of_the_experiment_alone(root, pages, secret, name, is_link) -> None:
    if is_link:
        linked(root / name, secret)
    else:  # what a report shows of such a file where it lies inside
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(secret, root / name)
    text, remarks = pages(root)
    assert (SECRET in text) != is_link
    if is_link and "after" in name:
        assert any(name in remark and "symbolic link" in remark for remark in remarks)


@pytest.mark.parametrize("name", ["after", "after/gates", "after/gates/inner"])
def test_reports_enter_no_linked_folders(root, pages, secret, name) -> None:
    inner = secret.parent / {"after": "step"}.get(name, "")
    inner.mkdir(exist_ok=True)
    shutil.copy(secret, inner / "n.txt")
    linked(root / name, secret.parent)
    text, remarks = pages(root)
    assert SECRET not in text
    assert any("symbolic link" in remark for remark in remarks)
    (root / name).unlink()
    shutil.copytree(secret.parent, root / name)  # in a report it is where it lies inside
    assert SECRET in pages(root)[0]


@pytest.mark.parametrize("name", [f"cola/{SLA}", "cola"])
def test_results_behind_links_are_in_no_report_and_no_table(root, pages, secret, name) -> None:
    run = f"cola/{SLA}/lr2e-05-epochs3/seed1"
    folder = root / name
    change_rows(root, lambda row: row | ({"command": SECRET} if row["folder"] == run else {}))
    assert SECRET in pages(root)[0]
    shutil.move(folder, secret.parent / folder.name)
    folder.symlink_to(secret.parent / folder.name)
    assert SECRET not in pages(root)[0]
    with pytest.raises(InputError, match="key 'folder': .* lies outside"):
        parts_of([root])


def test_the_folder_that_is_named_may_be_a_link(root, pages, tmp_path) -> None:
    (tmp_path / "named").symlink_to(root)
    assert len(parts_of([tmp_path / "named"])) == len(parts_of([root])) == 2
    assert "9 of 12 runs finished" in pages(tmp_path / "named")[0]
    linked(root.parent / "second", root)
    text, remarks = pages(root.parent)
    assert "9 of 12 runs finished" in text
    assert any("second: a symbolic link" in remark for remark in remarks)


def test_files_are_taken_in_up_to_a_size(root, pages, monkeypatch) -> None:
    (root / "after" / "gates" / "n.txt").write_text(SECRET)
    os.mkfifo(root / "after" / "gates" / "pipe.txt")
    assert SECRET in pages(root)[0]
    monkeypatch.setattr(steps, "LARGEST", 10)
    text, remarks = pages(root)
    assert SECRET not in text
    assert any("n.txt: larger than 10 bytes" in remark for remark in remarks)


def test_only_regular_files_are_opened(tmp_path, secret) -> None:
    os.mkfifo(tmp_path / "pipe")
    linked(tmp_path / "link", secret)
    linked(tmp_path / "lost", tmp_path / "nothing")
    for name in ("pipe", "link", "lost", "elsewhere"):
        for mode in ("rb", "ab"):
            with pytest.raises(InputError, match=f"{name}: (a symbolic link|no regular file)"):
                safe_files.open_file(tmp_path / name, mode)
        assert not safe_files.is_file(tmp_path / name)
    assert not (tmp_path / "nothing").exists()
    assert safe_files.read_text(secret) == f"{SECRET}\n"
    assert safe_files.read_tail(secret, 3) == f"{SECRET}\n"[-3:]
    with pytest.raises(FileNotFoundError):
        safe_files.read_text(tmp_path / "none")


@pytest.mark.parametrize("name", [".lock", "train.log", "checkpoint_last.pt", "settings.json"])
def test_a_run_with_a_link_is_refused_and_nothing_is_written(tmp_path, secret, name) -> None:
    run = make_runs(tmp_path, seeds=(1,))[0]
    linked(run.folder / name, secret)
    with pytest.raises(InputError, match=f"{name}: a symbolic link"):
        run.is_finished()
    assert secret.read_text() == f"{SECRET}\n"


def test_locks_and_logs_are_no_links(tmp_path, secret) -> None:
    linked(tmp_path / ".lock", tmp_path / "made")
    with pytest.raises(InputError, match=".lock: a symbolic link"):
        locked(tmp_path).__enter__()
    assert not (tmp_path / "made").exists()
    (tmp_path / ".lock").open("a").close()  # without the guard it is made elsewhere
    assert (tmp_path / "made").exists()
    linked(tmp_path / "x.log", secret)
    with pytest.raises(InputError, match="x.log: a symbolic link"):
        launch(["echo", "x"], tmp_path / "x.log")
    assert secret.read_text() == f"{SECRET}\n"
    (tmp_path / "x.log").unlink()
    launch(["echo", "x"], tmp_path / "x.log")
    assert (tmp_path / "x.log").read_text() == "x\n"


def plan_with(root, words):
    """Return the plan of an experiment with a finished run and a step."""
    finish(root / "cola", "bert_sla_base", 2e-5, 1, 0.5, right=5, home=root)
    part = PlannedPart("cola", Grid("cola", {}), data="bin")
    after = read_steps({"one": words}, "after")
    return Plan(PlannedExperiment("x", "", Path("x.yaml"), (part,), after=after), root, ())


@pytest.mark.parametrize("name", ["after", "after/.one.tmp1", "after/one"])
def test_no_step_empties_a_linked_folder(tmp_path, secret, name) -> None:
    plan = plan_with(tmp_path / "runs", ["plot", "gates", "{runs:cola}"])
    linked(plan.root / name, secret.parent)
    failures = perform(plan, launch=lambda *_: None)
    if name != "after/.one.tmp1":  # one that is left there, as a link is
        assert f"{name}: a symbolic link" in failures[0]
    assert secret.exists()
    (plan.root / name).unlink()  # an own folder of this name is emptied
    shutil.copytree(secret.parent, plan.root / name)
    shutil.rmtree(plan.root / "after" / "one", ignore_errors=True)
    assert perform(plan, launch=lambda *_: None) == []
    assert name == "after" or not (plan.root / name / secret.name).exists()


def test_steps_read_no_file_behind_a_link(tmp_path, secret) -> None:
    words = ["compare", "{run:cola/bert_sla}/predictions.jsonl", "{raw:cola}/own.txt"]
    plan = plan_with(tmp_path / "runs", words)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "own.txt").touch()
    assert perform(plan, tmp_path / "x", launch=lambda *_: None) == []
    linked(tmp_path / "x" / "own.txt", secret)
    shutil.rmtree(plan.root / "after")
    (failure,) = perform(plan, tmp_path / "x", launch=lambda *_: None)
    assert "own.txt: lies outside" in failure


def test_folders_of_a_plan_are_no_links(tmp_path, secret) -> None:
    part = PlannedPart("cola", Grid("cola", {"a": {"arch": "a"}}), data="bin")
    plan = Plan(PlannedExperiment("x", "", Path("x.yaml"), (part,)), tmp_path / "runs", ())
    check_plan(plan)
    for name in ("cola", "jobs", "after"):
        linked(plan.root / name, secret.parent)
        with pytest.raises(InputError, match=f"{name}: a symbolic link"):
            check_plan(plan)
        (plan.root / name).unlink()

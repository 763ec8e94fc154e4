"""A training says in its run folder which data it had, and lets no other train there."""

from __future__ import annotations

import fcntl
import os
import random
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from prepared_text import examples, prepare, train

from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.products import with_products
from fairseq_plugins.errors import InputError
from fairseq_plugins.inference.prediction import load
from fairseq_plugins.models.checkpoints import read_checkpoint
from fairseq_plugins.tasks import _run_folder

SHORT = ["--disable-validation", "--max-update", "1"]


def made(place: Path, seed: int) -> Path:
    splits = {"train": examples("classes", 20, 1), "valid": examples("classes", 9, seed)}
    folder = prepare(place, "classes", splits)
    with_products(folder, read_manifest(folder)).save(folder)
    return folder


def ids(run: Path) -> list[str]:
    return [one.id for one in load(run / "checkpoint_last.pt", cpu=True).predict_split("valid")]


def test_a_run_finds_its_folder_from_anywhere(tmp_path, monkeypatch, caplog):
    """Another folder of the same name is not read."""
    for seed, place in enumerate((tmp_path / "one", tmp_path / "two")):
        made(place / "data-bin", seed)
    monkeypatch.chdir(tmp_path / "one")
    train(Path("data-bin"), Path("run"), *SHORT)
    run = tmp_path / "one" / "run"
    assert read_checkpoint(run / "checkpoint_last.pt").task["data"] == "data-bin"
    wanted = ids(run)
    assert wanted[0].startswith("s0-")
    monkeypatch.chdir(tmp_path / "two")
    assert ids(run) == wanted
    copied = tmp_path / "three"
    (tmp_path / "one").rename(copied)  # as on another machine
    with pytest.raises(InputError, match="choices: none; name a prepared folder with --data"):
        ids(copied / "run")
    assert "data-bin is not as it was when" in caplog.text
    assert "the data of valid are others" in caplog.text
    (copied / "run" / "checkpoint_last.pt").rename(tmp_path / "checkpoint_last.pt")
    with pytest.raises(InputError, match="data-bin is not as it was .* or take what is there with"):
        ids(tmp_path)
    monkeypatch.chdir(copied)
    assert ids(tmp_path) == wanted


class Task:
    manifest = None

    def __init__(self, data: str = "data-bin/x") -> None:
        self.cfg = SimpleNamespace(data=data)


def in_child(work) -> int:
    """Do some work in another process, which then sleeps; return its number."""
    ready, told = os.pipe()
    if not (child := os.fork()):
        work()
        os.write(told, b"1")
        time.sleep(60)
        os._exit(0)
    os.read(ready, 1)
    return child


def end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_two_trainings_share_no_run_folder_and_a_killed_one_is_in_nobodys_way(tmp_path):
    folder, run, task = made(tmp_path / "data", 2), tmp_path / "run", Task()
    child = in_child(lambda: _run_folder._lock(run, task))
    name = f"process {child} on .*, training on data-bin/x since 20"
    with pytest.raises(InputError, match=rf"run: another training is at work there \({name}"):
        train(folder, run, *SHORT)
    assert [path.name for path in run.iterdir()] == [".training.lock"]
    train(folder, tmp_path / "none", *SHORT, "--no-save")  # no run folder, no lock
    end(child)
    train(folder, run, *SHORT)
    train(folder, run, *SHORT[:-1], "2")  # one after the other, in one process
    assert f"process {os.getpid()} on" in (run / ".training.lock").read_text()


def test_children_of_a_training_hold_nothing(tmp_path):
    task = Task()

    def work() -> None:
        _run_folder._lock(tmp_path, task)
        loader = in_child(lambda: None)
        (tmp_path / "loader").write_text(str(loader))

    end(in_child(work))
    _run_folder._lock(tmp_path, Task())
    os.kill(int((tmp_path / "loader").read_text()), signal.SIGKILL)


def test_a_lock_ends_with_its_last_task(tmp_path):
    task, following = Task(), Task()
    for one in (task, Task(), following):
        _run_folder._lock(tmp_path, one)
    del one
    with open(tmp_path / ".training.lock", "rb") as stream:
        for _ in range(2):  # whichever of the two ends first
            with pytest.raises(BlockingIOError):
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            task = None
        del following
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_other_ranks_hold_nothing_and_without_locks_a_warning_is_all(tmp_path, monkeypatch, caplog):
    folder = made(tmp_path / "data", 2)

    def no_locks(*_):
        raise OSError(38, "no locks")

    child = in_child(lambda: _run_folder._lock(tmp_path / "held", Task()))
    monkeypatch.setattr(_run_folder, "_card", lambda *_: "")
    for rank, place in ((1, "held"), (0, "unlocked")):
        if not rank:
            monkeypatch.setattr(fcntl, "flock", no_locks)
        whole = SimpleNamespace(
            checkpoint=SimpleNamespace(no_save=False, save_dir=str(tmp_path / place)),
            distributed_training=SimpleNamespace(distributed_rank=rank),
        )
        monkeypatch.setattr(_run_folder, "training_of", lambda _, whole=whole: whole)
        told = _run_folder.keep_folder(Task(str(folder)), folder, None, None)
        assert bool(told) is not bool(rank)
    end(child)
    assert "this file system has no locks" in caplog.text


def test_who_holds_a_lock_is_said_in_a_line(tmp_path):
    dice = random.Random(19)
    letters = ["a", " ", "文", "ب", "🙂", "\n", "\r", "\x1b[31m", "\x07", "\x00", "\u202e", "\x9b"]
    for _ in range(300):
        text = "".join(dice.choices(letters, k=dice.randint(0, 600)))
        content = text.encode() + bytes(dice.choices(range(256), k=dice.randint(0, 3)))
        (tmp_path / ".training.lock").write_bytes(content)
        with open(tmp_path / ".training.lock", "rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            with pytest.raises(InputError, match="another training is at work") as caught:
                _run_folder._lock(tmp_path, Task())
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 4000


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_lock_that_is_a_link_is_refused(tmp_path, kind):
    (tmp_path / "mine").write_text("precious")
    link = tmp_path / ".training.lock"
    link.symlink_to("mine") if kind == "symbolic" else link.hardlink_to(tmp_path / "mine")
    with pytest.raises(InputError, match="is a symbolic link|has another name as well"):
        _run_folder._lock(tmp_path, Task())
    assert (tmp_path / "mine").read_text() == "precious"

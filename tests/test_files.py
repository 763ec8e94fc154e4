"""Files appear whole or not at all, and what lies behind a link is never touched."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import random
import signal
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fairseq_plugins import files
from fairseq_plugins.errors import InputError
from fairseq_plugins.files import write_text


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "new" / "x.txt"
    with files.replacing(path, "w") as stream:
        stream.write("one\n")
        assert not path.exists()
    assert path.read_bytes() == b"one\n"
    with pytest.raises(TypeError), files.replacing(path) as stream:
        stream.write("text where bytes are due")
    assert path.read_bytes() == b"one\n"
    assert [found.name for found in path.parent.iterdir()] == ["x.txt"]


def test_results_are_for_sharing_as_the_mask_says(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "x", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


def test_a_linked_result_is_replaced_and_its_target_stays(tmp_path):
    target, path = tmp_path / "target", tmp_path / "x"
    target.write_text("precious")
    for write in (
        lambda: files.write_text(path, "new"),
        lambda: files.write_bytes(path, b"new"),
        lambda: files.copy(tmp_path / "source", path),
    ):
        (tmp_path / "source").write_text("new")
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        write()
        assert (target.read_text(), path.read_text()) == ("precious", "new")
        assert not path.is_symlink()


def test_temporary_names_are_known_and_never_the_same(tmp_path):
    names = {files.temporary_beside(tmp_path / "a.bin").name for _ in range(50)}
    assert len(names) == 50
    assert {files.final_name(name) for name in names} == {"a.bin"}
    assert files.final_name("a.bin.tmp77") == "a.bin"  # of releases before
    assert files.final_name("a.bin") == "a.bin"
    with pytest.raises(InputError, match=r"\.: is a folder; name a file"):
        files.temporary_beside(".")


def make_symbolic(path, target):
    path.symlink_to(target)


def make_dangling(path, target):
    path.symlink_to(target.with_name("nothing"))


def make_hard(path, target):
    path.hardlink_to(target)


def make_pipe(path, target):
    os.mkfifo(path)


@pytest.mark.parametrize("make", [make_symbolic, make_dangling, make_hard, make_pipe])
def test_own_files_are_no_links_and_no_pipes(make, tmp_path):
    target, path = tmp_path / "target", tmp_path / "own"
    target.write_text("precious")
    make(path, target)
    with pytest.raises(InputError, match=r"own (is a symbolic link|has another name|is no plain)"):
        files.open_own(path)
    assert target.read_text() == "precious"
    assert not target.with_name("nothing").exists()
    path.unlink()
    with files.open_own(path) as stream:
        stream.write(b"1")


def test_hashes_are_of_all_bytes(tmp_path):
    for size in (0, 1, files.BLOCK, files.BLOCK + 1):
        content = os.urandom(size)
        (tmp_path / "x").write_bytes(content)
        assert files.sha256(tmp_path / "x") == hashlib.sha256(content).hexdigest()


LETTERS = [
    "a",
    "Z9",
    "é",
    "文",
    "ب",
    "🙂",
    " ",
    "[x]",
    "*",
    "?",
    ".tmp",
    "tmp1",
    ".json",
    "\x1b",
    "-",
]


def leave(path: Path, dice: random.Random) -> bool:
    """Let something unfinished lie there; return whether somebody still writes it."""
    if dice.random() < 0.3:
        path.mkdir()
        (path / "inner").mkdir()
        (path / "inner" / "x").write_text("half")
    else:
        path.write_text("half")
    return dice.random() < 0.3


def write(path: Path, dice: random.Random) -> None:
    if dice.random() < 0.5:
        write_text(path, "whole")
        return
    with files.complete_folder(path) as folder:
        (folder / "x").write_text("whole")


def test_what_killed_processes_left_is_removed_and_nothing_else(tmp_path):
    dice = random.Random(18)
    for number in range(300):
        place = tmp_path / str(number)
        place.mkdir()
        path = place / ("x" + "".join(dice.choices(LETTERS, k=dice.randint(0, 5))))
        left = [
            place / f".{path.name}.tmp{dice.randrange(10**15)}" for _ in range(dice.randint(1, 3))
        ]
        held = [os.open(one, os.O_RDONLY) for one in left if leave(one, dice)]
        busy = {Path(os.readlink(f"/proc/self/fd/{handle}")).name for handle in held}
        for handle in held:
            fcntl.flock(handle, fcntl.LOCK_EX)
        others = [
            f".{path.name}.tmp",
            f".{path.name}.tmp1x",
            f".x{path.name}.tmp1",
            f"{path.name}.tmp1",
        ]
        for name in others:
            (place / name).write_text("mine")
        (place / f".{path.name}.tmp7").symlink_to(place / others[0])
        write(path, dice)
        found = {one.name for one in place.iterdir()}
        assert found == {path.name, f".{path.name}.tmp7", *others, *busy}
        for handle in held:
            os.close(handle)


@pytest.mark.parametrize("writer", ["file", "folder"])
def test_the_next_one_removes_what_a_killed_one_left(tmp_path, writer):
    def work() -> None:
        if writer == "file":
            with files.replacing(tmp_path / "x", "w") as stream:
                stream.write("half")
                os.kill(os.getpid(), signal.SIGKILL)
        with files.complete_folder(tmp_path / "x") as folder:
            (folder / "y").write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)

    if not (child := os.fork()):
        work()
    os.waitpid(child, 0)
    assert [one.name[:6] for one in tmp_path.iterdir()] == [".x.tmp"]
    write_text(tmp_path / "x", "whole")
    assert [one.name for one in tmp_path.iterdir()] == ["x"]


def test_many_that_write_one_file_do_not_disturb_each_other(tmp_path):
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda k: write_text(tmp_path / "x", str(k)), range(400)))
    assert [one.name for one in tmp_path.iterdir()] == ["x"]


def test_without_locks_files_are_written_and_nothing_is_removed(tmp_path, monkeypatch):
    def no_locks(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    (tmp_path / ".x.tmp3").write_text("half")
    write_text(tmp_path / "x", "whole")
    with files.complete_folder(tmp_path / "y") as folder:
        (folder / "z").touch()
    assert sorted(one.name for one in tmp_path.iterdir()) == [".x.tmp3", "x", "y"]

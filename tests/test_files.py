"""Files appear whole or not at all, and what lies behind a link is never touched."""

from __future__ import annotations

import hashlib
import os
import stat

import pytest

from fairseq_plugins import files
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
    with pytest.raises(ValueError, match=r"own (is a symbolic link|has another name|is no plain)"):
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

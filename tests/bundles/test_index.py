"""The index of a bundle: what was written is opened, and what was changed is refused."""

import json
from pathlib import Path

import pytest

from fairseq_plugins.bundles import index
from fairseq_plugins.errors import InputError
from fairseq_plugins.files import check_free


@pytest.fixture
def bundle(tmp_path) -> Path:
    output = tmp_path / "bundle"
    content = {}
    with index.new_bundle(output, index.TRANSLATION, "some_task", content, {"torch": "1"}) as new:
        (new / "a.txt").write_text("one")
        (new / "inner" / "deep").mkdir(parents=True)
        (new / "inner" / "deep" / "b.bin").write_bytes(b"\0\1")
        (new / index.CARD).write_text("for people")
        content["late"] = 3
    return output


def changed(bundle: Path, **values) -> None:
    path = bundle / index.FILE_NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_what_was_written_is_opened(bundle) -> None:
    found = index.open_bundle(bundle)
    assert (found.kind, found.task, found.content) == (index.TRANSLATION, "some_task", {"late": 3})
    assert found.path("a.txt").read_text() == "one"
    assert found.inside("inner") == ["inner/deep/b.bin"]
    assert found.inside("elsewhere") == []
    assert found.versions["torch"] == "1"
    assert index.is_bundle(bundle)
    assert not index.is_bundle(bundle.parent)
    with pytest.raises(InputError, match="names no file 'c.txt'"):
        found.path("c.txt")


def test_a_failed_bundle_leaves_nothing(tmp_path) -> None:
    def fail() -> None:
        with index.new_bundle(tmp_path / "out", index.TRANSLATION, "t", {}, {}) as new:
            (new / "a").touch()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("make", [Path.touch, lambda p: (p.mkdir(), (p / "x").touch())])
def test_a_taken_place_is_refused(tmp_path, make) -> None:
    make(tmp_path / "out")
    with pytest.raises(InputError, match="is there already"):
        check_free(tmp_path / "out")


def test_cards_and_what_lies_beside_may_change(bundle) -> None:
    (bundle / index.CARD).write_text("completed")
    (bundle / "LICENSE").write_text("mine")
    index.open_bundle(bundle)


LONG = "a" * 300
DAMAGES = {
    "other bytes": (lambda b: (b / "a.txt").write_text("two"), "other bytes"),
    "another size": (lambda b: (b / "a.txt").write_text("three"), "has 5 bytes"),
    "a missing file": (lambda b: (b / "a.txt").unlink(), "is missing"),
    "a strange file inside": (lambda b: (b / "inner/x.py").touch(), "x.py in its folder"),
    "a hidden file inside": (lambda b: (b / "inner/deep/.x").touch(), r"\.x in its folder"),
    "a link inside": (lambda b: (b / "inner/x").symlink_to("/etc/passwd"), "x in its folder"),
    "no index": (lambda b: (b / index.FILE_NAME).unlink(), "no bundle"),
    "no JSON": (lambda b: (b / index.FILE_NAME).write_text("{"), "no index"),
    "a list": (lambda b: (b / index.FILE_NAME).write_text("[1]"), "no index"),
    "deep JSON": (lambda b: (b / index.FILE_NAME).write_text("[" * 10**5), "no index"),
    "another version": (lambda b: changed(b, format_version=2), "reads 'fairseq_plugins.bundle'"),
    "a task of lines": (lambda b: changed(b, task="a\nb"), "is no name"),
    "another kind": (lambda b: changed(b, kind="music"), "choices: understanding, translation"),
    "no content": (lambda b: changed(b, content=[1]), "'content' is"),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_bundle_is_refused(bundle, what) -> None:
    damage, message = DAMAGES[what]
    damage(bundle)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        index.open_bundle(bundle)


@pytest.mark.parametrize(
    "name",
    [
        "../a",
        "/etc/passwd",
        "a/../../b",
        ".hidden",
        "a//b",
        "",
        "a/.b",
        "a\n",
        "bundle.json",
        "a" * 300,
    ],
)
def test_names_lead_nowhere_else(bundle, name) -> None:
    changed(bundle, files={name: {"size": 0, "sha256": "0" * 64}})
    with pytest.raises(InputError, match="is no name of a file"):
        index.open_bundle(bundle)


@pytest.mark.parametrize(
    "entry", [None, {}, {"size": True, "sha256": "0" * 64}, {"size": 3, "sha256": "x"}]
)
def test_entries_say_size_and_hash(bundle, entry) -> None:
    changed(bundle, files={"a.txt": entry})
    with pytest.raises(InputError, match="no size and SHA-256"):
        index.open_bundle(bundle)


@pytest.mark.parametrize("place", ["a.txt", "inner", "inner/deep"])
def test_links_are_refused(bundle, tmp_path, place) -> None:
    (bundle / place).rename(tmp_path / "away")
    (bundle / place).symlink_to(tmp_path / "away")
    with pytest.raises(InputError, match="symbolic link"):
        index.open_bundle(bundle)

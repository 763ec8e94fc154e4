"""A release: its version is said alike everywhere, and nothing is built that would not be right.

A stand-in for Python builds; `.ci/run` builds and examines the real sdist and wheel.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import fairseq_plugins

ROOT = Path(fairseq_plugins.__file__).resolve().parents[1]
VERSION = fairseq_plugins.__version__
HEADING = re.compile(r"^## (\S+)", re.MULTILINE)
WHEEL = "fairseq_plugins-1.2.3-py3-none-any.whl"
TARGET = re.compile(r"\]\(([^)]+)\)")
PYTHON = f"""#!/usr/bin/env bash
# a Python whose build packs the package, and $STRAY beside it; pip reaches an index if $INDEX is 0
case "$*" in
    "-m build"*)
        [ -n "$SOURCE_DATE_EPOCH" ] || exit 9
        cd "${{@: -1}}" && touch ${{STRAY:-README.md}} && mkdir -p ../dist
        {sys.executable} -m zipfile -c ../dist/{WHEEL} fairseq_plugins ;;
    "-m twine"*) echo "twine says no"; exit "${{TWINE:-0}}" ;;
    "-m venv"*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/fairseq-plugins" ;;
    "-m pip install packaging") exit "${{INDEX:-0}}" ;;
    "-m pip install /"*) echo "no torch"; exit "${{PIP:-0}}" ;;
    *import\\ fairseq_plugins*) ;;
    "-c "*) {sys.executable} "$@" ;;
esac
"""


def test_the_version_is_said_alike_everywhere():
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == VERSION
    headings = HEADING.findall((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert [one for one in headings if one != "Unreleased"][0] == VERSION
    assert headings.index(VERSION) <= 1


@pytest.fixture(scope="module")
def metadata():
    """What setup.py says of the package."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setuptools.setup", lambda **given: found.update(given))
        runpy.run_path(str(ROOT / "setup.py"))
    return found


def test_metadata_follow_the_package(metadata):
    assert metadata["version"] == VERSION
    pythons = {f"3.{minor}" for minor in range(10, 14)}
    said = {one.rpartition(" ")[2] for one in metadata["classifiers"] if "Python :: 3." in one}
    assert said == pythons
    assert metadata["python_requires"] == ">=3.10,<3.14"
    for pattern in metadata["license_files"]:
        assert [*ROOT.glob(pattern)], pattern
    links = TARGET.findall(metadata["long_description"])
    assert [link for link in links if not link.startswith("https:")] == []
    assert "[CITATION.cff]" not in metadata["long_description"]


@pytest.fixture
def checkout(tmp_path):
    """A small project with the script, its version 1.2.3, and the stand-in as its Python."""
    for name, text in {
        "fairseq_plugins/__init__.py": '__version__ = "1.2.3"\n',
        "fairseq_plugins/page/card.txt": "a card\n",
        "README.md": "read\n",
        "LICENSE": "may\n",
        "CITATION.cff": "version: 1.2.3\n",
        "CHANGELOG.md": "# Changelog\n\n## 1.2.3 (2026-12-01)\n",
        ".gitignore": "/.venv/\n/notes.txt\n",
        ".venv/bin/python": PYTHON,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / ".venv/bin/python").chmod(0o755)
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "release.sh", tmp_path / "scripts")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def clone(checkout):
    """That project under git."""
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        git(checkout, *words)
    return checkout


def release(folder: Path, *words: str, **given: str) -> subprocess.CompletedProcess[str]:
    known = {key: value for key, value in os.environ.items() if key != "VENV"}
    return subprocess.run(
        ["bash", "scripts/release.sh", *words],
        cwd=folder,
        env={**known, **given},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_check_builds_tracked_files(clone):
    (clone / "notes.txt").write_text("mine\n")
    done = release(clone, "--check")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.endswith("the wheel holds the 2 files of the package\n")
    assert not (clone / "dist").exists()


def test_a_check_needs_no_git(checkout):
    (checkout / "fairseq_plugins" / "__pycache__").mkdir()
    (checkout / "fairseq_plugins" / "__pycache__" / "a.pyc").write_text("")
    done = release(checkout, "--check", GIT_CEILING_DIRECTORIES=str(checkout.parent))
    assert done.returncode == 0, done.stderr
    assert "the 2 files of the package" in done.stderr


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("CITATION.cff", "version: 1.2.2", "CITATION.cff: no line 'version: 1.2.3'"),
        ("CHANGELOG.md", "## 1.2.30", "CHANGELOG.md: no heading '## 1.2.3'"),
        ("fairseq_plugins/__init__.py", "", "no line '__version__ = \"…\"'"),
    ],
)
def test_versions_that_differ_are_named(clone, file, text, message):
    (clone / file).write_text(f"{text}\n")
    done = release(clone, "--check")
    assert done.returncode == 1
    assert message in done.stderr.splitlines()[-1]


def test_what_is_built_wrongly_is_named(clone):
    stray = release(clone, "--check", STRAY="fairseq_plugins/stray.txt")
    assert stray.returncode == 1
    assert "> fairseq_plugins/stray.txt" in stray.stderr
    refused = release(clone, "--check", TWINE="1")
    assert refused.returncode == 1
    assert "twine says no" in refused.stderr


def test_a_release_is_ready_for_its_upload(clone):
    (clone / "dist").mkdir()
    (clone / "dist" / "old.whl").write_text("")
    (clone / ".git" / "info" / "exclude").write_text("/dist/\n")
    done = release(clone)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (clone / "dist").iterdir()] == [WHEEL]
    assert "git tag -a v1.2.3" in done.stdout
    assert "no index" not in done.stderr
    assert "tried without its requirements" in release(clone, INDEX="1").stderr
    failed = release(clone, PIP="1")
    assert failed.returncode == 1
    assert "no torch" in failed.stderr


def test_only_a_clean_commit_without_a_tag_is_released(clone):
    git(clone, "tag", "v1.2.3")
    assert "the tag v1.2.3 is there already" in release(clone).stderr
    (clone / "README.md").write_text("changed\n")
    done = release(clone)
    assert done.returncode == 1
    assert "files differ from the last commit" in done.stderr
    assert release(clone, "--chek").returncode == 2


FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_issue_forms_ask_for_versions_and_the_manifest(form):
    said = yaml.safe_load(form.read_text(encoding="utf-8"))
    assert said["name"]
    assert said["description"]
    asked = {one["id"]: one["attributes"] for one in said["body"] if one["type"] != "markdown"}
    assert all(attributes["label"] for attributes in asked.values())
    assert "fairseq-plugins --version" in asked["versions"]["description"]
    assert "manifest.json" in form.read_text(encoding="utf-8")
    assert form.stem != "bug" or {"command", "error"} <= {*asked}


def test_hooks_download_nothing_and_their_files_are_there():
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repo["repo"] == "local"
    for hook in repo["hooks"]:
        assert hook["language"] == "system"
        program, *words = hook["entry"].split()
        assert program.startswith(".venv/bin/")
        assert all((ROOT / word).is_file() for word in words if "/" in word)

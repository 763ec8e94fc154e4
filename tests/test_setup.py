"""Set-up: what it says, what it refuses, and that its versions are those the package asks for.

A stand-in for Python answers its questions, so nothing is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import setuptools  # noqa: F401 (first: it brings distutils)
from packaging.requirements import Requirement

import fairseq_plugins
from fairseq_plugins.installation import FAIRSEQ_REQUIREMENT
from fairseq_plugins.lab.commands import command

ROOT = Path(fairseq_plugins.__file__).resolve().parents[1]
SCRIPT = (ROOT / "scripts" / "setup.sh").read_text(encoding="utf-8")
PYTHON = """#!/usr/bin/env bash
# a Python whose pip is chatty: $TORCH_THERE is the torch it has, $GPU_TORCH the Python that has one
# for GPUs, $FITS whether fairseq has a wheel for it, $REACHED whether indices answer, $PIP_STATUS
# what pip ends with, $BUILD_STATUS what building ends with
after() { local rest="${all##*"$1 "}"; echo "${rest%% *}"; }
hash() { sha256sum <"$1" | cut -c1-64; }
all="$*"
case "$all" in
    *"-m venv"*) mkdir -p "${@: -1}/bin"; cp "$0" "${@: -1}/bin/python" ;;
    *SOABI*torch.__version__*libc_ver*) echo "abi-$TORCH_THERE" ;;
    *libc_ver*) [ "$FITS" = yes ] ;;
    *urlopen*) [ "${REACHED:-yes}" = yes ] ;;
    *cuda.is_available*) [ "$GPU_TORCH" = "${0##*/}" ] ;;
    *"pip wheel --no-cache-dir"*)
        echo "$CPPFLAGS $RANDOM" >"$(after --wheel-dir)/built.whl"
        exit "${BUILD_STATUS:-0}" ;;
    *"pip hash"*) echo "$4:"; echo "--hash=sha256:$(hash "$4")" ;;
    *--find-links*--require-hashes*)
        built="$(after --find-links)"
        grep "^fairseq-.*:$(hash "$built/built.whl")$" "$built/requirements.txt" ;;
    *"import torch; print"*) echo "$TORCH_THERE" ;;
    *"import torch"*) [ -n "$TORCH_THERE" ] ;;
    *"import Cython"*) exit 1 ;;
    *"pip show"*) exit 1 ;;
    *"pip "*"install"*) echo "ERROR: fairseq requires torchaudio" >&2; exit "$PIP_STATUS" ;;
esac
"""


def set_up(
    folder: Path, torch: str = "", pip: int = 0, **given: str
) -> subprocess.CompletedProcess[str]:
    """Run the script on an environment whose Python is the stand-in."""
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(PYTHON)
    python.chmod(0o755)
    return run_script(folder, TORCH_THERE=torch, PIP_STATUS=str(pip), **given)


def run_script(folder: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the script on a folder, which also holds what is kept unless the caller says where."""
    known = {"VENV": str(folder), "FAIRSEQ_WHEEL": str(folder / "wheels"), **given}
    return subprocess.run(
        ["bash", str(ROOT / "scripts" / "setup.sh")],
        capture_output=True,
        text=True,
        env={**os.environ, **known},
    )


@pytest.fixture(scope="module")
def package() -> Any:
    """Return what setup.py says, as setuptools reads it."""
    from distutils.core import run_setup  # setuptools brings it where Python no longer does

    here = Path.cwd()
    os.chdir(ROOT)
    try:
        return run_setup("setup.py", stop_after="init")
    finally:
        os.chdir(here)


def test_set_up_says_one_line_a_step_and_keeps_what_pip_says(tmp_path):
    done = set_up(tmp_path)
    lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (0, "")
    assert len(lines) > 5
    assert all(line.startswith("[setup] ") for line in lines)
    assert lines[-1].startswith("[setup] ready")
    log = (tmp_path / "setup.log").read_text()
    assert log.count("ERROR: fairseq requires torchaudio") == 5  # one an installation
    assert f"== building {FAIRSEQ_REQUIREMENT}" in log


def test_each_step_that_downloads_much_says_how_much(tmp_path):
    lines = set_up(tmp_path).stderr.splitlines()
    steps = [line for line in lines if "] installing" in line]
    assert len(steps) == 5
    assert all(re.search(r"\d (GB|MB)", line) for line in steps)


def test_users_get_less_than_the_tests_need(tmp_path):
    for extras in ("none", "test"):
        assert set_up(tmp_path / extras, torch="2.13.0", EXTRAS=extras).returncode == 0
    locked = [(tmp_path / name / "requirements.txt").read_text() for name in ("none", "test")]
    kept = [[line for line in text.splitlines() if "==" in line] for text in locked]
    assert {*kept[0]} < {*kept[1]}
    for text, there in zip(locked, (False, True)):
        assert ("\npytest==" in text) == ("\ngradio==" in text) == there
        assert "\nspacy==" in text
        assert "\nfairseq-fixed==" not in text


def test_fairseq_is_built_once_for_each_torch(tmp_path):
    wheels = tmp_path / "wheels"
    for name, torch, built in (
        ("a", "2.13.0", True),
        ("b", "2.13.0", False),
        ("c", "2.14.0", True),
    ):
        done = set_up(tmp_path / name, torch, FAIRSEQ_WHEEL=str(wheels))
        assert done.returncode == 0
        assert (f"building {FAIRSEQ_REQUIREMENT}" in done.stderr) == built
        assert (f"taking the {FAIRSEQ_REQUIREMENT} that was built before" in done.stderr) != built
        assert "it is damaged" not in done.stderr
    names = {f"{FAIRSEQ_REQUIREMENT}-abi-2.13.0", f"{FAIRSEQ_REQUIREMENT}-abi-2.14.0"}
    assert {path.name for path in wheels.iterdir()} == names
    assert "-g0" in (next(wheels.iterdir()) / "built.whl").read_text()


@pytest.mark.parametrize("damaged", ["built.whl", "requirements.txt"])
def test_a_damaged_wheel_is_built_anew_and_one_line_says_so(tmp_path, damaged):
    wheels = tmp_path / "wheels"
    set_up(tmp_path / "a", "2.13.0", FAIRSEQ_WHEEL=str(wheels))
    (next(wheels.iterdir()) / damaged).write_text("")
    done = set_up(tmp_path / "b", "2.13.0", FAIRSEQ_WHEEL=str(wheels))
    assert done.returncode == 0
    assert done.stderr.count("it is damaged") == 1
    assert f"building {FAIRSEQ_REQUIREMENT}" in done.stderr
    assert "building" not in set_up(tmp_path / "c", "2.13.0", FAIRSEQ_WHEEL=str(wheels)).stderr


def test_a_build_that_fails_keeps_nothing(tmp_path):
    done = set_up(tmp_path, "2.13.0", BUILD_STATUS="3")
    assert done.returncode == 3
    assert f"this step failed: building {FAIRSEQ_REQUIREMENT}" in done.stderr
    assert [*(tmp_path / "wheels").iterdir()] == []


def test_fairseq_is_built_where_nothing_can_be_kept(tmp_path):
    done = set_up(tmp_path, "2.13.0", FAIRSEQ_WHEEL="/dev/null/wheels")
    assert done.returncode == 0
    assert f"kept in {tmp_path}" in done.stderr


def test_a_wheel_of_fairseq_is_taken_where_there_is_one(tmp_path):
    done = set_up(tmp_path, "2.13.0", FITS="yes")
    assert f"installing {FAIRSEQ_REQUIREMENT} (a wheel of 20 MB)" in done.stderr
    assert "building" not in done.stderr
    assert not (tmp_path / "wheels").exists()


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ({"FITS": "yes"}, "python3.12"),
        ({"FITS": "yes", "TORCH_INDEX": "https://example.org"}, "python3.12"),
        ({"FITS": "no"}, "python3.11"),
        ({"FITS": "yes", "PYTHON": "python3.11"}, "python3.11"),
        ({"FITS": "yes", "GPU_TORCH": "python3.11"}, "python3.11"),  # which is kept
        ({"FITS": "yes", "REACHED": "no"}, "python3.11"),
        ({"FITS": "yes", "REACHED": "no", "GPU": "yes"}, "python3.12"),
    ],
)
def test_python_3_12_is_taken_where_fairseq_has_a_wheel_and_torch_can_be_had(
    tmp_path, given, chosen
):
    if given.get("REACHED") == "no" and "GPU" not in given and shutil.which("nvidia-smi"):
        pytest.skip("this machine has a GPU")
    names = ["python3.11", "python3.12", *(["nvidia-smi"] if "GPU" in given else [])]
    for name in names:
        (tmp_path / name).write_text(PYTHON)
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = run_script(tmp_path / "env", **{"PIP_STATUS": "0", "PATH": path, **given})
    assert f"creating {tmp_path / 'env'} from {tmp_path / chosen}" in done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("name", ["EXTRAS", "LOCK"])
def test_an_unknown_choice_is_refused_with_the_choices(tmp_path, name):
    done = set_up(tmp_path, **{name: "other"})
    assert done.returncode == 1
    assert f"{name}=other: choices are " in done.stderr
    assert not (tmp_path / "setup.log").exists()


def test_torch_comes_from_the_index_that_is_given(tmp_path):
    done = set_up(tmp_path, TORCH_INDEX="https://example.org/whl")
    assert "installing torch==2.13.0 from https://example.org/whl (" in done.stderr
    assert "not compared with hashes" in done.stderr


def test_set_up_that_fails_shows_what_pip_said_and_which_step(tmp_path):
    done = set_up(tmp_path, pip=3)
    assert done.returncode == 3
    assert "ERROR: fairseq requires torchaudio" in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("[setup] error: this step failed: installing torch==")
    assert str(tmp_path / "setup.log") in last


@pytest.mark.parametrize("torch", ["2.6.0", "2.9.1+cu128"])
def test_an_environment_with_a_torch_that_runs_code_is_refused(tmp_path, torch):
    done = set_up(tmp_path, torch)
    assert done.returncode == 1
    assert f"the torch in {tmp_path} is {torch}" in done.stderr
    assert "CVE-2026-24747" in done.stderr
    assert "installing" not in done.stderr


@pytest.mark.parametrize("torch", ["2.10.0", "2.10.0a0+git1", "2.13.0+cpu", "3.0"])
def test_an_environment_with_a_newer_torch_is_kept(tmp_path, torch):
    done = set_up(tmp_path, torch)
    assert done.returncode == 0
    assert f"torch {torch} is there" in done.stderr
    assert "installing torch" not in done.stderr


def test_set_up_and_package_agree_on_versions(package):
    floor = re.search(r'^TORCH_FLOOR="(.*?)"', SCRIPT, re.M).group(1)
    assert f"torch>={floor}" in package.install_requires
    lowest, highest = re.search(r"\((3, \d+)\) <= .* <= \((3, \d+)\)", SCRIPT).groups()
    above = f"3.{int(highest[3:]) + 1}"
    assert set(str(package.python_requires).split(",")) == {f">=3.{lowest[3:]}", f"<{above}"}
    assert re.search(r'^FAIRSEQ="(.*)"$', SCRIPT, re.M).group(1) == FAIRSEQ_REQUIREMENT


def test_every_requirement_has_a_floor(package):
    asked = [*package.install_requires, *package.extras_require["test"]]
    assert len(asked) > 25
    floors = {"==", ">="}
    bare = [r for r in map(Requirement, asked) if not floors & {s.operator for s in r.specifier}]
    assert bare == []


def test_the_package_brings_a_command(package):
    assert package.entry_points["console_scripts"] == [
        "fairseq-plugins = fairseq_plugins.cli.main:main"
    ]


def test_what_experiments_call_lies_in_the_package():
    assert command("x") == [sys.executable, "-m", "fairseq_plugins", "x"]
    python = sorted(path.name for path in (ROOT / "scripts").glob("*.py"))
    assert python == ["halve_encoder.py", "mutate.py", "run_notebook.py"]  # for packs, for tests

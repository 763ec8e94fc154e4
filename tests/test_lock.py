"""requirements.lock holds what setup.py asks for, with hashes, and no torch."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
PYTHONS = ("3.10", "3.11", "3.12", "3.13")


@pytest.fixture(scope="module")
def asked():
    """What setup.py asks for: for users, bundles included, and for the tests."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setuptools.setup", lambda **given: found.update(given))
        runpy.run_path(str(ROOT / "setup.py"))
    extras = found["extras_require"]
    return [*found["install_requires"], *extras["serve"]], extras["test"]


@pytest.fixture(scope="module")
def locked():
    """Entries of the lock -> their lines of hashes."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        if line.startswith("    "):
            found[[*found][-1]].append(line)
        elif not line.startswith("#"):
            found[line] = []
    return found


def _for_python(locked, python):
    """Return name -> versions on Linux with a Python."""
    system = {"python_full_version": f"{python}.1", "python_version": python}
    system |= {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"}
    entries = [Requirement(entry.removesuffix(" \\")) for entry in locked]
    chosen = [one for one in entries if one.marker is None or one.marker.evaluate(system)]
    return {one.name: next(iter(one.specifier)).version for one in chosen}, len(chosen), system


@pytest.mark.parametrize("python", PYTHONS)
def test_every_requirement_has_one_version_that_fits(asked, locked, python):
    versions, entries, system = _for_python(locked, python)
    assert len(versions) == entries  # one version each
    for text in [*asked[0], *asked[1]]:
        one = Requirement(text)
        name = canonicalize_name(one.name)
        if name != "torch" and (one.marker is None or one.marker.evaluate(system)):
            assert one.specifier.contains(versions[name]), text


def test_what_users_install_stands_above_what_the_tests_add(asked):
    above, below = (ROOT / "requirements.lock").read_text().split("\n# below: ")
    names = [re.findall(r"^([a-z0-9-]+)==", part, re.MULTILINE) for part in (above, below)]
    assert not {*names[0]} & {*names[1]}
    users, tests = ({canonicalize_name(Requirement(one).name) for one in part} for part in asked)
    assert users - {"torch"} <= {*names[0]}
    assert tests - users <= {*names[1]}


def test_every_entry_has_hashes_and_none_is_of_torch(locked):
    for entry, hashes in locked.items():
        assert hashes, entry
        assert all(HASH.fullmatch(line) for line in hashes), entry
        assert not entry.startswith(("torch==", "triton", "nvidia-", "cuda-"))


def test_fairseq_is_locked_as_source_and_as_wheels(locked):
    (hashes,) = [lines for entry, lines in locked.items() if entry.startswith("fairseq-fixed==")]
    assert len(hashes) == 3  # of CPython 3.12 on Linux and on Windows


def test_what_set_up_installs_by_itself_is_locked(locked):
    text = (ROOT / "scripts" / "setup.sh").read_text()
    pins = re.findall(r'^(?:FAIRSEQ|BERT)="([^"]+)"', text, re.MULTILINE)
    assert len(pins) == 2
    assert {*pins} <= {entry.split(" ")[0] for entry in locked}

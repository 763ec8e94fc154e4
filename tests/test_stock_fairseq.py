"""fairseq 0.12.2 on newer Pythons: repaired for its own classes alone, once it is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fairseq_plugins import stock_fairseq

SOURCE = """
from dataclasses import dataclass, field
@dataclass
class Inner:
    size: int = 3
@dataclass
class Outer:
    inner: Inner = Inner()
    other: Inner = field(default=Inner(4))
"""
NEWER = sys.version_info >= (3, 11)  # which refuse such defaults


@pytest.fixture
def site(tmp_path) -> Path:
    """Return a folder of packages with a stand-in for fairseq, and another package like it."""
    for name in ("fairseq", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("")
        (tmp_path / name / "options.py").write_text(SOURCE)
    stock_fairseq.install(str(tmp_path))
    return tmp_path


def python(site: Path, code: str, watch: bool = True) -> subprocess.CompletedProcess[str]:
    """Run code with a folder of packages, whose ``.pth`` files are read if asked for."""
    start = "import site, sys; sys.path.insert(0, sys.argv[1])\n"
    start += "site.addsitedir(sys.argv[1])\n" if watch else ""
    call = [sys.executable, "-I", "-c", start + code, str(site)]
    return subprocess.run(call, capture_output=True, text=True, cwd=site)


def test_its_options_load_with_the_pth_file_and_not_without(site):
    code = "import fairseq.options as o; print(o.Outer().inner.size, o.Outer().other.size)"
    assert python(site, code).stdout == "3 4\n"
    assert (python(site, code, watch=False).returncode != 0) == NEWER


@pytest.mark.skipif(not NEWER, reason="Python 3.10 takes such defaults")
def test_classes_of_others_are_refused_as_before(site):
    done = python(site, "import fairseq.options, elsewhere.options")
    assert "elsewhere" in done.stderr
    assert "mutable default" in done.stderr


def test_nothing_is_changed_before_fairseq_is_imported_nor_on_python_3_10(site):
    code = """
import dataclasses, sys
before = dataclasses._get_field
found = [len([f for f in sys.meta_path if hasattr(f, "host")])]
import stock_fairseq; stock_fairseq.watch()
import elsewhere, json
found += [len([f for f in sys.meta_path if hasattr(f, "host")])]
found += [dataclasses._get_field is before]
import fairseq
found += [len([f for f in sys.meta_path if hasattr(f, "host")]), dataclasses._get_field is before]
print(*found)
"""
    expected = "1 1 True 0 False\n" if NEWER else "0 0 True 0 True\n"
    assert python(site, code).stdout == expected

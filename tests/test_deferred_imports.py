"""Modules that a start does without: what stands for them, for how long, and when nothing does."""

from __future__ import annotations

import importlib
import sys

import pytest

from fairseq_plugins import deferred_imports
from fairseq_plugins.deferred_imports import deferred, without_torch

NAMES = ("slow_package", "slow_package.parts")


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a function in one of its modules."""
    folder = tmp_path / NAMES[0]
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "parts.py").write_text("def add(one, *, other):\n    return one + other\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in NAMES:
        sys.modules.pop(name, None)


def test_functions_import_their_module_when_they_are_called(package) -> None:
    with deferred(*NAMES):
        from slow_package import parts
        from slow_package.parts import add
    assert not {*NAMES} & {*sys.modules}
    assert add(1, other=2) == parts.add(1, other=2) == 3
    assert {*NAMES} <= {*sys.modules}
    with pytest.raises(AttributeError, match="lacking"):
        parts.lacking()


def test_what_is_loaded_stays(package) -> None:
    real = importlib.import_module(NAMES[1])
    with deferred(*NAMES):
        assert importlib.import_module(NAMES[1]) is real
    assert sys.modules[NAMES[1]] is real


@pytest.mark.parametrize("others", [[], ["a component from elsewhere"]])
def test_torch_is_absent_unless_a_pipeline_may_need_it(monkeypatch, others) -> None:
    monkeypatch.setattr(deferred_imports, "entry_points", lambda group: others)
    with without_torch():
        assert sys.modules["torch"] is not None  # loaded before
    real = sys.modules["torch"]
    monkeypatch.delitem(sys.modules, "torch")
    with without_torch():
        assert ("torch" in sys.modules) != bool(others)  # None stands for it
    assert "torch" not in sys.modules
    monkeypatch.setitem(sys.modules, "torch", real)

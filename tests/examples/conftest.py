"""A project that holds scripts and examples, and nothing prepared."""

from __future__ import annotations

import pytest
from examples.example_commands import ROOT


@pytest.fixture
def project(tmp_path):
    """A project of its own, with the same scripts and examples."""
    for name in ("scripts", "examples", "fairseq_plugins"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path

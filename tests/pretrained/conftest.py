"""Fixtures of the tests on pretrained directories."""

from __future__ import annotations

from pathlib import Path

import pytest
from pretrained_directories import write_directory


@pytest.fixture
def directory(tmp_path) -> Path:
    return write_directory(tmp_path / "bert")

"""Runs that all tests of prediction share."""

from __future__ import annotations

import pytest
from inference.text_runs import make_runs


@pytest.fixture(scope="session")
def runs(tmp_path_factory):
    """Folder with a prepared folder and two runs of each kind; see `make_runs`."""
    return make_runs(tmp_path_factory.mktemp("runs"))

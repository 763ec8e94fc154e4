"""Switches and fixtures shared by all tests."""

from __future__ import annotations

import logging
import os

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")

pytest_plugins = ["preparation_fixtures"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--slow``."""
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip slow tests unless asked for; else files with slow tests come first.

    Files are what processes share among them: with a long one last, the others would wait for it.
    """
    if config.getoption("--slow"):
        slow_files = {item.path for item in items if "slow" in item.keywords}
        items.sort(key=lambda item: item.path not in slow_files)
        return
    skip = pytest.mark.skip(reason="slow: run with --slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(autouse=True)
def _quiet_root_logger():
    """Give every test the same root level: fairseq's commands change it for the whole process."""
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.WARNING)
    yield
    root.setLevel(level)


@pytest.fixture(scope="session")
def answer_runs(tmp_path_factory):
    """Folder with raw and prepared questions and two runs; see `answer_runs.make_runs`."""
    from answer_runs import make_runs

    return make_runs(tmp_path_factory.mktemp("answers"))

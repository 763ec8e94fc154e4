"""Switches and fixtures shared by all tests."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import hypothesis
import pytest
from tiers import TIERS, tier_of

os.environ.setdefault("OMP_NUM_THREADS", "1")

# a busy machine makes no test fail
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

pytest_plugins = ["costs", "preparation_fixtures"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--slow`` and ``--all``."""
    parser.addoption(
        "--slow", action="store_true", help="also run the tests marked slow: CI's tier"
    )
    parser.addoption("--all", action="store_true", help="run every test, those marked long as well")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of tiers that are not asked for; files with the dearest tests come first.

    Processes share files among them: with a long one last, the others would wait for it.
    """
    everything = config.getoption("--all")
    tiers = TIERS if everything else TIERS[: 1 + config.getoption("--slow")]
    left_out = [item for item in items if tier_of(item) not in tiers]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if tier_of(item) in tiers]
    dearest: dict[Path, int] = {}
    for item in items:
        dearest[item.path] = max(dearest.get(item.path, 0), TIERS.index(tier_of(item)))
    items.sort(key=lambda item: -dearest[item.path])


@pytest.fixture(autouse=True)
def _quiet_root_logger():
    """Give every test the same root logger: commands change it for the whole process."""
    root = logging.getLogger()
    level, before = root.level, root.handlers[:]
    root.setLevel(logging.WARNING)
    yield
    root.setLevel(level)
    for handler in {*root.handlers} - {*before}:  # which write to where this test wrote
        root.removeHandler(handler)


@pytest.fixture
def run_here(capsys):
    """Return what runs a subcommand in this process, as `commands.run` does in another."""
    from cli.commands import Outcome

    from fairseq_plugins.cli.main import main

    def call(name, *arguments, fails=False):
        try:
            code = main([*name.split(), *map(str, arguments)])
        except SystemExit as ended:  # by argparse
            code = ended.code
        found = capsys.readouterr()
        assert "Traceback" not in found.err
        assert bool(code) == fails, found.err
        return Outcome(code, found.out, found.err)

    return call


@pytest.fixture(scope="session")
def answer_runs(tmp_path_factory):
    """Folder with raw and prepared questions and two runs; see `answer_runs.make_runs`."""
    from answer_runs import make_runs

    return make_runs(tmp_path_factory.mktemp("answers"))

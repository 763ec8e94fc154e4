"""A plug-in of pytest: the CPU seconds of every test, and at the end the dearest of each tier."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from tiers import TIERS, tier_of

DEAREST = 10
_USER_TO_CHILDREN = slice(11, 15)  # of /proc/PID/stat, counted behind the command's name


def spent() -> float:
    """Return the CPU seconds of this process, of its ended children and of the fork server's."""
    return sum(os.times()[:4]) + _of_fork_server()


def _of_fork_server() -> float:
    forkserver = sys.modules.get("multiprocessing.forkserver")
    number = forkserver and forkserver._forkserver._forkserver_pid
    try:
        text = Path(f"/proc/{number}/stat").read_text()
    except OSError:  # no server yet, or a system without /proc
        return 0.0
    ticks = text.rpartition(")")[2].split()[_USER_TO_CHILDREN]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


class Costs:
    """Sum and list of the CPU seconds of the tests that ran, by tier."""

    def __init__(self) -> None:
        self.of_tier: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))

    def add(self, tier: str, test: str, seconds: float) -> None:
        """Add the seconds of one phase of a test."""
        self.of_tier[tier][test] += seconds

    def lines(self) -> Iterator[str]:
        """Yield what is printed: of each tier its sum and its dearest tests."""
        for tier in (name for name in TIERS if name in self.of_tier):
            costs = self.of_tier[tier]
            total = sum(costs.values())
            yield f"{tier}: {total:,.0f} CPU seconds, {len(costs):,} tests; the dearest:"
            dearest = sorted(costs, key=lambda test: -costs[test])[:DEAREST]
            yield from (f"{costs[test]:9.1f}  {test}" for test in dearest)


_COSTS = pytest.StashKey[Costs]()
_MARK = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    """Start with no costs."""
    config.stash[_COSTS] = Costs()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note the CPU seconds spent before a test."""
    item.stash[_MARK] = spent()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, object, object]:
    """Give the report of each phase its CPU seconds and its tier; xdist carries both."""
    report = yield
    now = spent()
    report.cpu, report.tier = now - item.stash[_MARK], tier_of(item)
    item.stash[_MARK] = now
    return report


class _Collector:
    """Adds up the reports that reach the process that prints."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.costs.add(report.tier, report.nodeid, report.cpu)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Collect reports where they are printed."""
    config = session.config
    config.pluginmanager.register(_Collector(config.stash[_COSTS]))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the costs of each tier; write all of them to ``COSTS`` where that is set."""
    costs = config.stash[_COSTS]
    for line in costs.lines():
        terminalreporter.write_line(line)
    if "COSTS" in os.environ:
        rows = [(s, tier, test) for tier, of in costs.of_tier.items() for test, s in of.items()]
        text = "".join(f"{s:.2f}\t{tier}\t{test}\n" for s, tier, test in sorted(rows, reverse=True))
        Path(os.environ["COSTS"]).write_text(text, encoding="utf-8")

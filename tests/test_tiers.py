"""Tiers and costs of tests: which are run, and what is printed of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import pytest_collection_modifyitems
from costs import DEAREST, Costs, spent
from tiers import TIERS, tier_of

TESTS = {"cheap": (), "start": ("slow",), "toy": ("long",), "both": ("slow", "long")}


def items() -> list[SimpleNamespace]:
    """Return a test of each kind of marks, each in a file of its own."""
    return [
        SimpleNamespace(name=name, get_closest_marker=marks.count, path=Path(f"test_{name}.py"))
        for name, marks in TESTS.items()
    ]


def asked(**switches: bool) -> tuple[list[str], list[str]]:
    """Return the names of the tests that run, in order, and of those that are left out."""
    chosen, left_out = items(), []
    hook = SimpleNamespace(pytest_deselected=lambda items: left_out.extend(items))
    options = {"--slow": False, "--all": False}
    options |= {f"--{name}": value for name, value in switches.items()}
    pytest_collection_modifyitems(SimpleNamespace(getoption=options.get, hook=hook), chosen)
    return [item.name for item in chosen], [item.name for item in left_out]


def test_a_test_of_two_marks_belongs_to_the_dearer_tier():
    assert [tier_of(item) for item in items()] == ["fast", "slow", "long", "long"]


def test_each_switch_adds_a_tier_and_dear_files_come_first():
    assert asked() == (["cheap"], ["start", "toy", "both"])
    assert asked(slow=True) == (["start", "cheap"], ["toy", "both"])
    assert asked(all=True) == (["toy", "both", "start", "cheap"], [])


def test_the_dearest_of_each_tier_are_printed_with_its_sum():
    costs = Costs()
    for number in range(DEAREST + 3):
        for seconds in (number, 0.5):  # two phases
            costs.add("slow", f"test_{number}", seconds)
    costs.add("fast", "test_cheap", 0.25)
    first, one, second, *dearest = costs.lines()
    assert first == "fast: 0 CPU seconds, 1 tests; the dearest:"
    assert one.split() == ["0.2", "test_cheap"]
    assert second == "slow: 84 CPU seconds, 13 tests; the dearest:"
    assert [line.split() for line in dearest] == [
        [f"{number}.5", f"test_{number}"] for number in range(DEAREST + 2, 2, -1)
    ]
    assert set(TIERS) > set(costs.of_tier)


def test_the_seconds_of_children_count():
    before = spent()
    work = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-I", "-S", "-c", work], check=True)
    assert spent() - before >= 0.25


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="a system without /proc")
def test_the_seconds_of_the_fork_server_count(monkeypatch):
    import costs

    server = SimpleNamespace(_forkserver=SimpleNamespace(_forkserver_pid=os.getpid()))
    monkeypatch.setitem(sys.modules, "multiprocessing.forkserver", server)
    children = sum(os.times()[2:4])
    assert costs._of_fork_server() == pytest.approx(children + sum(os.times()[:2]), abs=0.2)

"""The sweep over data fractions: killed, run again, and equal in what it gives every system."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli.commands import LONGEST_RUN, SCRIPTS, state_of

FRACTIONS = ("25", "100")
SYSTEMS = [(percent, system) for percent in FRACTIONS for system in ("baseline", "syntax")]
UPDATES = 6
WAIT = 0.2  # seconds


def start(folder, out, log):
    """Start the sweep in a process group of its own."""
    environment = {
        **os.environ,
        "VENV": str(Path(sys.executable).parents[1]),
        "FRACTIONS": " ".join(FRACTIONS),
        "UPDATES": str(UPDATES),
        "GENERATE": "--beam 1 --max-len-a 0 --max-len-b 8 --batch-size 40",
    }
    command = ["bash", str(SCRIPTS / "sweep_fractions.sh"), str(folder), str(out)]
    with open(log, "w", encoding="utf-8") as stream:
        return subprocess.Popen(
            [*command, "--num-workers", "0"],
            env=environment,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def kill_when(process, path):
    """Kill the whole group as soon as a file is there."""
    end = time.monotonic() + LONGEST_RUN
    while not path.exists():
        assert process.poll() is None, "the sweep ended early"
        assert time.monotonic() < end
        time.sleep(WAIT)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.slow
def test_killed_sweep_goes_on_and_treats_all_systems_alike(folder, tmp_path):
    out, log = tmp_path / "sweep", tmp_path / "log"
    first, second = (out / "25" / system for system in ("baseline", "syntax"))
    kill_when(start(folder, out, log), second / "generate.log")  # trained, not scored
    assert not (second / "score.json").exists()
    scored = (first / "score.json").stat().st_mtime_ns
    assert start(folder, out, log).wait(LONGEST_RUN) == 0, log.read_text(encoding="utf-8")
    text = log.read_text(encoding="utf-8")
    assert "25 % baseline: done before" in text
    assert (first / "score.json").stat().st_mtime_ns == scored
    for percent, system in SYSTEMS:
        state = state_of(out / percent / system / "checkpoint_last.pt")
        assert state["optimizer_history"][-1]["num_updates"] == UPDATES
        features = "none" if system == "baseline" else "pos,case,subword"
        assert state["cfg"]["model"]["features"] == features
        (scores,) = json.loads((out / percent / system / "score.json").read_text())["systems"]
        assert scores["sentences"] == 37
    table = (out / "table.md").read_text(encoding="utf-8")
    assert "| 25 % | 50 |" in table
    assert "| 100 % | 200 |" in table
    assert table in text
    assert (out / "curve.png").stat().st_size > 1000
    assert (out / "curve.svg").stat().st_size > 1000


def test_wrong_usage_is_explained(tmp_path):
    found = subprocess.run(
        ["bash", str(SCRIPTS / "sweep_fractions.sh"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 2
    assert "sweep_fractions.sh DATA_FOLDER OUTPUT_FOLDER" in found.stderr


@pytest.mark.slow
def test_sweep_does_not_go_on_under_other_settings(folder, tmp_path):
    (tmp_path / "settings").write_text("data=other", encoding="utf-8")
    assert start(folder, tmp_path, tmp_path / "log").wait(LONGEST_RUN) != 0
    assert "holds a sweep with other settings" in (tmp_path / "log").read_text(encoding="utf-8")
    assert not (tmp_path / FRACTIONS[0]).exists()

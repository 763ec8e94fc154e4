"""Running cells show how far they are: in lines of a log, or a line each in a terminal."""

from __future__ import annotations

import io
import logging

import pytest
from lab.fake_runs import make_runs
from lab.report_runs import write_log

from fairseq_plugins.lab.execution import progress as shown


@pytest.fixture
def runs(tmp_path):
    """Two runs under way, at three and at none of their six updates."""
    first, second, _ = make_runs(tmp_path, part="toy")
    for run in (first, second):
        run.folder.mkdir(parents=True)
    write_log(first.folder, [0.1], updates=3)
    return first, second


def test_a_log_says_of_each_run_how_far_it_is_and_what_is_left(runs, caplog):
    caplog.set_level(logging.INFO)
    told = shown.Progress(runs)  # whose lines come once a minute
    told.look(runs, [])
    told.close()
    assert not caplog.records
    told = shown.Progress(runs, every=0.0)
    first, second = runs
    told.look(runs, [])
    write_log(first.folder, [0.1], updates=5)
    told.look(runs, [])
    told.look([second], [first])
    told.close()
    a, b, c, d, e = (record.getMessage() for record in caplog.records)
    assert a == "toy/a/lr0.0001-epochs3/seed1: 3 of 6 updates"
    assert c == "toy/a/lr0.0001-epochs3/seed1: 5 of 6 updates, 1 min left"
    assert b == d == e == "toy/a/lr0.0001-epochs3/seed2: 0 of 6 updates"


def test_a_terminal_shows_a_line_a_run(runs, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen, real = Terminal(), shown.tqdm
    monkeypatch.setattr(
        shown, "tqdm", lambda **how: real(file=screen, mininterval=0, miniters=1, **how)
    )
    told = shown.Progress(runs)
    told.look(runs, [])
    told.look([], runs)
    told.close()
    text = screen.getvalue()
    assert "toy/a/lr0.0001-epochs3/seed1:  50%" in text
    assert "toy/a/lr0.0001-epochs3/seed2:   0%" in text
    assert "all runs: 100%" in text


def test_every_validation_of_a_single_run_is_shown_once(runs, caplog):
    caplog.set_level(logging.INFO)
    run, _ = runs
    told = shown.Progress([run])
    told.look([run], [])
    write_log(run.folder, [0.1, 0.4], updates=6, metric="mcc")
    told.look([run], [])
    told.look([], [run])
    told.close()
    assert [record.getMessage() for record in caplog.records] == [
        "update 6 of 6: mcc 0.4, loss 0.6"
    ]

"""One rule for every script: what a user can cause is one line on stderr, and exit status 1."""

from __future__ import annotations

import logging
import runpy
import sys

import pytest
from cli.commands import SCRIPTS

COMMANDS = [
    "average_checkpoints.py --inputs none.pt --output out.pt",
    "compare_predictions.py none none",
    "export_huggingface.py none out",
    "plot_attention.py x --checkpoints none --out out",
    "predict.py none --split valid",
    "prepare_text.py --dataset rte --raw-dir none --destdir out",
    "prepare_translation.py --source-lang en --target-lang de --trainpref none --destdir out",
    "report_seeds.py none",
    "run_experiment.py none",
    "score.py --sys none --ref none --lang de",
    "subset_data.py none out --fraction 0.5",
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0])
def test_refusals_are_one_line_and_status_one(command, tmp_path, monkeypatch, capfd) -> None:
    monkeypatch.chdir(tmp_path)
    for place, name in ((logging.root.manager, "disable"), (logging.getLogger("fairseq"), "level")):
        monkeypatch.setattr(place, name, getattr(place, name))  # scripts change them for good
    name, *arguments = command.split()
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(SCRIPTS / name), run_name="__main__")
    code = caught.value.code
    written = capfd.readouterr()
    if isinstance(code, str):  # what sys.exit prints at the end of a process, with status 1
        code, written = 1, written._replace(err=f"{written.err}{code}\n")
    lines = [line for line in written.err.splitlines() if line.startswith("error: ")]
    assert (code, len(lines), written.out) == (1, 1, "")
    assert "Traceback" not in written.err
    assert "none" in lines[0]
    assert not list(tmp_path.iterdir())


LENGTHS = {
    **dict.fromkeys(
        ["predict.py", "robustness.py", "plot_gates.py", "case_study.py", "plot_attention.py"],
        ["--max-positions", "--long-examples"],
    ),
    **dict.fromkeys(
        ["ask.py", "predict_squad.py", "plot_coattention.py"],
        ["--max-positions", "--max-query-length", "--doc-stride"],
    ),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_scripts_have_what_messages_about_long_texts_offer(name, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit):
        runpy.run_path(str(SCRIPTS / name), run_name="__main__")
    shown = capsys.readouterr().out
    assert all(f"{flag} " in shown for flag in LENGTHS[name])

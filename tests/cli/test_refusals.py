"""One rule for every script: what a user can cause is one line on stderr, and exit status 1."""

from __future__ import annotations

import logging
import sys

import pytest

from fairseq_plugins.cli.main import main

COMMANDS = [
    "average none.pt --output out.pt",
    "compare none none",
    "export none --output out",
    "plot attention none --sentence x --output out",
    "predict none --split valid",
    "prepare text --dataset rte --raw-dir none --destdir out",
    "prepare translation --source-lang en --target-lang de --trainpref none --destdir out",
    "results compare none",
    "run none",
    "score --sys none --ref none --lang de",
    "subset none --output out --fraction 0.5",
    "train-pipeline --train none --output none.udpipe --score",
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0])
def test_refusals_are_one_line_and_status_one(command, tmp_path, monkeypatch, capfd) -> None:
    monkeypatch.chdir(tmp_path)
    for place, name in ((logging.root.manager, "disable"), (logging.getLogger("fairseq"), "level")):
        monkeypatch.setattr(place, name, getattr(place, name))  # commands change them for good
    with pytest.raises(SystemExit) as caught:
        sys.exit(main(command.split()))
    code = caught.value.code
    written = capfd.readouterr()
    lines = [line for line in written.err.splitlines() if line.startswith("error: ")]
    assert (code, len(lines), written.out) == (1, 1, "")
    assert "Traceback" not in written.err
    assert "none" in lines[0]
    assert not list(tmp_path.iterdir())


LENGTHS = {
    **dict.fromkeys(
        ["predict", "robustness", "plot gates", "compare", "plot attention"],
        ["--max-positions", "--long-examples"],
    ),
    **dict.fromkeys(
        ["ask", "answer", "plot coattention"],
        ["--max-positions", "--max-query-length", "--doc-stride"],
    ),
}


@pytest.mark.parametrize("name", LENGTHS)
def test_subcommands_have_what_messages_about_long_texts_offer(name, capsys) -> None:
    with pytest.raises(SystemExit):
        main([*name.split(), "--help"])
    shown = capsys.readouterr().out
    assert all(f"{flag} " in shown for flag in LENGTHS[name])

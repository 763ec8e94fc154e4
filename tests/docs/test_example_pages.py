"""The pages of the examples: their commands are pasted as they stand, in miniature.

A block of bash runs in a project that holds scripts and examples; in the place of Python and of
`fairseq-plugins` stand programs that write down what they are asked. Our commands are then read by
their parsers, and every experiment is planned (`--dry-run`). That demos run to their ends is held
by tests/examples/test_demo_runs.py.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from for_each import for_each
from page_scripts import ROOT, blocks_of, script_of

from fairseq_plugins.cli.subcommands import find
from fairseq_plugins.lab.commands import parser_of

PAGES = sorted((ROOT / "examples").glob("*/README.md"))
MOST_NOT_RUN = 2  # blocks of all pages that need what no test has
SHIM = """#!/bin/bash
# writes down what it is asked: its name and its words, each with a NUL behind it, and a line's end
printf '%s\\0' {name} "$@" $'\\n' >>{log}
"""
OURS = ["-m", "fairseq_plugins"]
HERE = {  # what plans need of a machine, with what every machine has; "": a folder that there is
    "--raw": "",
    "--gpus-per-node": "0",
    "--executor": "local",
}


@pytest.fixture
def asked(tmp_path):
    """What runs a script in a project of its own, and returns what programs it asked for what."""
    for name in ("scripts", "examples", "fairseq_plugins"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    log = tmp_path / "asked.jsonl"
    for name in ("python", "fairseq-plugins"):
        path = tmp_path / "venv" / "bin" / name
        path.write_text(SHIM.format(log=log, name=name))
        path.chmod(0o755)

    def paste(script: str) -> list[list[str]]:
        log.write_text("")
        path = f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        (tmp_path / "page.sh").write_text(script)
        done = subprocess.run(
            ["bash", "page.sh"],
            cwd=tmp_path,
            env={"PATH": path, "VENV": str(tmp_path / "venv"), "RAW": "raw"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return [call.split("\0")[:-1] for call in log.read_text().split("\n\0")[:-1]]

    return paste


def commands_of(calls: list[list[str]]) -> list[list[str]]:
    """Return the words of our commands among what was asked."""
    ours = [words for name, *words in calls if name == "fairseq-plugins"]
    return ours + [words[2:] for name, *words in calls if name == "python" and words[:2] == OURS]


@for_each(PAGES)
def test_the_commands_of_an_example_are_ones_that_there_are(page, asked):
    calls = asked(script_of(page.read_text(encoding="utf-8")))
    commands = commands_of(calls)
    for words in commands:
        typed, _ = find(words)
        parser_of(" ".join(typed)).parse_args(words[len(typed) :])
    files = [words[0] for name, *words in calls if name == "python" and words[:1] != ["-m"]]
    assert commands or files
    assert all((ROOT / file).is_file() for file in files)


@pytest.mark.slow
@for_each(PAGES)
def test_the_experiments_of_an_example_are_planned(page, asked, run_here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    commands = commands_of(asked(script_of(page.read_text(encoding="utf-8"))))
    plans = {tuple(words[1:]) for words in commands if words[0] in ("run", "train")}
    for words in plans:
        given = [*words, "--dry-run"]
        for flag, here in HERE.items():
            for place in [place for place, word in enumerate(given) if word == flag]:
                given[place + 1] = here or str(tmp_path)
        run_here("run", *given)


def test_blocks_that_are_not_run_say_why_and_are_few():
    blocks = [one for page in PAGES for one in blocks_of(page.read_text(encoding="utf-8"))]
    skipped = [one for one in blocks if one.language == "bash" and not one.runs]
    assert len(skipped) <= MOST_NOT_RUN


def test_a_command_that_there_is_not_is_noticed(asked):
    calls = asked("RAW=/path/to/all bash examples/sla/run.sh cola rte --seeds 1 --cpu\n")
    runs = [words for words in commands_of(calls) if words[0] == "run"]
    assert [Path(words[1]).name for words in runs] == ["cola.yaml", "rte.yaml"]
    assert all(words[words.index("--raw") + 1] == "/path/to/all" for words in runs)
    (words,) = commands_of(asked("fairseq-plugins results table runs/cola --tset examples\n"))
    with pytest.raises(SystemExit):
        parser_of(" ".join(words[:2])).parse_args(words[2:])
    with pytest.raises(AssertionError, match="choices"):
        asked("bash examples/sla/run.sh nothing\n")

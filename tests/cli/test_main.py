"""The one command: what it prints without words, its overview, its help, what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import fairseq_plugins
from fairseq_plugins.cli import subcommands
from fairseq_plugins.cli.main import main, parser_for

ALL_HELP = """
import sys
for name in ("torch", "fairseq", "spacy", "pandas", "matplotlib", "fastapi", "uvicorn"):
    sys.modules[name] = None
from fairseq_plugins.cli import main, subcommands
for words in subcommands.subcommands():
    try:
        main.main([*words, "--help"])
    except SystemExit as end:
        assert end.code == 0, words
main.main(["--help"])
"""


def test_without_words_it_prints_the_user_dir(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out == f"{Path(fairseq_plugins.__file__).resolve().parent}\n"


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"fairseq-plugins {fairseq_plugins.__version__}\n"


def test_every_help_needs_no_heavy_library():
    done = subprocess.run([sys.executable, "-c", ALL_HELP], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for words, name in subcommands.subcommands().items():
        assert f"usage: fairseq-plugins {' '.join(words)} " in done.stdout
        assert f"  {' '.join(words)} " in done.stdout[done.stdout.rindex("\ndata:\n") :]
        assert done.stdout.count(subcommands.summary(name)) >= 2


def test_overview_has_a_sentence_for_each_subcommand(capsys):
    assert main(["--help"]) == 0
    parts = capsys.readouterr().out.split("\n\n")[2:]
    headings = [*subcommands.HEADINGS, subcommands.EXTRAS]
    assert [part.partition(":\n")[0] for part in parts] == headings
    lines = [line for part in parts for line in part.splitlines()[1:]]
    assert len(lines) == len(subcommands.subcommands()) > 25
    assert all(len(line.split()) > 5 for line in lines)


def test_a_group_lists_its_own(capsys):
    assert main(["prepare", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["prepare", "questions"],
        ["prepare", "text"],
        ["prepare", "translation"],
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scor"], "'scor': no such subcommand; did you mean score? choices: answer, "),
        (["train_pipelin"], "did you mean train-pipeline?"),
        (["xyzzy"], "'xyzzy': no such subcommand; choices: answer, "),
        (["prepare"], "prepare: of what? choices: questions, text, translation"),
        (["seeds", "runs/cola"], "seeds: this command is called `fairseq-plugins results compare`"),
        (["train-distributed", "2", "data"], "train-distributed: there is no such command any"),
        (["plot", "gate"], "plot 'gate': no such subcommand; did you mean gates? choices: "),
    ],
)
def test_an_unknown_word_is_refused_with_the_choices(words, message, capsys):
    assert main(words) == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert written.err.startswith("error: ")
    assert message in written.err


@pytest.mark.parametrize(
    ("given", "hint"),
    [("--outptu", "; did you mean --output? ("), ("--xyzzy", "--xyzzy (")],
    ids=["like one that there is", "like none"],
)
def test_an_unknown_option_is_one_line_with_those_that_it_is_like(capsys, given, hint):
    with pytest.raises(SystemExit) as end:
        main(["average", "a.pt", "--output", "b.pt", given])
    told = capsys.readouterr().err
    assert end.value.code == 2
    assert told.startswith(f"error: unrecognized arguments: {given}")
    assert hint in told
    assert told.count("\n") == 1


def test_arguments_that_do_not_go_together_name_the_help(capsys):
    with pytest.raises(SystemExit) as end:
        main(["average", __file__, "--last", "2", "--output", "b.pt"])
    assert end.value.code == 2
    assert "(fairseq-plugins average --help lists all options)\n" in capsys.readouterr().err


def test_completion_knows_subcommands_and_the_flags_of_the_one_that_is_typed():
    parser = parser_for(["plot", "gates", "--ou"])
    verbs = parser._subparsers._group_actions[0].choices
    nouns = verbs["plot"]._subparsers._group_actions[0].choices
    assert {*verbs} == {words[0] for words in subcommands.subcommands()}
    assert "--split" in nouns["gates"]._option_string_actions
    assert "--split" not in nouns["attention"]._option_string_actions


def test_the_shell_is_answered(tmp_path):
    line = "fairseq-plugins score --ref-"
    known = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    known |= {"_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "out"), "_ARGCOMPLETE_IFS": "\n"}
    subprocess.run(
        [sys.executable, "-m", "fairseq_plugins"], env={**os.environ, **known}, check=True
    )
    assert (tmp_path / "out").read_text().split() == ["--ref-tokenized"]

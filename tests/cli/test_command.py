"""How a script ends: exit status and one line on standard error, whatever went wrong."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path
from random import Random
from threading import Event

import pytest

from fairseq_plugins.cli import command, main, subcommands
from fairseq_plugins.errors import InputError
from fairseq_plugins.lab.commands import parser_of
from fairseq_plugins.lab.execution import experiment

ROOT = Path(__file__).parents[1]


def failing(error):
    def work():
        raise error

    return work


@pytest.mark.parametrize(("result", "status"), [(None, 0), (0, 0), (3, 3), ("text", 0)])
def test_status_is_the_number_that_the_work_returns(result, status, capsys) -> None:
    assert command.run(lambda: result) == status
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (InputError("a.txt, line 3: 'x' is no number"), "a.txt, line 3: 'x' is no number"),
        (FileNotFoundError("a.txt: no such file"), "a.txt: no such file"),
        (FileNotFoundError(errno.ENOENT, "No such file", "a.txt"), "a.txt: No such file"),
        (OSError(errno.ENOSPC, "No space left"), "there: No space left"),
    ],
)
def test_errors_of_the_input_are_one_line(error, line, capsys) -> None:
    assert command.run(failing(error), "there") == 1
    assert capsys.readouterr() == ("", f"error: {line}\n")


def test_interruption_says_what_the_script_wants_said(capsys) -> None:
    assert command.run(failing(KeyboardInterrupt()), stopped="stopped; go on") == 130
    assert capsys.readouterr() == ("", "stopped; go on\n")
    assert command.run(failing(KeyboardInterrupt())) == 130
    assert capsys.readouterr() == ("", "")


def test_mistakes_in_the_code_are_not_hidden() -> None:
    with pytest.raises(KeyError):
        command.run(failing(KeyError("x")))


def test_closed_pipe_is_quiet() -> None:
    code = (
        "import sys\nfrom fairseq_plugins.cli import command\n"
        "sys.exit(command.run(lambda: [print('x' * 1000) for _ in range(1000)]))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait() == 1
        assert process.stderr.read() == b""


def test_places_that_are_not_there_are_named(tmp_path) -> None:
    (tmp_path / "a=b,c:d").touch()  # a name may be anything
    odd, here = tmp_path / "a=b,c:d", tmp_path
    some = [odd, f"x={here}", f"{here}:{here}", f"x={here},{here}"]
    command.check_places(dict(enumerate([None, "", "-", [], ["-"], odd, some, "a,,b"])))
    for given in ("none", [odd, f"{here}:none"], "x=none", [f"x={here},none"]):
        with pytest.raises(FileNotFoundError, match="^none: no such file or folder$"):
            command.check_places({"path": here, "input": given})
    with pytest.raises(FileNotFoundError, match="^none: .* prepare makes prepared folders$"):
        command.check_places({"data": "none"})


def test_places_that_commands_read_are_arguments_of_theirs() -> None:
    for words, name in subcommands.subcommands().items():
        module = subcommands.load(name)
        known = {action.dest for action in main.make_parser(words, module)._actions}
        assert {*getattr(module, "READ", ())} <= known, name
    assert "sets" not in subcommands.load("robustness").READ  # dev.json:rte is none that is there


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_is_told_that_a_command_loads(terminal, monkeypatch, capsys) -> None:
    told = Event()
    monkeypatch.setattr(command, "SOON", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(command, "print", lambda *said, file, flush: told.set(), raising=False)
    with command.patience("fairseq-plugins predict"):
        assert told.wait(20.0 if terminal else 0.1) == terminal


def test_ensembles_of_folders_with_signs_in_their_names_are_there(tmp_path, monkeypatch) -> None:
    """Names of a sweep, such as lr=0.1; each alone, two joined, and with a title before them."""
    monkeypatch.chdir(tmp_path)
    signs, draw = ["=", ":", ",", "日本", "قلب", "😀", "a", "0.1"], Random(5)
    names = ["".join(draw.choices(signs, k=draw.randint(1, 5))) for _ in range(150)]
    for name in (folders := sorted({*names} - {"."})):
        (tmp_path / "runs" / name).mkdir(parents=True)
    for mark in ":,":
        plain = [f"runs/{name}" for name in folders if mark not in name]
        for one, other in zip(plain, plain[1:]):
            for given in (one, f"{one}{mark}{other}", f"title={one}{mark}{other}"):
                command.check_places({"checkpoint": given})
    for given in ("runs/lr=0.3", "runs/lr=0.3:x", "title=runs/lr=0.3,x"):
        with pytest.raises(FileNotFoundError, match=r"^runs/lr=0\.3: no such"):
            command.check_places({"checkpoint": given})


@pytest.mark.parametrize("name", ["run", "train"])
def test_raw_data_need_not_be_there_for_a_dry_run(name, monkeypatch) -> None:
    def selected(args):
        raise InputError("planned")

    monkeypatch.setattr(experiment, "selected", selected)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    module, typed = subcommands.load(name), ["a.yaml", "--raw", "none", "--dry-run"]
    assert "raw" not in module.READ
    with pytest.raises(FileNotFoundError, match="^none: no such file"):
        module.run(parser_of(name).parse_args(typed[:-1]))
    with pytest.raises(InputError, match="planned"):
        module.run(parser_of(name).parse_args(typed))

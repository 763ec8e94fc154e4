"""How a script ends: exit status and one line on standard error, whatever went wrong."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from fairseq_plugins.cli import command

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
        (ValueError("a.txt, line 3: 'x' is no number"), "a.txt, line 3: 'x' is no number"),
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

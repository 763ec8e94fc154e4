"""The shims: a program behind one gets what it was given, and ends as if nobody stood between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from cli import shims

SAY = """import json, os, sys
json.dump([sys.argv, os.getcwd(), dict(os.environ), sys.stdin.read(), sys.executable], sys.stdout)
print("to err", file=sys.stderr)
"""
WARM = "import sys; print('fairseq.tasks' in sys.modules)"  # in a fork of the server alone
WAIT = "import time; print('ready', flush=True); time.sleep(100)"


def call(*words, program="python", **more):
    """Call a program by its name, as a script does."""
    given = {"env": shims.variables(), "capture_output": True, "text": True, "check": False, **more}
    path = given["env"]["PATH"].split(os.pathsep)[0]
    return subprocess.run([os.path.join(path, program), *words], **given)


def start(*words, **more):
    """Start Python and wait for its first line."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([shims.python(), *words], env=shims.variables(), **pipes, **more)
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_program_has_the_words_folder_variables_and_streams_that_it_was_given(tmp_path):
    own = shims.variables(MINE="a\nb", PYTHONPATH=str(tmp_path))
    done = call("-c", SAY, "", "a  b", "ü\udcff", env=own, cwd=tmp_path, input="told\n")
    words, folder, variables, told, python = json.loads(done.stdout)
    assert words == ["-c", "", "a  b", "ü\udcff"]
    assert (folder, told, done.stderr) == (str(tmp_path), "told\n", "to err\n")
    assert {**variables, "PWD": ""} == {**own, "PWD": ""}  # sh adds its own
    assert python == shims.python()
    assert (done.returncode, call("-c", WARM).stdout) == (0, "True\n")


def test_what_a_library_sets_here_makes_no_program_start_cold(monkeypatch):
    monkeypatch.setenv("KMP_INIT_AT_FORK", "ours")  # as scikit-learn does when it is imported
    monkeypatch.setenv("PYTHONWARNINGS", "ignore:of a library")  # as fairseq does in training
    assert call("-c", WARM).stdout == "True\n"
    assert "ours" not in call("-c", SAY, input="").stdout


def test_code_is_found_as_python_finds_it(tmp_path):
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / "neighbour.py").write_text("WORD = 'here'\n")
    script = "import sys, neighbour; print(neighbour.WORD, sys.argv, __name__)\n"
    (tmp_path / "room" / "file.py").write_text(script)
    assert call("room/file.py", "x", cwd=tmp_path).stdout == (
        "here ['room/file.py', 'x'] __main__\n"
    )
    assert call("-", "y", cwd=tmp_path / "room", input=script).stdout == (
        "here ['-', 'y'] __main__\n"
    )
    user_dir = call("-m", "fairseq_plugins").stdout
    assert user_dir.endswith("/fairseq_plugins\n")
    assert user_dir == call(program="fairseq-plugins").stdout
    assert "usage: fairseq-train " in call("--help", program="fairseq-train").stdout
    done = call("-m", "fairseq_cli.score", "--help")
    assert "usage: score.py " in done.stdout
    assert "Warning" not in done.stderr
    logs = "import logging; print(logging.root.handlers); import fairseq_cli.train; "
    assert call("-c", f"{logs}print(len(logging.root.handlers))").stdout.split("\n")[:2] == [
        "[]",
        "1",
    ]
    told = call("-m", "fairseq_cli.generate", tmp_path, "--path", "none", "--task", "translation")
    assert "| none" not in told.stdout
    assert "none" in told.stderr


@pytest.mark.parametrize(
    ("words", "unbuffered", "order"), [((), "", "ba"), (("-u",), "", "ab"), ((), "1", "ab")]
)
def test_streams_are_buffered_as_pythons(words, unbuffered, order):
    code = "import sys; print('a', end=''); print('b', end='\\n', file=sys.stderr)"
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "capture_output": False}
    own = shims.variables(PYTHONUNBUFFERED=unbuffered)
    done = call(*words, "-c", code, env=own, **more)
    assert done.stdout.replace("\n", "") == order


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("raise SystemExit(7)", 7),
        ("1 / 0", 1),
        ("import os; os._exit(5)", 5),
        ("import os; os.kill(os.getpid(), 9)", -9),
        ("raise KeyboardInterrupt", -signal.SIGINT),
    ],
)
def test_how_a_program_ends_is_how_its_shim_ends(code, status):
    done = call("-c", code)
    assert done.returncode == status
    assert ("ZeroDivisionError" in done.stderr) == (code == "1 / 0")


def test_a_signal_is_handed_on(tmp_path):
    caught = f"import signal\nsignal.signal(signal.SIGTERM, lambda *_: exit(3))\n{WAIT}"
    for code, status in ((caught, 3), (WAIT, -signal.SIGTERM)):
        process = start("-c", code)
        process.terminate()
        process.communicate(timeout=20)
        assert process.returncode == status


def test_who_kills_a_shim_kills_the_program_and_who_kills_its_group_also_what_it_started():
    process = start("-c", WAIT)
    process.kill()
    process.communicate(timeout=20)  # the program has its streams open no longer
    assert process.returncode == -signal.SIGKILL
    code = f"import subprocess; subprocess.Popen(['sleep', '100']); {WAIT}"
    process = start("-c", code, preexec_fn=os.setpgrp)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=20)  # nor has its child


def test_a_file_handed_down_stays_open_as_long_as_the_program_runs():
    end, own = os.pipe()
    process = start("-c", f"import os; os.write({own}, b'x'); {WAIT}", pass_fds=(own,))
    os.close(own)
    assert os.read(end, 9) == b"x"
    os.set_blocking(end, False)
    with pytest.raises(BlockingIOError):
        os.read(end, 9)
    process.kill()
    process.communicate(timeout=20)
    os.set_blocking(end, True)
    assert os.read(end, 9) == b""
    os.close(end)


def test_what_a_fork_cannot_be_is_a_python_that_starts(tmp_path):
    assert call("-V").stdout == f"Python {sys.version.split()[0]}\n"
    assert call("-X", "dev", "-c", WARM).stdout == "False\n"
    assert call("-c", WARM, env=shims.variables(PYTHONHASHSEED="3")).stdout == "False\n"
    (tmp_path / "unknown.py").write_text(WARM)
    assert call("-m", "unknown", cwd=tmp_path).stdout == "False\n"

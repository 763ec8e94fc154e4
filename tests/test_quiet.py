"""Fairseq's commands say what concerns whoever trains: no stray warnings, errors as one line."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import pytest
from torch._utils import ExceptionWrapper
from torch.multiprocessing.spawn import ProcessRaisedException

from fairseq_plugins import quiet
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.nn.attention import check_heads
from fairseq_plugins.syntax.layers import parse_features

USER_DIR = Path(quiet.__file__).parent


def caught(work) -> Exception:
    try:
        work()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("work", "reason"),
    [
        (lambda: read_manifest(Path("/nowhere/at/all")), "/nowhere/at/all: no such folder"),
        (lambda: open("/nowhere/at/all"), "/nowhere/at/all: No such file or directory"),
        (lambda: parse_features("made_up"), "unknown layer 'made_up'"),
        (lambda: json.loads("{"), None),
        (lambda: int("x"), None),
        (lambda: check_heads(8, 3), None),
    ],
    ids=["folder", "file", "value", "library", "function", "wrong call"],
)
def test_an_error_of_the_input_follows_from_its_class(work, reason):
    error = caught(work)
    told = quiet.input_error(error)
    assert told is None if reason is None else told.startswith(reason)
    if not isinstance(error, OSError) or error.errno is None:
        text = "".join(traceback.format_exception(error))
        wrapped = f"\n\n-- Process 1 terminated with the error:\n{text}\n"
        assert quiet.input_error(ProcessRaisedException(wrapped, 1, 7)) == told
        loader = ExceptionWrapper((type(error), error, error.__traceback__), "in a worker")
        assert quiet.input_error(caught(loader.reraise)) == told


def test_only_the_listed_warnings_are_ignored(monkeypatch):
    monkeypatch.setattr(sys, "warnoptions", [])
    monkeypatch.delenv(quiet.VERBOSE, raising=False)
    message = "\nThe version_base parameter is not specified.\nmore"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        quiet.silence_warnings()
        for said in (message, f"the user's own: {message}"):
            warnings.warn(said, UserWarning, stacklevel=1)
    assert [str(one.message)[:8] for one in seen] == ["the user"]


@pytest.mark.parametrize("function", ["get_batch_iterator", "make_batches"])
def test_iterators_are_not_told_but_for_their_warnings(function):
    def told(level: int, **more: str) -> bool:
        facts = {"name": "fairseq.tasks.fairseq_task", "funcName": function, **more}
        return quiet._is_brief(logging.makeLogRecord({"levelno": level, "msg": "said", **facts}))

    assert not told(logging.INFO)
    assert told(logging.WARNING)
    assert told(logging.INFO, name="fairseq.data.iterators")
    assert told(logging.INFO, funcName="load_dataset")


def test_a_wish_of_the_user_is_kept(monkeypatch):
    monkeypatch.setattr(sys, "warnoptions", ["error"])
    with warnings.catch_warnings():
        before = list(warnings.filters)
        quiet.silence_warnings()
        assert list(warnings.filters) == before


@pytest.mark.parametrize(("value", "verbose"), [("", False), ("0", False), ("1", True)])
def test_all_is_said_on_request_alone(monkeypatch, value, verbose):
    monkeypatch.setattr(sys, "warnoptions", [])
    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setattr(quiet, "is_fairseq_running", lambda: True)
    monkeypatch.setenv(quiet.VERBOSE, value)
    log = logging.getLogger(quiet.LOGGERS[0])
    monkeypatch.setattr(log, "filters", [])
    with warnings.catch_warnings():
        before = list(warnings.filters)
        quiet.quieten_fairseq()
        assert (list(warnings.filters) == before) == verbose
    assert (sys.excepthook is sys.__excepthook__) == (log.filters == []) == verbose


def test_other_programs_keep_their_hook():
    code = (
        "import sys, warnings; before = sys.excepthook, list(warnings.filters)\n"
        "from fairseq_plugins import quiet; quiet.quieten_fairseq()\n"
        "assert before == (sys.excepthook, list(warnings.filters))\n"
        "import types; sys.modules['fairseq_cli.train'] = types.ModuleType('fairseq_cli.train')\n"
        "import logging; logging.root.setLevel(logging.DEBUG)\n"
        "hydra = logging.getLogger('hydra.core')\n"
        "assert hydra.isEnabledFor(logging.DEBUG)\n"
        "quiet.quieten_fairseq(); hook = sys.excepthook; quiet.quieten_fairseq()\n"
        "assert hook is sys.excepthook is not before[0]\n"
        "assert not hydra.isEnabledFor(logging.DEBUG) and hydra.isEnabledFor(logging.INFO)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def train(
    folder: str, arch: str = "syntax_transformer_tiny", **environment: str
) -> subprocess.CompletedProcess[str]:
    words = ["--task", "syntax_translation", "--arch", arch, "--cpu"]
    words += ["--user-dir", str(USER_DIR), "--max-tokens", "100"]
    command = [sys.executable, "-m", "fairseq_cli.train", folder, *words]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"}
    return subprocess.run(
        command, capture_output=True, text=True, env={**env, **environment}, timeout=300
    )


@pytest.mark.slow
def test_a_refused_folder_is_one_line(tmp_path):
    done = train(str(tmp_path / "nothing"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {tmp_path}/nothing: no such folder; ")
    assert done.stderr.count("\n") == 1
    assert "fairseq_cli.train | {" not in done.stdout


@pytest.mark.long
def test_a_mistyped_architecture_is_one_line(tmp_path):
    done = train(str(tmp_path / "nothing"), arch="sintax_transformer_tiny")
    assert done.returncode == 1
    assert done.stderr.startswith("error: --arch 'sintax_transformer_tiny': ")
    assert "syntax_transformer_tiny, " in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_everything_is_said_on_request(tmp_path):
    done = train(str(tmp_path / "nothing"), **{quiet.VERBOSE: "1"})
    assert "Traceback" in done.stderr
    assert "version_base" in done.stderr
    assert "fairseq_cli.train | {" in done.stdout

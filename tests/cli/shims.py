"""Python and the commands as programs that scripts may call, without the start of a Python.

A folder holds a `shim` for each, to be put first on PATH, or to be named as the environment. A shim
hands its arguments, folder, variables and open files to this process, which lets the server of
`commands` fork a child that is the program: in the shim's process group, and killed with it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import gc
import importlib
import json
import logging
import marshal
import multiprocessing
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType

from cli import commands, shim

PROGRAMS = (*commands.COMMANDS, "fairseq-plugins", "python", "python3")
SERVED = ("fairseq_plugins", "fairseq_cli", "submitit.core._submit")  # by python -m, and below
# Variables that may change how Python or a library starts, which is over when the server forks
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "OMP_", "MKL_", "KMP_", "ATEN_", "DNNL_", "ONEDNN_")
OURS = "fairseq_plugins.cli.main"
# fairseq sets the log up when it is imported, which these do before they do it themselves
LATE = {f"fairseq_cli.{name}" for name in ("generate", "interactive", "validate", "score")}
HEEDED = ("PYTHONPATH", "PYTHONUNBUFFERED")  # by the child


@dataclass(frozen=True)
class Request:
    """What a shim was given, in the order in which it sends it.

    Args:
        program: path of the shim.
        words: its arguments.
        folder: where it was called.
        variables: its environment.
        mask: of the files that it makes.
        group: its process group.
        ignored: signals that it has to ignore.
        numbers: of its open files.
    """

    program: str
    words: list[str]
    folder: str
    variables: dict[str, str]
    mask: int
    group: int
    ignored: list[int]
    numbers: list[int]

    @property
    def name(self) -> str:
        """What is called."""
        return os.path.basename(self.program)

    def is_served(self) -> bool:
        """Whether a fork of the server is as good as a process that starts."""
        if _at_start(self.variables) != STARTED_WITH:
            return False
        if not self.name.startswith("python"):
            return True
        first, *more = [*(self.words[1:] if self.words[:1] == ["-u"] else self.words), "--"]
        if first == "-m":
            return any(f"{more[0]}.".startswith(f"{name}.") for name in SERVED)
        return first in ("-c", "-") or not first.startswith("-")


def _at_start(variables: dict[str, str]) -> dict[str, str]:
    return {k: v for k, v in variables.items() if k.startswith(AT_START) and k not in HEEDED}


STARTED_WITH = _at_start(dict(os.environ))


@functools.cache
def environment() -> Path:
    """Return what looks like a virtual environment, whose programs are shims; start to serve."""
    folder = Path(tempfile.mkdtemp(prefix="shims-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    real = Path(sys.executable).parent
    (folder / "bin").mkdir()
    for path in real.iterdir():
        if path.name not in PROGRAMS:
            (folder / "bin" / path.name).symlink_to(path)
    words = f"'{sys.executable}' -IS '{shim.__file__}' '{folder}/door' '{real}' \"$0\" \"$@\""
    for name in PROGRAMS:
        (folder / "bin" / name).write_text(f"#!/bin/sh\nexec {words}\n")
        (folder / "bin" / name).chmod(0o755)
    door = socket.socket(socket.AF_UNIX)
    door.bind(f"{folder}/door")
    door.listen(64)
    threading.Thread(target=_listen, args=(door, _cold_path()), daemon=True).start()
    return folder


def variables(**more: str) -> dict[str, str]:
    """Return the environment of this process with the shims first on PATH, and more.

    What libraries have set here since the start is left out: with it no shim would be served.
    """
    path = f"{environment() / 'bin'}{os.pathsep}{os.environ['PATH']}"
    later = _at_start(dict(os.environ)).keys() - STARTED_WITH.keys()
    kept = {name: value for name, value in os.environ.items() if name not in later}
    return {**kept, **STARTED_WITH, "PATH": path, "VENV": str(environment()), **more}


def python() -> str:
    """Return the program that stands in for ``sys.executable``."""
    return str(environment() / "bin" / "python")


def run(command: str, *arguments: object, fails: bool = False) -> commands.Outcome:
    """Run a subcommand as `commands.run` does, where the Pythons that it starts are shims, too."""
    words = [str(environment() / "bin" / "fairseq-plugins"), *command.split(), *map(str, arguments)]
    done = subprocess.run(words, env=variables(), capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == fails, f"{words}\n{done.stdout[-3000:]}\n{done.stderr}"
    return commands.Outcome(done.returncode, done.stdout, done.stderr)


def _cold_path() -> list[str]:
    """Return where a Python looks for modules that is told of no folder."""
    words = [sys.executable, "-I", "-c", "import json, sys; print(json.dumps(sys.path))"]
    return json.loads(subprocess.check_output(words))


def _listen(door: socket.socket, places: list[str]) -> None:
    while True:
        talk, _ = door.accept()
        threading.Thread(target=_answer, args=(talk, places), daemon=True).start()


def _answer(talk: socket.socket, places: list[str]) -> None:
    """Let a child be what a shim asks for, and tell how it ended; both may go before the other."""
    with talk, contextlib.suppress(OSError):
        length, files, *_ = socket.recv_fds(talk, 4, 250)
        held = [connection.Connection(file) for file in files]
        with talk.makefile("rb") as stream:
            request = Request(*marshal.loads(stream.read(int.from_bytes(length, "big"))))
        status = shim.NOT_SERVED
        if request.is_served():
            process = commands.start(_be, request, held, places)
            status = _watch(process, talk, held)
        talk.sendall(status.to_bytes(4, "big", signed=True))


def _watch(process: BaseProcess, talk: socket.socket, held: Sequence[connection.Connection]) -> int:
    """Hand signals on to a shim's child, kill it where the shim was; return how it ended."""
    for one in held:
        one.close()
    while process.sentinel not in connection.wait([process.sentinel, talk]):
        try:
            told = talk.recv(64)
        except ConnectionError:
            told = b""
        for number in told or [signal.SIGKILL]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, number)
        if not told:
            break
    return commands.end(process)


def _be(request: Request, held: Sequence[connection.Connection], places: list[str]) -> None:
    """Be the program that a shim stands in for."""
    for one, number in zip(held, request.numbers):
        _place(one.fileno(), number)
    os.environ.clear()
    os.environ.update(request.variables)
    os.umask(request.mask)
    os.chdir(request.folder)
    try:
        os.setpgid(0, request.group)
    except PermissionError:  # in another session
        os.setpgid(0, 0)
    for number in request.ignored:
        signal.signal(number, signal.SIG_IGN)
    multiprocessing.set_start_method(None, force=True)  # a fork of the server has the server's
    gc.freeze()  # as in `commands`
    _renew(request)
    sys.executable = os.path.join(os.path.dirname(request.program), "python")
    try:
        _call(request, places)
    except KeyboardInterrupt:
        sys.excepthook(*sys.exc_info())
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except Exception:
        sys.excepthook(*sys.exc_info())
        sys.exit(1)
    finally:
        atexit._run_exitfuncs()


def _renew(request: Request) -> None:
    """Have streams as a Python that starts, and a log that nobody has set up."""
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    at_once = request.words[:1] == ["-u"] or bool(request.variables.get("PYTHONUNBUFFERED"))
    for stream in (sys.stdout, sys.stderr):  # the same objects, for loggers have them
        raw = open(stream.fileno(), "wb", 0 if at_once else -1, closefd=False)
        kind = {"line_buffering": stream is sys.stderr, "write_through": at_once}
        stream.__init__(raw, stream.encoding, stream.errors, **kind)
    logging.root.handlers.clear()
    logging.root.setLevel(logging.WARNING)
    for name in [name for name in sys.modules if name.startswith("fairseq_cli.")]:
        del sys.modules[name]  # imported again, they say again what is logged
    if LATE & {commands.COMMANDS.get(request.name), *request.words[:3]}:
        logging.basicConfig(level=logging.INFO)


def _place(file: int, number: int) -> None:
    """Give an open file its number, unless another has it that is not one of the first three."""
    try:
        fcntl.fcntl(number, fcntl.F_GETFD)
        taken = number > 2
    except OSError:
        taken = False
    if taken:
        os.set_inheritable(file, True)
    else:
        os.dup2(file, number)
        os.close(file)


def _call(request: Request, places: list[str]) -> None:
    """Call a command as its script does, or do what Python does with its arguments."""
    more = request.variables.get("PYTHONPATH")
    sys.path[:] = [
        os.path.dirname(request.program),
        *(more.split(os.pathsep) if more else ()),
        *places,
    ]
    sys.argv = [request.program, *request.words]
    main = sys.modules["__main__"] = ModuleType("__main__")
    if not request.name.startswith("python"):
        module = importlib.import_module(commands.COMMANDS.get(request.name, OURS))
        sys.exit(getattr(module, "cli_main" if request.name in commands.COMMANDS else "main")())
    if request.words[0] == "-u":
        del sys.argv[1]
    first = sys.argv[1]
    del sys.argv[: 2 if first == "-m" else 1]
    if first == "-m":
        sys.path[0] = request.folder
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    elif first in ("-c", "-"):
        sys.path[0] = ""
        code = sys.argv.pop(1) if first == "-c" else sys.stdin.read()
        exec(compile(code, "<string>" if first == "-c" else "<stdin>", "exec"), main.__dict__)
    else:
        sys.path[0] = os.path.dirname(os.path.realpath(first))
        runpy.run_path(first, run_name="__main__")

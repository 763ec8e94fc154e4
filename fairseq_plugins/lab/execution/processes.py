"""Commands of runs and steps as processes: one at a time, its output in a log, none left behind."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..safe_files import open_file, read_tail
from . import forks
from .run import RunError

_GRACE = 20.0  # seconds that a command has to end itself
_LINES = 8  # of a failed command's log that are shown
_TAIL = 100_000  # bytes that hold them


class Commands:
    """Starts commands, one at a time, and leaves none behind.

    Args:
        environment: variables in addition to this process's own; None takes one away.
        keep: an open file that the commands keep open as well.
    """

    def __init__(self, environment: Mapping[str, str | None], keep: int | None = None) -> None:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        found = {**os.environ, "PATH": path, **environment}
        self._environment = {name: value for name, value in found.items() if value is not None}
        self.keep = keep

    def launch(self, command: Sequence[str], log: Path) -> None:
        """Run a command, its output added to ``log``.

        Raises:
            RunError: it failed; with the end of its output.
        """
        with open_file(log, "ab") as output:
            if read_tail(log, 1) not in ("", "\n"):  # broken off
                output.write(b"\n")
                output.flush()
            start = output.tell()
            process = self._start(command, output.fileno())
        try:
            status = process.wait()
        finally:
            _end(process)
        if status:
            lines = [f"exit status {status}; the end of {log}:", *last_lines(log, start)]
            raise RunError("\n  ".join(lines))

    def _start(self, command: Sequence[str], output: int) -> subprocess.Popen | forks.Fork:
        if forks.can_be(command):  # a fork keeps all files open
            return forks.Fork(command, output, self._environment)
        return subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env=self._environment,
            pass_fds=() if self.keep is None else (self.keep,),
        )


def last_lines(log: Path, start: int = 0) -> list[str]:
    """Return the last lines of a log that are not empty.

    Args:
        log: a text file, which may not be there.
        start: byte at which to begin.
    """
    lines = [line.rstrip() for line in read_tail(log, _TAIL, start).splitlines() if line.strip()]
    return lines[-_LINES:]


def _end(process: subprocess.Popen | forks.Fork) -> None:
    """End a command that still runs."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()

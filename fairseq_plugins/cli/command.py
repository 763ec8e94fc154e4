"""The end of a command: its exit status, and one line about an error.

Errors of input are `InputError` and the system's errors of files (`OSError`); they become
``error: ...`` on standard error and exit status 1. An interrupt gives 130, a closed output pipe no
message. Any other exception is a mistake in the code and keeps its traceback.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Timer
from typing import Any, TextIO

from ..errors import InputError
from ..messages import plain, plain_record

FAILED, INTERRUPTED = 1, 130
SOON = 1.0  # seconds
TIMED = "%(asctime)s | %(message)s"  # form of a log


class UsageError(InputError):
    """Arguments that contradict each other: shows the usage, with exit status 2."""


def run(work: Callable[[], object], place: object = "", *, stopped: str = "") -> int:
    """Do a command's work and return its exit status.

    Args:
        work: may return a number as exit status; anything else is success.
        place: file or folder for system errors that name none.
        stopped: message after an interrupt.
    """
    try:
        status = work()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (OSError, InputError) as error:
        reason = explain(error, place) if isinstance(error, OSError) else error
        complain(reason)
        return FAILED
    except KeyboardInterrupt:
        if stopped:
            print(stopped, file=sys.stderr)
        return INTERRUPTED
    return status if isinstance(status, int) else 0


def complain(reason: object, *, breaks: bool = False) -> None:
    """Print an error; see `messages.plain`."""
    print(f"error: {plain(reason, breaks=breaks)}", file=sys.stderr)


def check_places(given: Mapping[str, object]) -> None:
    """Refuse missing files and folders, before any heavy import.

    Args:
        given: name of an argument -> its value: a path, ``NAME=PATH``, several paths joined by
            ``:`` or ``,``, ``-`` for standard input, nothing, or a list of these.
    """
    for name, value in given.items():
        hint = "; fairseq-plugins prepare makes prepared folders" if name == "data" else ""
        for text in value if isinstance(value, (list, tuple)) else [value]:
            if lacking := _lacking(str(text or "-")):
                raise FileNotFoundError(f"{lacking}: no such file or folder{hint}")


def _lacking(text: str) -> str:
    # a name may hold any of these signs: one existing reading is enough
    name, _, bare = text.partition("=")
    ways = [way for one in (text, bare) for way in ([one], one.split(":"), one.split(","))]
    ways.append(re.split("[:,]", bare if bare and "/" not in name else text))
    lacking = [[part for part in way if part != "-" and not os.path.lexists(part)] for way in ways]
    return lacking[-1][0] if all(lacking) and all(ways[-1]) else ""  # "a,": refused elsewhere


def check_text_file(flag: str, path: str | None) -> None:
    """Refuse a text in place of the file that holds the text; the error gives advice."""
    if path and not os.path.lexists(path):
        raise FileNotFoundError(
            f"{flag} {path[:80]!r}: no such file; write the text into a file, and give its name"
        )


def check_least(given: Any, **least: int) -> None:
    """Refuse numbers that are too small; UsageError names the flag."""
    for name, value in ((name, getattr(given, name)) for name in least):
        if value is not None and value < least[name]:
            raise UsageError(f"--{name} {value}: must be at least {least[name]}")


@contextmanager
def patience(program: str) -> Iterator[None]:
    """Say on a terminal, after a second, that a command is loading its libraries."""
    said = f"{program}: loading libraries …"
    timer = Timer(SOON, print, [said], {"file": sys.stderr, "flush": True})
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def show_log(
    level: str = "WARNING", form: str = "%(message)s", stream: TextIO | None = None
) -> None:
    """Show the log on standard error or another stream, fairseq's own from warnings on.

    Call after all imports: fairseq turns on all messages when imported.
    """
    import logging

    logging.basicConfig(level=level, format=form, stream=stream, force=True)
    logging.getLogger("fairseq").setLevel(logging.WARNING)
    for handler in logging.getLogger().handlers:
        handler.addFilter(plain_record)


def explain(error: OSError, place: object) -> str:
    """Return a system error as one line; ``place`` is for errors without a name."""
    return f"{error.filename or place}: {error.strerror}" if error.strerror else str(error)

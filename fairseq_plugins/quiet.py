"""Silences part of the output of fairseq's commands.

`SILENCED` lists each silenced warning: how fairseq calls hydra and torch, which nobody who trains
can change. The configuration and the model's layout, hundreds of lines, go to ``--log-file`` alone;
hydra's debug messages, and four lines about iterators for every epoch and sentence, are left out.
An error of the input ends in one line. With ``FAIRSEQ_PLUGINS_VERBOSE=1`` everything is printed.
Messages of fairseq before it reads ``--user-dir`` (tensorboardX is missing) cannot be silenced.
"""

import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from .errors import InputError
from .messages import plain, plain_record

PACKAGE = __name__.partition(".")[0]
VERBOSE = "FAIRSEQ_PLUGINS_VERBOSE"
SILENCED = (  # beginning of the message, category
    (r"hydra\.experimental\.\w+\(\) is no longer experimental", UserWarning),
    (r"\s*The version_base parameter is not specified", UserWarning),
    (r"In 'config': Usage of deprecated keyword in package header", UserWarning),
    (r"\s*'config' is validated against ConfigStore schema", UserWarning),
    (r"\s*The strict flag in the compose API is deprecated", UserWarning),
    (r"'pin_memory' argument is set as true but no accelerator", UserWarning),
    (r"`torch\.cuda\.amp\.\w+\(args\.\.\.\)` is deprecated", FutureWarning),
    (r"Support for mismatched key_padding_mask and attn_mask", UserWarning),
)
LOGGERS = ("fairseq.tasks.fairseq_task", "fairseq_cli.validate")  # these get new handlers later
ITERATORS = ("get_batch_iterator", "make_batches")  # functions that log about iterators


def is_verbose() -> bool:
    """Whether nothing is silenced."""
    return os.environ.get(VERBOSE, "") not in ("", "0")


def silence_warnings() -> None:
    """Ignore the warnings of `SILENCED`, unless Python has options for warnings."""
    if is_verbose() or sys.warnoptions:
        return
    for message, category in SILENCED:
        warnings.filterwarnings("ignore", message, category)


def quieten_fairseq() -> None:
    """Silence one of fairseq's commands; do nothing in other programs."""
    if is_verbose() or not is_fairseq_running():
        return
    silence_warnings()
    logging.getLogger("hydra").setLevel(logging.INFO)  # fairseq turns on debug messages everywhere
    for one in (*logging.getLogger().handlers, *map(logging.getLogger, LOGGERS)):
        for kind in (_is_brief, plain_record):
            if kind not in one.filters:
                one.addFilter(kind)
    if getattr(sys.excepthook, "__name__", "") != _hook.__name__:
        sys.excepthook = _hook(sys.excepthook)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep the log of a Python program as it is: an import of fairseq turns on all messages."""
    root = logging.getLogger()
    own = [] if root.handlers else [logging.StreamHandler()]  # where one is, fairseq adds none
    root.handlers += own
    silence_warnings()
    try:
        yield
    finally:
        root.handlers = [one for one in root.handlers if one not in own]


def is_fairseq_running() -> bool:
    """Whether this program is one of fairseq's commands."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    names = [*sys.modules, getattr(main, "name", "")]
    return any(name.startswith("fairseq_cli.") for name in names)


def _is_brief(record: logging.LogRecord) -> bool:
    """Whether a record is neither fairseq's dump of a configuration or model, nor on iterators."""
    dumped = type(record.msg).__name__ == "DictConfig" or hasattr(record.msg, "named_parameters")
    if record.name == "fairseq.tasks.fairseq_task" and record.funcName in ITERATORS:
        return record.levelno > logging.INFO
    return not (dumped and record.name.startswith("fairseq_cli."))


TRACEBACK = "Traceback (most recent call last):\n"
# End of an input error's traceback, in a process that torch spawned or of a data loader
IN_A_PROCESS = re.compile(
    r"^(?:[\w.]+\.)?(?:InputError|Refused|FileNotFoundError): ([^\n]+)\s*\Z", re.MULTILINE
)


def input_error(error: BaseException) -> str | None:
    """Return the reason of an input error, of this process or a child; None for other errors.

    An input error is an `InputError`, or an `OSError` that names its file: with the system's
    number, or, without a number, in its sentence.
    """
    if TRACEBACK in str(error):
        found = IN_A_PROCESS.search(str(error))
        return found[1] if found else None
    if isinstance(error, OSError) and error.errno is not None:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else None
    return str(error) if isinstance(error, (InputError, OSError)) else None


Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


def _hook(before: Hook) -> Hook:
    """Return an exception hook: one line for errors of the input."""

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if (reason := input_error(error)) is None:
            before(kind, error, trace)
            return
        print(f"error: {plain(reason)} ({VERBOSE}=1 shows where)", file=sys.stderr)

    hook.__name__ = _hook.__name__
    return hook

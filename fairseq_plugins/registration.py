"""Registers every task, architecture, criterion, optimiser and schedule with fairseq, once.

Whoever imports a registered room (`tasks`, `models`, `criterions`, `optim`) gets all of them:
fairseq imports ``tasks/`` and ``models/`` of a ``--user-dir`` by itself, our commands and
`from_pretrained` import them before fairseq does. Importing the package alone registers nothing
and loads neither torch nor fairseq.
"""

import importlib
import importlib.util
import logging
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager

from .installation import FAIRSEQ_MISSING
from .quiet import quieten_fairseq

ROOMS = ("criterions", "models", "optim", "tasks")

_done = False


def register() -> None:
    """Register everything with fairseq; a second call does nothing.

    Raises:
        ModuleNotFoundError: fairseq is not installed; says how to install it.
    """
    global _done
    if _done:
        return
    if importlib.util.find_spec("fairseq") is None:
        raise ModuleNotFoundError(FAIRSEQ_MISSING, name="fairseq")
    quieten_fairseq()
    _done = True  # the rooms call this function as well, while they are imported
    try:
        # torch is to load fairseq's options, a Namespace, with ``weights_only=True``
        importlib.import_module("torch").serialization.add_safe_globals([Namespace])
        with _logging_unchanged():
            for room in ROOMS:
                importlib.import_module(f"{__package__}.{room}")
    except BaseException:
        _done = False
        raise


@contextmanager
def _logging_unchanged() -> Iterator[None]:
    """Undo what importing fairseq does to logging: it turns on debug messages everywhere."""
    root = logging.getLogger()
    level, handlers, disabled = root.level, root.handlers[:], root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(disabled)
        root.setLevel(level)
        root.handlers[:] = handlers

"""What a training says of itself, shown while it goes on: every validation, and how far it is."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..results.training_log import Validation, speed, updates_so_far, validations

_LOOK, _EVERY = 1.0, 30.0  # seconds between looks at the log, and between words on progress


@contextmanager
def followed(
    log: Path,
    show: Callable[[Validation], None],
    tell: Callable[[int, float], None],
    *,
    look: float = _LOOK,
    every: float = _EVERY,
) -> Iterator:
    """Show the validations of a log while the body runs, each once, the last ones at its end.

    Args:
        log: of the training; it may not be there yet. What it holds already is not shown again.
        show: is called with each.
        tell: is called between them, where the training went on, with updates and updates a second.
        look, every: seconds between looks, and at least between calls of ``tell``.
    """
    seen, ended = {found.updates for found in _validations(log)}, threading.Event()
    told = [_updates(log), time.monotonic()]  # up to where, and when

    def show_new() -> None:
        for found in _validations(log):
            if found.updates not in seen:
                seen.add(found.updates)
                show(found)

    def follow() -> None:
        while not ended.wait(look):
            show_new()
            if time.monotonic() - told[1] < every:
                continue
            updates, rate = _updates(log), speed(log)
            if updates > told[0] and rate:
                tell(updates, rate)
            told[:] = updates, time.monotonic()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        show_new()


def _updates(log: Path) -> int:
    return updates_so_far(log) if log.is_file() else 0


def _validations(log: Path) -> list[Validation]:
    """Return those there are so far; a line that is being written is for the next look."""
    with suppress(FileNotFoundError, ValueError):
        return validations(log)
    return []

"""What a training says of itself, shown while it goes on: every validation, a line."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..results.training_log import Validation, validations

_LOOK = 1.0  # seconds between looks at the log


@contextmanager
def followed(log: Path, show: Callable[[Validation], None], *, look: float = _LOOK) -> Iterator:
    """Show the validations of a log while the body runs, each once, the last ones at its end.

    Args:
        log: of the training; it may not be there yet. What it holds already is not shown again.
        show: is called with each.
        look: seconds between looks.
    """
    seen, ended = {found.updates for found in _validations(log)}, threading.Event()

    def show_new() -> None:
        for found in _validations(log):
            if found.updates not in seen:
                seen.add(found.updates)
                show(found)

    def follow() -> None:
        while not ended.wait(look):
            show_new()

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        show_new()


def _validations(log: Path) -> list[Validation]:
    """Return those there are so far; a line that is being written is for the next look."""
    with suppress(FileNotFoundError, ValueError):
        return validations(log)
    return []

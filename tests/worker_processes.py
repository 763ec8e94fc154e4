"""Processes that fairseq's iterators start and leave behind."""

import multiprocessing
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from fairseq.data.iterators import BackgroundConsumer


@contextmanager
def none_is_left() -> Iterator[None]:
    """Fail if processes of a block outlive the threads that read ahead in it."""
    threads, before = threading.enumerate(), multiprocessing.active_children()
    yield
    for one in threading.enumerate():
        if isinstance(one, BackgroundConsumer) and one not in threads:
            one.join(timeout=60)
    assert [one for one in multiprocessing.active_children() if one not in before] == []

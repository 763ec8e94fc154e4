"""Batches of concurrent requests: a bounded queue, emptied by a few threads.

A free thread takes a batch of items that wait for one model: a single request is answered at once,
and the next batch gathers while all threads are busy. Models take turns. A failing batch is
repeated in halves, so that only the failing items fail.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# answers items in order; an exception in place of an answer concerns only that item
Answer = Callable[[Sequence[Any]], Sequence[Any]]


class Full(RuntimeError):
    """The queue has no room for the items."""


class Closed(RuntimeError):
    """The batcher takes no more items."""


@dataclass(eq=False)
class _Request:
    """Items of one request, answered together."""

    answers: list[Any]
    missing: int
    future: Future[list[Any]] = field(default_factory=Future)
    settled: bool = False  # the first error or the last answer has arrived


class _Waiting(NamedTuple):
    """An item in the queue: its request, its place there, its weight."""

    request: _Request
    place: int
    item: Any
    weight: int


class Batcher:
    """Answer items of several models in batches, by shared threads.

    Args:
        models: name -> function that answers its items; thread-safe.
        workers: number of threads.
        most: items of a batch.
        heaviest: weight of a batch; a heavier item is a batch alone.
        room: items that may wait for a model.
        told: called with name and size of every batch, from any thread.

    Attributes:
        waiting, running: numbers of waiting and running items.
    """

    def __init__(
        self,
        models: Mapping[str, Answer],
        *,
        workers: int = 1,
        most: int = 32,
        heaviest: int = 1 << 60,
        room: int = 1024,
        told: Callable[[str, int], None] = lambda name, count: None,
    ) -> None:
        self.models, self.told = dict(models), told
        self.most, self.heaviest, self.room = most, heaviest, room
        self.waiting = self.running = 0
        self._queues: dict[str, deque[_Waiting]] = {name: deque() for name in models}
        self._turns: deque[str] = deque()  # models with waiting items
        self._changed, self._closing = threading.Condition(), False
        names = [f"model-{number}" for number in range(workers)]
        self._threads = [threading.Thread(target=self._work, name=n, daemon=True) for n in names]
        for thread in self._threads:
            thread.start()

    def submit(
        self, name: str, items: Sequence[Any], weights: Sequence[int] | None = None
    ) -> Future[list[Any]]:
        """Put items into the queue.

        Args:
            items: at least one.
            weights: of each item, in the unit of ``heaviest`` (default: 0).

        Returns:
            The answers, in order, or the first error. Cancelling drops the items that no thread has
            taken.
        """
        request = _Request([None] * len(items), len(items))
        weighed = zip(items, weights or [0] * len(items), strict=True)
        rows = [_Waiting(request, i, *one) for i, one in enumerate(weighed)]
        with self._changed:
            if self._closing:
                raise Closed("the service is ending")
            if len(self._queues[name]) + len(items) > self.room:
                self._forget()
            if (held := len(self._queues[name])) + len(items) > self.room:
                raise Full(f"{held} of at most {self.room} wait already")
            self._queues[name].extend(rows)
            self.waiting += len(items)
            if name not in self._turns:
                self._turns.append(name)
            self._changed.notify()
        return request.future

    @property
    def alive(self) -> bool:
        """Whether all threads run."""
        return all(thread.is_alive() for thread in self._threads)

    def close(self, timeout: float | None = None) -> None:
        """Refuse new items, answer waiting ones, and end the threads.

        ``timeout`` is in seconds per thread.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(timeout)

    def _forget(self) -> None:
        """Drop items of cancelled requests."""
        for name, queue in self._queues.items():
            self._queues[name] = deque(one for one in queue if not one.request.future.done())
        self.waiting = sum(map(len, self._queues.values()))

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            name, batch = taken
            found = outcomes(self.models[name], [one.item for one in batch])
            with self._changed:
                self.running -= len(batch)
            self.told(name, len(batch))
            for one, answer in zip(batch, found):
                self._hand_out(one, answer)

    def _take(self) -> tuple[str, list[_Waiting]] | None:
        """Wait for a model's next batch; None at the end."""
        with self._changed:
            while True:
                if self._turns:
                    name = self._turns.popleft()
                    batch = self._cut(self._queues[name])
                    if self._queues[name]:
                        self._turns.append(name)
                        self._changed.notify()
                    if batch:
                        self.running += len(batch)
                        return name, batch
                elif self._closing:
                    return None
                else:
                    self._changed.wait()

    def _cut(self, queue: deque[_Waiting]) -> list[_Waiting]:
        """Take a batch from the front of a queue, without cancelled items."""
        batch: list[_Waiting] = []
        weight = 0
        while queue and len(batch) < self.most:
            weight += queue[0].weight
            if batch and weight > self.heaviest:
                break
            one = queue.popleft()
            self.waiting -= 1
            if one.request.future.done():
                weight -= one.weight
            else:
                batch.append(one)
        return batch

    def _hand_out(self, one: _Waiting, answer: Any) -> None:
        """Store an answer or error; resolve the request at the last answer or first error."""
        request = one.request
        failed = isinstance(answer, BaseException)
        with self._changed:
            request.answers[one.place] = answer
            request.missing -= 1
            if request.settled or (request.missing and not failed):
                return
            request.settled = True
        if not request.future.set_running_or_notify_cancel():
            return
        if failed:
            request.future.set_exception(answer)
        else:
            request.future.set_result(request.answers)


def outcomes(answer: Answer, items: Sequence[Any]) -> list[Any]:
    """Answer items together, or after a failure in halves.

    Returns:
        For each item its answer, or the exception that it raises alone.
    """
    try:
        found = [*answer(items)]
        if len(found) != len(items):
            raise RuntimeError(f"{len(found)} answers to {len(items)} items")
        return found
    except BaseException as error:  # panics of libraries are no Exception; the thread continues
        if len(items) == 1:
            known = isinstance(error, Exception)
            return [error if known else RuntimeError(f"{type(error).__name__}: {error}")]
    middle = len(items) // 2
    return [*outcomes(answer, items[:middle]), *outcomes(answer, items[middle:])]

"""Counts of the service, in Prometheus' text format."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping

PREFIX = "fairseq_plugins_"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
TEXTS = (1, 2, 4, 8, 16, 32, 64, 128)


class Histogram:
    """Numbers of values below each bound."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds, self.counts, self.total = bounds, [0] * (len(bounds) + 1), 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def lines(self, name: str, labels: str) -> Iterator[str]:
        """Yield its lines; ``labels`` without braces."""
        below = 0
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts):
            below += count
            yield f'{name}_bucket{{{labels},le="{bound}"}} {below}'
        yield f"{name}_sum{{{labels}}} {self.total:.6f}"
        yield f"{name}_count{{{labels}}} {below}"


class Metrics:
    """Counts of requests and batches; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._texts: Counter[str] = Counter()
        self._seconds: dict[str, Histogram] = {}
        self._batches: dict[str, Histogram] = {}

    def add_request(self, model: str, status: int, seconds: float, texts: int = 0) -> None:
        """Count a request, with its number of answered texts."""
        with self._lock:
            self._requests[model, status] += 1
            self._texts[model] += texts
            self._seconds.setdefault(model, Histogram(SECONDS)).add(seconds)

    def add_batch(self, model: str, texts: int) -> None:
        with self._lock:
            self._batches.setdefault(model, Histogram(TEXTS)).add(texts)

    def render(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """Return all metrics; ``gauges``: name -> description and current value."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines(gauges))

    def _lines(self, gauges: Mapping[str, tuple[str, float]]) -> Iterator[str]:
        name = yield from _head("requests_total", "counter", "requests by model and status")
        for (model, status), count in sorted(self._requests.items()):
            yield f'{name}{{model="{model}",status="{status}"}} {count}'
        name = yield from _head("texts_total", "counter", "texts and questions answered")
        for model, count in sorted(self._texts.items()):
            yield f'{name}{{model="{model}"}} {count}'
        for part, about, found in (
            ("request_seconds", "seconds from the head of a request to its answer", self._seconds),
            ("batch_texts", "texts and questions of a batch", self._batches),
        ):
            name = yield from _head(part, "histogram", about)
            for model, histogram in sorted(found.items()):
                yield from histogram.lines(name, f'model="{model}"')
        for part, (about, value) in gauges.items():
            name = yield from _head(part, "gauge", about)
            yield f"{name} {value:g}"


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    """Yield the header lines of a metric; return its full name."""
    yield f"# HELP {PREFIX}{name} {about}"
    yield f"# TYPE {PREFIX}{name} {kind}"
    return PREFIX + name

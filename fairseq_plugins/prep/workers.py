"""Run one function over many jobs in several processes, with a progress bar.

Results arrive in job order, and only a few jobs run ahead, so memory does not grow with the number
of jobs. A process uses one thread for arithmetic: several processes then share the machine fairly,
and a sum never depends on the number of threads. Workers end with their parent, even if it is
killed.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from itertools import islice
from typing import Any

from threadpoolctl import threadpool_limits
from tqdm import tqdm

# A forked worker shares the loaded tagger; only Linux forks safely after libraries are loaded.
START_METHOD = "fork" if sys.platform == "linux" else "spawn"
JOBS_AHEAD = 4  # per worker
Made = Generator[Any, None, None]
_function: Callable[[Any], Any]  # the function of a worker process


def run_jobs(
    function: Callable[[Any], Any],
    jobs: Sequence[Any],
    workers: int,
    *,
    title: str,
    sizes: Sequence[int],
    unit: str = "lines",
) -> Iterator[Any]:
    """Yield ``function(job)`` for every job, in order.

    Args:
        function, jobs: a module-level function of one picklable argument, perhaps with bound
            models, sent to every process once; the arguments.
        workers: number of processes; 1 works in this process.
        title, sizes, unit: of the progress bar: its title, size of each job, and unit.
    """
    workers = min(workers, len(jobs))
    run = _run_here if workers <= 1 else _run_pool
    results = closing(run(function, jobs, workers))
    bar = tqdm(total=sum(sizes), desc=title, unit=f" {unit}", unit_scale=True)
    with bar, results as made:
        for result, size in zip(made, sizes):
            yield result
            bar.update(size)


def _run_here(function: Callable[[Any], Any], jobs: Sequence[Any], workers: int) -> Made:
    with threadpool_limits(1):
        yield from map(function, jobs)


def _run_pool(function: Callable[[Any], Any], jobs: Sequence[Any], workers: int) -> Made:
    context = multiprocessing.get_context(START_METHOD)
    pool = ProcessPoolExecutor(workers, context, _enter, (function,))
    todo = iter(jobs)
    try:
        under_way = deque(pool.submit(_carry, job) for job in islice(todo, JOBS_AHEAD * workers))
        while under_way:
            yield under_way.popleft().result()
            under_way.extend(pool.submit(_carry, job) for job in islice(todo, 1))
    except BrokenProcessPool:
        raise ChildProcessError(
            "a worker process died (killed, or out of memory); finished chunks are kept: run the "
            "same command again, with fewer --workers if memory was short"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _enter(function: Callable[[Any], Any]) -> None:
    """Prepare a worker: its watch on the parent, one thread for arithmetic, its function."""
    global _function
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends the work
    threading.Thread(target=_end_with_parent, daemon=True).start()
    threadpool_limits(1)
    _function = function


def _carry(job: Any) -> Any:
    return _function(job)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()  # returns at the end of the parent
        os._exit(1)

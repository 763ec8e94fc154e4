"""Run one function over many jobs in several processes, with a progress bar.

Results arrive in job order. Workers end when their parent does, even if it is killed.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from tqdm import tqdm


def run_jobs(
    function: Callable[[Any], Any],
    jobs: Sequence[Any],
    workers: int,
    start: Callable[[], None],
    *,
    title: str,
    sizes: Sequence[int],
    unit: str = "lines",
) -> Iterator[Any]:
    """Yield ``function(job)`` for every job, in order.

    Args:
        function: a module-level function of one picklable argument.
        jobs: its arguments.
        workers: number of processes; 1 works in this one.
        start: called once in every process before its first job (loads models).
        title: what the progress bar calls this.
        sizes: how much each job counts on the progress bar.
        unit: what is counted.
    """
    with tqdm(total=sum(sizes), desc=title, unit=f" {unit}", unit_scale=True) as bar:
        if workers <= 1 or len(jobs) <= 1:
            if jobs:
                start()
            for job, size in zip(jobs, sizes):
                yield function(job)
                bar.update(size)
            return
        context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
        pool = ProcessPoolExecutor(workers, context, _enter, (start, os.getpid()))
        try:
            for result, size in zip(pool.map(function, jobs), sizes):
                yield result
                bar.update(size)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _enter(start: Callable[[], None], parent: int) -> None:
    """Prepare a worker: one thread of arithmetic each, a watch on the parent, its models."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)

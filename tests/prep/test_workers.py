"""Jobs in processes: order, one thread of arithmetic, few jobs under way, models loaded once."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fairseq_plugins.prep import workers
from fairseq_plugins.prep.workers import JOBS_AHEAD, run_jobs


def run(function, jobs, count):
    jobs = list(jobs)
    return run_jobs(function, jobs, count, title="test", sizes=[1] * len(jobs))


def sleep_back_to_front(job: int) -> int:
    """Finish early jobs last."""
    time.sleep(0.05 if job % 3 == 0 else 0)
    return job


def threads(job: int) -> set[int]:
    """Use the arithmetic library, then count the threads it would use."""
    np.ones((8, 8)) @ np.ones((8, 8))
    return {pool["num_threads"] for pool in threadpool_info()}


class Model:
    """What works on jobs; it says in which processes it does, and must not travel with them."""

    def __call__(self, job: int) -> int:
        return os.getpid()

    def __reduce__(self) -> str:
        raise AssertionError("sent with a job")


def fail_late(job: int) -> int:
    """Fail at the third job."""
    if job == 2:
        raise ValueError("job 2")
    return job


@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_come_in_the_order_of_jobs(count) -> None:
    assert list(run(sleep_back_to_front, range(14), count)) == list(range(14))
    assert list(run(sleep_back_to_front, [], count)) == []


@pytest.mark.parametrize("count", [1, 2])
def test_arithmetic_has_one_thread(count) -> None:
    with threadpool_limits(2):
        assert threads(0) == {2}  # elsewhere it has more
        assert list(run(threads, range(4), count)) == [{1}] * 4
        assert threads(0) == {2}


@pytest.mark.skipif(workers.START_METHOD != "fork", reason="models are pickled once a process")
@pytest.mark.parametrize("count", [1, 2])
def test_models_do_not_travel_with_jobs(count) -> None:
    assert (os.getpid() in run(Model(), range(9), count)) == (count == 1)


def test_few_jobs_are_under_way_at_a_time(tmp_path, monkeypatch) -> None:
    submitted = []

    class Pool(workers.ProcessPoolExecutor):
        def submit(self, *args):
            submitted.append(args)
            return super().submit(*args)

    monkeypatch.setattr(workers, "ProcessPoolExecutor", Pool)
    results = run(sleep_back_to_front, range(100), 2)
    for taken in range(1, 101):
        next(results)
        assert len(submitted) <= taken + 2 * JOBS_AHEAD
    assert len(submitted) == 100


@pytest.mark.parametrize("count", [1, 2])
def test_error_of_a_job_comes_in_its_turn(count) -> None:
    results = run(fail_late, range(6), count)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ValueError, match="job 2"):
        next(results)


def test_unused_results_leave_no_process_behind() -> None:
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    others = set(children.read_text().split())  # of earlier tests
    results = run(sleep_back_to_front, range(50), 2)
    next(results)
    workers = set(children.read_text().split()) - others
    assert len(workers) >= 2
    results.close()
    assert not workers & set(children.read_text().split())

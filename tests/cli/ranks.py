"""Runs fairseq-train in forked processes that work together, as those that torchrun starts do.

    ranks.py NUMBER_OF_PROCESSES FAIRSEQ_TRAIN_ARGUMENTS...

They meet in a file, so that no two runs ask for the same port, and share one standard output. If
one fails, the others are killed.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing import connection

LONGEST_RUN = 280  # seconds; less than a run of `commands` may take, which would leave the ranks


def be(rank: int, number: int, meeting: str, arguments: Sequence[str]) -> None:
    """Be one of the processes."""
    from fairseq_cli import train

    place = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": number, "CUDA_VISIBLE_DEVICES": ""}
    os.environ.update({name: str(value) for name, value in place.items()})
    how = f"--distributed-init-method file://{meeting} --distributed-no-spawn"
    which = f"--distributed-world-size {number} --distributed-rank {rank} --device-id {rank}"
    sys.argv = ["fairseq-train", *arguments, *how.split(), *which.split()]
    train.cli_main()


def work_together(number: int, arguments: Sequence[str]) -> int:
    """Run all processes; return 0 if none failed, else 1."""
    end = time.monotonic() + LONGEST_RUN
    forks = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        given = (number, os.path.join(folder, "meeting"), arguments)
        ranks = [forks.Process(target=be, args=(rank, *given)) for rank in range(number)]
        for rank in ranks:
            rank.start()
        running = {rank.sentinel: rank for rank in ranks}
        while running and not any(rank.exitcode for rank in ranks):
            ended = connection.wait(running, max(0, end - time.monotonic()))
            if not ended:
                break
            for sentinel in ended:
                running.pop(sentinel).join()
        for rank in ranks:
            rank.kill()
            rank.join()
    return int(any(rank.exitcode for rank in ranks))


if __name__ == "__main__":
    sys.exit(work_together(int(sys.argv[1]), sys.argv[2:]))

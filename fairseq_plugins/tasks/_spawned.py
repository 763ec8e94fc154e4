"""Corrections for a training's processes, one per GPU."""

import multiprocessing
import os
import signal
import threading
from multiprocessing.process import BaseProcess
from typing import Any

from ._checkpoint_options import training_of
from ._checks import Refused

TORCHRUN = {"MASTER_ADDR", "MASTER_PORT", "RANK"}  # set by torchrun beside WORLD_SIZE


def settle(cfg: Any) -> None:
    """Make a process of a training resume, load data and end like a single process.

    fairseq broadcasts the checkpoint of a resumed training as a pickle that torch refuses to load,
    so every process reads the file. A spawned process would spawn its data loaders, and each would
    start Python and import torch for every epoch and validation. And torch ends it with its parent
    by SIGINT only, which background processes of a shell ignore.
    """
    whole = training_of(cfg)
    if whole is None:
        return
    if whole.distributed_training.distributed_world_size == 1:
        number = os.environ.get("WORLD_SIZE", "1")
        if number != "1" and TORCHRUN <= os.environ.keys():
            raise Refused(
                f"torchrun started {number} processes, and fairseq takes each for the only one: "
                f"add --distributed-world-size {number}"
            )
        return
    whole.checkpoint.load_checkpoint_on_all_dp_ranks = True
    parent: Any = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.set_start_method(None, force=True)  # the platform's default
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)

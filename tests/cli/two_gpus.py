"""Runs fairseq-train on two emulated GPUs; its processes are forks, which start at once.

    two_gpus.py FAIRSEQ_TRAIN_ARGUMENTS...

It was imported before there were GPUs, so that it is told of both.
"""

import sys
from functools import partial

from cli.two_devices import sitecustomize
from fairseq.models import distributed_fairseq_model
from fairseq_cli import train
from torch import multiprocessing

if __name__ == "__main__":
    distributed_fairseq_model.DistributedDataParallel = sitecustomize.OnCpu
    multiprocessing.spawn = partial(multiprocessing.start_processes, start_method="fork")
    sys.argv += ["--distributed-world-size", "2"]
    train.cli_main()

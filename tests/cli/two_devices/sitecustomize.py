"""Emulates GPUs on a CPU, two or as many as EMULATED_GPUS says, for a Python with this on its path.

fairseq starts a process for each. They compute on the CPU and talk through gloo, since NCCL needs
GPUs; and DistributedDataParallel takes no number of a device for models on a CPU.
"""

import os

import torch
from torch import distributed
from torch.nn import parallel


class OnCpu(parallel.DistributedDataParallel):
    """DistributedDataParallel that is told of no device."""

    def __init__(self, module, device_ids=None, output_device=None, **kwargs):
        super().__init__(module, **kwargs)


def with_gloo(backend=None, *, begin=distributed.init_process_group, **kwargs):
    """Let processes find each other; ``backend`` is one for GPUs."""
    begin("gloo", **kwargs)


torch.cuda.device_count = lambda: int(os.environ.get("EMULATED_GPUS", "2"))
torch.cuda.set_device = lambda device: None
distributed.init_process_group = with_gloo
parallel.DistributedDataParallel = OnCpu

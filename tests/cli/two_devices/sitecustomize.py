"""Emulates two GPUs on a CPU for a Python that has this folder on its path, and its children.

fairseq starts a process for each. torch's DistributedDataParallel takes no number of a device for
models on a CPU, which is all that fairseq gives it beyond what it needs here.
"""

import torch
from torch.nn import parallel


class OnCpu(parallel.DistributedDataParallel):
    """DistributedDataParallel that is told of no device."""

    def __init__(self, module, device_ids=None, output_device=None, **kwargs):
        super().__init__(module, **kwargs)


torch.cuda.device_count = lambda: 2
parallel.DistributedDataParallel = OnCpu

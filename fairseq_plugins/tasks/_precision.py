"""Number types that this machine cannot train with, refused before anything is loaded.

fairseq finds out when model and data are there, in the midst of its trainer, and says so by what
fails first. A task sees the options of the whole run: they stand around its own.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import torch
from omegaconf import DictConfig, OmegaConf


class Refused(SystemExit, ValueError):
    """A ValueError that ends a command of fairseq with its sentence alone, without a traceback."""


def check_precision(cfg: Any) -> None:
    """Refuse half precision that training would fail with; in generation it works.

    Args:
        cfg: options of a task, among those of its run; without them nothing is checked.

    Raises:
        Refused: says what to give instead.
    """
    whole = cfg._get_root() if OmegaConf.is_config(cfg) else None  # no public way leads there
    common = whole.get("common") if isinstance(whole, DictConfig) else None
    if common is None or not whole.get("optimizer"):  # only who trains has one
        return
    if common.get("tpu") and find_spec("torch_xla") is None:
        raise Refused(
            "--bf16 and --memory-efficient-bf16 on the command line mean a TPU to fairseq, and "
            "torch_xla is not installed; choices: --autocast bfloat16 (understanding tasks), "
            "--amp, --fp16, or common.bf16=true of fairseq-hydra-train"
        )
    on_cpu = common.get("cpu") or not torch.cuda.is_available()
    helped = common.get("memory_efficient_fp16") or common.get("fp16_no_flatten_grads")
    if common.get("fp16") and on_cpu and not helped:
        raise Refused(
            "--fp16 on a CPU needs --fp16-no-flatten-grads or --memory-efficient-fp16 as well "
            "(--optimizer bert_adamw: the former)"
        )

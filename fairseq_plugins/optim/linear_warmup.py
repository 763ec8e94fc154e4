"""``--lr-scheduler linear_warmup``: a linear rise from 0 to the peak, then a linear fall.

With N updates in all and W = ceil(ratio N) of warm-up, update n (from 0) has the rate
peak n / W up to W, and end + (peak - end) (N - n) / (N - W) after W. With end = 0 the rates equal
transformers' ``get_linear_schedule_with_warmup``, update by update.
"""

import math
from dataclasses import dataclass, field
from typing import List, Optional

from fairseq.dataclass import FairseqDataclass
from fairseq.optim import FairseqOptimizer
from fairseq.optim.lr_scheduler import FairseqLRScheduler, register_lr_scheduler
from omegaconf import II

from ..chosen_names import WITHOUT_END
from ..errors import InputError


@dataclass
class LinearWarmupConfig(FairseqDataclass):
    """Options of the schedule."""

    warmup_ratio: float = field(
        default=0.1,
        metadata={"help": "share of all updates in which the rate rises from 0 to --lr"},
    )
    end_learning_rate: float = field(
        default=0.0, metadata={"help": "learning rate after the last update"}
    )
    total_num_update: Optional[int] = field(
        default=None, metadata={"help": "number of updates in all (default: --max-update)"}
    )
    max_update: int = II("optimization.max_update")
    lr: List[float] = II("optimization.lr")


@register_lr_scheduler("linear_warmup", dataclass=LinearWarmupConfig)
class LinearWarmupSchedule(FairseqLRScheduler):
    """The schedule, a function of the update number alone."""

    optimizer: FairseqOptimizer

    def __init__(self, cfg: LinearWarmupConfig, optimizer: FairseqOptimizer) -> None:
        super().__init__(cfg, optimizer)
        self.total = cfg.total_num_update or cfg.max_update
        if self.total <= 0:
            raise InputError(WITHOUT_END)
        if not 0 <= cfg.warmup_ratio <= 1:
            raise InputError(f"--warmup-ratio {cfg.warmup_ratio} is not between 0 and 1")
        if len(cfg.lr) != 1:
            raise InputError(f"--lr-scheduler linear_warmup takes one --lr, not {list(cfg.lr)}")
        self.step_update(0)

    def step_update(self, num_updates: int) -> float:
        """Set and return the rate after ``num_updates`` updates."""
        self.optimizer.set_lr(self.rate(num_updates))
        return self.optimizer.get_lr()

    def rate(self, num_updates: int) -> float:
        """Return the rate after ``num_updates`` updates."""
        peak, end, total = self.cfg.lr[0], self.cfg.end_learning_rate, self.total
        warmup = math.ceil(self.cfg.warmup_ratio * total)
        if num_updates < warmup:
            return peak * num_updates / warmup
        left = max(0, total - num_updates) / max(1, total - warmup)
        return end + (peak - end) * left

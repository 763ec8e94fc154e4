"""Registered optimisers and learning rate schedules: BERT's fine-tuning recipe."""

from .bert_adamw import BertAdamW
from .linear_warmup import LinearWarmupSchedule

__all__ = ["BertAdamW", "LinearWarmupSchedule"]

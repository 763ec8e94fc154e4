"""Registered optimisers and learning rate schedules: BERT's fine-tuning recipe."""

from ..registration import register

register()  # first: logging stays as it is while fairseq loads

from .bert_adamw import BertAdamW  # noqa: E402
from .linear_warmup import LinearWarmupSchedule  # noqa: E402

__all__ = ["BertAdamW", "LinearWarmupSchedule"]

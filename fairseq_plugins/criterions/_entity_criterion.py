"""The criterion of entities found by questions, see `targets.entities`."""

from dataclasses import dataclass
from typing import Any

from fairseq.criterions import register_criterion
from fairseq.dataclass import FairseqDataclass

from ..option_flags import option
from ._text_criterion import TextCriterion


@dataclass
class MrcNerCriterionConfig(FairseqDataclass):
    """Weights of the losses; the authors' program starts with equal weights."""

    start_loss_weight: float = option(
        "alpha: weight of the loss for where entities begin", 1.0, least=0
    )
    end_loss_weight: float = option("beta: weight of the loss for where entities end", 1.0, least=0)
    span_loss_weight: float = option(
        "gamma: weight of the loss for whether a first and a last word form an entity", 1.0, least=0
    )


@register_criterion("mrc_ner", dataclass=MrcNerCriterionConfig)
class MrcNerCriterion(TextCriterion):
    """Loss and metrics of entities found by questions."""

    NAME = "mrc_ner"

    def __init__(
        self,
        task: Any,
        start_loss_weight: float = 1.0,
        end_loss_weight: float = 1.0,
        span_loss_weight: float = 1.0,
    ) -> None:
        super().__init__(task)
        self.weights = {
            "start": start_loss_weight,
            "end": end_loss_weight,
            "span": span_loss_weight,
        }

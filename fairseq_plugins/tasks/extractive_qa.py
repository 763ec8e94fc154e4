"""``extractive_qa``: the span of a passage that answers a question, or no answer.

A passage longer than the model is read in windows that begin at every ``--doc-stride`` wordpieces;
position 0 of a row, [CLS] or <s>, means no answer.
"""

import logging
from dataclasses import dataclass
from typing import Any, Optional

from fairseq.tasks import register_task
from omegaconf import II, MISSING

from ..data.training_datasets import TrainingQuestions
from ..option_flags import option
from ._text_task import TextTask, TextTaskConfig

logger = logging.getLogger(__name__)


@dataclass
class ExtractiveQAConfig(TextTaskConfig):
    """Options of ``extractive_qa``."""

    data: str = option("data folder, prepared by fairseq-plugins prepare questions", MISSING)
    max_positions: Optional[int] = option(
        "most wordpieces of an input, special tokens included (default: as in the data folder, "
        "but not more than the model has positions)",
        None,
    )
    doc_stride: Optional[int] = option(
        "wordpieces from the beginning of one window of a long passage to that of the next, at "
        "most what a window holds of the passage (default: as in the data folder)",
        None,
        least=1,
    )
    max_query_length: Optional[int] = option(
        "most wordpieces of a question that are read (default: as in the data folder)",
        None,
        least=1,
    )
    max_answer_length: int = option("most wordpieces of a predicted answer", 30, least=1)
    n_best: int = option("number of answers that a prediction lists, best first", 20, least=1)
    null_threshold: float = option(
        "no answer is given if the score of having none exceeds that of the best span by more "
        "than this",
        0.0,
    )
    valid_subset: str = II("dataset.valid_subset")  # fairseq's own


@register_task("extractive_qa", dataclass=ExtractiveQAConfig)
class ExtractiveQATask(TextTask):
    """Learn to find answers in passages."""

    NAME = "extractive_qa"
    DATASET = TrainingQuestions
    cfg: ExtractiveQAConfig

    @property
    def scoring(self) -> dict[str, Any]:
        """The threshold of no answer, and the longest answer."""
        return {"threshold": self.cfg.null_threshold, "longest": self.cfg.max_answer_length}

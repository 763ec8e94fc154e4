"""``mrc_ner``: entities of a sentence, found by a question for each label (Li et al. 2020).

The task reads folders of labels of words. Every sentence gets a question for every label; see
`nn.entity_spans`. Entities may be nested, also with the same label.
"""

import json
from dataclasses import dataclass
from itertools import chain
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum
from fairseq.tasks import register_task
from omegaconf import MISSING

from ..data.text_items import ERROR, SPLIT
from ..data.training_datasets import TrainingEntities
from ..errors import InputError
from ..methods.entity_head import asked_of
from ..methods.options import write
from ..option_flags import option
from ..targets.entity_spans import OVERLAPS, spans_of, types_of
from ..text.label_questions import label_questions, read_questions
from ._text_task import TextTask, TextTaskConfig


@dataclass
class MrcNerConfig(TextTaskConfig):
    """Options of ``mrc_ner``."""

    data: str = option(
        "data folder, prepared by `prepare text`, with labels of words that name entities", MISSING
    )
    label_questions: Optional[str] = option(
        "file with a question for each label, in lines of label, TAB, question (see "
        "examples/tagging/questions); checkpoints contain the questions",
        None,
    )
    long_examples: ChoiceEnum([SPLIT, ERROR]) = option(
        "what to do with inputs longer than --max-positions: split the sentence into "
        "overlapping windows and read each word in the window that shows most of its context "
        "(split), or stop with an error (error)",
        SPLIT,
    )
    entities: Optional[ChoiceEnum(list(OVERLAPS))] = option(
        "whether entities may share words (nested) or not (flat); of those that do, flat keeps "
        "the best (default: nested if the data folder has several labels for each word, else "
        "flat)",
        None,
    )


@register_task("mrc_ner", dataclass=MrcNerConfig)
class MrcNerTask(TextTask):
    """Learn to find entities by questions."""

    NAME = "mrc_ner"
    DATASET = TrainingEntities
    cfg: MrcNerConfig

    @property
    def scoring(self) -> dict[str, Any]:
        """Whether entities may share words."""
        return {"overlap": self.inputs.overlap, "each": self.cfg.scores_by_label}

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """Build a model with its questions; see `TextTask.build_model`."""
        types = types_of(self.manifest.labels)
        if not types:
            raise InputError(
                f"{self.folder}: its labels name no entities (B-PER and the like), for which "
                "questions could ask"
            )
        if not from_checkpoint:
            asked = read_questions(self.cfg.label_questions, types)
            write(cfg, questions=json.dumps([*chain(*asked.items())], ensure_ascii=False))
        model = super().build_model(cfg, from_checkpoint)
        where = (self.folder, self.manifest, asked_of(cfg), spans_of)
        self.inputs.ask(label_questions(*where, self.cfg.spacy_model))
        return model

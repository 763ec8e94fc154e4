"""BERT-MRC: the head that finds entities, one question per type.

Li et al. 2020, "A Unified MRC Framework for Named Entity Recognition"; see `nn.entity_spans`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional

from torch import nn

from ..door.records import read_list
from ..errors import InputError
from ..nn.bert import BertShape
from ..nn.entity_spans import MATCHES, EntityReader
from ..option_flags import choice
from ..targets.target import OF_PAIRS, Target
from .method import Method, around, flag_and_value
from .options import NONE, preset, written


@dataclass(frozen=True)
class EntityHead(Method):
    """The head from an encoder's states to entities."""

    switch = "entity_match"
    off = {"entity_match": NONE}
    architectures = {
        "bert_mrc": {"entity_match": "linear"},
        "bert_mrc_released": {"entity_match": "mlp"},
    }
    answers = OF_PAIRS

    entity_match: Optional[choice([*MATCHES, NONE])] = preset(
        "BERT-MRC: what judges whether a first and a last word form an entity: one linear map "
        "of both (linear), or, as in the authors' program, a linear map to the encoder's width, "
        "GELU and a second linear map (mlp)"
    )
    # Set by the task: types of entities and the question of each, alternating.
    questions: Optional[str] = written(longest=1_000_000)
    classifier_dropout: Optional[float] = around()

    def check_target(self, target: Target) -> None:
        """Refuse this head for another target, and any other head for entities."""
        if target.head != OF_PAIRS:
            if self.is_there:
                raise InputError(
                    f"{flag_and_value(self, 'entity_match')}: this model finds entities by "
                    f"questions, but the task is one of {target.said}: take --task mrc_ner, or "
                    "another architecture"
                )
        elif not self.is_there:
            raise InputError(
                "--entity-match none: this task finds entities by questions; choose --arch "
                f"bert_mrc or --entity-match {' or '.join(MATCHES)}"
            )
        elif self.classifier_dropout is not None and self.entity_match != "mlp":
            raise InputError(
                f"{flag_and_value(self, 'classifier_dropout')}: "
                f"{flag_and_value(self, 'entity_match')} has no dropout; leave it out, or choose "
                "--entity-match mlp"
            )

    def head(self, shape: BertShape, between: Callable[[], nn.Module | None]) -> EntityReader:
        """Return the head, which reads only the encoder."""
        given = self.classifier_dropout
        dropout = shape.dropout if given is None else given
        return EntityReader(shape.hidden, str(self.entity_match), dropout)


def asked_of(cfg: Any) -> dict[str, str]:
    """Return the question of each entity type in a model's training."""
    found = read_list(getattr(cfg, "questions", None), "questions")
    types, questions = found[::2], found[1::2]
    if not found or len(types) != len(questions) or len({*types}) != len(types):
        raise InputError("option 'questions' holds no types of entities with their questions")
    return dict(zip(types, questions))

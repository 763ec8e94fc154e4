"""Options of entities as answers to questions (BERT-MRC, `nn.entity_spans`), with their checks."""

from dataclasses import dataclass
from typing import Any, Optional

from ..checkpoints.records import read_list
from ..errors import InputError
from ..nn.bert import BertShape
from ..nn.entity_spans import MATCHES, EntityReader
from ..option_flags import choice
from ..targets.target import OF_PAIRS, Target
from .options import NONE, Options, preset, written


@dataclass
class EntityOptions(Options):
    """Options that decide what makes entities of an encoder's states."""

    entity_match: Optional[choice([*MATCHES, NONE])] = preset(
        "BERT-MRC: what judges whether a first and a last word form an entity: one linear map "
        "of both (linear), or, as in the authors' program, a linear map to the encoder's width, "
        "GELU and a second linear map (mlp)"
    )
    # Written by the task: types of entities and the question of each, one after another.
    questions: Optional[str] = written(longest=1_000_000)


def entity_reader(args: Any, shape: BertShape) -> EntityReader:
    """Make what turns words' states into entities."""
    dropout = args.dropout if args.classifier_dropout is None else args.classifier_dropout
    return EntityReader(shape.hidden, str(args.entity_match), dropout)


def asked_of(cfg: Any) -> dict[str, str]:
    """Return the question of each type of entities that a model was trained with.

    Raises:
        InputError: the option holds something else.
    """
    found = read_list(getattr(cfg, "questions", None), "questions")
    types, questions = found[::2], found[1::2]
    if not found or len(types) != len(questions) or len({*types}) != len(types):
        raise InputError("option 'questions' holds no types of entities with their questions")
    return dict(zip(types, questions))


def check_entities(args: Any, target: Target) -> None:
    """Refuse a model that finds entities for another task, and another model for this one.

    Args:
        args: options of a model.
        target: what the data are for.

    Raises:
        InputError: says what to choose.
    """
    if target.head == OF_PAIRS and args.entity_match in (None, NONE):
        raise InputError(
            "--entity-match none: this task finds entities by questions; choose --arch bert_mrc or "
            f"--entity-match {' or '.join(MATCHES)}"
        )
    if (
        target.head == OF_PAIRS
        and args.classifier_dropout is not None
        and args.entity_match != "mlp"
    ):
        raise InputError(
            f"--classifier-dropout {args.classifier_dropout}: --entity-match {args.entity_match} "
            "has no dropout; leave it out, or choose --entity-match mlp"
        )
    if target.head != OF_PAIRS and args.entity_match not in (None, NONE):
        raise InputError(
            f"--entity-match {args.entity_match}: this model finds entities by questions, but the "
            f"task is one of {target.said}: take --task mrc_ner, or another architecture"
        )

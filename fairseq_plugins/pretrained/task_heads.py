"""A task's head on an encoder, as in transformers: tensors and configuration.

For sentences and pairs, a linear map of the first token's state, an activation, and a linear map to
the classes or the score; for words and answers a linear map of every token's state. The first map
is the encoder's pooler in BERT and ALBERT and belongs to the classifier in the others; the
activation is tanh, but gelu in ELECTRA, DeBERTa and ModernBERT, and relu in DistilBERT. ModernBERT
has the first map, and a LayerNorm behind its activation, for words and answers, too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from ..errors import InputError
from ..nn.bert import BertShape
from .families import Family
from .forms import FORMS
from .names import KINDS, NAMES, Names

SENTENCES, TOKENS, ANSWERS = "SequenceClassification", "TokenClassification", "QuestionAnswering"
SCORE = "score"  # name of a score's only output


@dataclass(frozen=True)
class TaskHead:
    """A trained head."""

    kind: str  # `SENTENCES`, `TOKENS` or `ANSWERS`
    state: Mapping[str, Tensor]  # ``weight`` (C, D) and ``bias`` (C,) of its last map
    # names of the C outputs; none for a score, and for the start and end of answers
    labels: tuple[str, ...] = ()
    dropout: float = 0.0  # rate before the last map
    problem: str = ""  # ``problem_type`` of transformers' configuration
    # least probability of each label; empty if the most probable label wins
    thresholds: tuple[float, ...] = ()


def names_beneath(family: Family) -> Names:
    """Return a family's tensor names for an encoder under a head; our pooler is its first map."""
    own = NAMES[family.name]
    return replace(own, pooler=own.dense or own.pooler)


def check_plain(head: TaskHead, shape: BertShape, family: Family) -> None:
    """Refuse a head that transformers would compute differently."""
    ours, theirs = shape.pooler_activation, FORMS[family.name].pooled
    problem = ""
    if head.kind != SENTENCES and not NAMES[family.name].plain_tokens:
        problem = (
            f"its head is one map of every token's state; that of {family.name} in transformers "
            "has another map and a LayerNorm before it"
        )
    elif head.kind == SENTENCES and ours != theirs:
        problem = (
            f"its classifier has {ours} behind its first map; that of {family.name} in "
            f"transformers has {theirs}"
        )
    if problem:
        raise InputError(
            f"{problem}, and would compute something else; --format huggingface-encoder writes the "
            "encoder alone"
        )


def join_head(tensors: dict[str, Tensor], head: TaskHead, family: Family) -> dict[str, Tensor]:
    """Return the tensors of an encoder (`names_beneath`) and its head, named as one model."""
    own = NAMES[family.name]
    found = {
        name if name.startswith(own.heads) else own.prefix + name: tensor
        for name, tensor in tensors.items()
    }
    out = {SENTENCES: own.out, TOKENS: "classifier", ANSWERS: "qa_outputs"}[head.kind]
    for kind in KINDS:
        tensor = head.state[kind].detach().cpu().to(torch.float32)
        found[f"{out}.{kind}"] = tensor.clone(memory_format=torch.contiguous_format)
    return found


def config_of(head: TaskHead, family: Family) -> dict[str, Any]:
    """Return a head's keys of ``config.json``."""
    found: dict[str, Any] = {"architectures": [f"{family.title}For{head.kind}"]}
    if head.kind == ANSWERS:
        return found
    labels = head.labels or (SCORE,)
    found["id2label"] = {str(number): label for number, label in enumerate(labels)}
    found["label2id"] = {label: number for number, label in enumerate(labels)}
    if head.kind == SENTENCES:
        found["problem_type"] = head.problem
        found |= {"label_thresholds": head.thresholds} if head.thresholds else {}
    return found | {FORMS[family.name].head_dropout: head.dropout}

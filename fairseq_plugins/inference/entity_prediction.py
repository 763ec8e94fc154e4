"""What models that find entities by questions (``mrc_ner``) say of sentences; see `prediction`.

Of a sentence the questions of all labels are one example. What is found is told apart where it
overlaps as the task says (`evaluation.entity_spans`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from torch import Tensor

from ..data.label_questions import LabelQuestions
from ..data.text_inputs import TextInputs
from ..errors import InputError
from ..evaluation.entity_spans import NESTED, EntitySpan, found_spans, kept_spans, spans_of
from ..evaluation.predictions import ENTITIES, Prediction
from ..nn.entity_spans import span_scores

Spans = tuple[EntitySpan, ...]


def check_alone(models: Sequence[Any], inputs: TextInputs) -> None:
    """Refuse an ensemble: each model finds its own candidates, which no mean is defined of.

    Raises:
        InputError: there are several models that find entities.
    """
    if inputs.seeks and len(models) > 1:
        raise InputError(
            f"{len(models)} models of task {inputs.manifest.task} make no ensemble: each finds its "
            "own candidates; give one of them"
        )


def entities_of(
    output: tuple[Tensor, dict[str, Any]], sample: dict[str, Any], inputs: TextInputs
) -> list[Spans]:
    """Return the entities of a batch's sentences, of what the model says about it."""
    logits, extra = output
    pairs = extra["first"], extra["last"]
    scores = span_scores(logits, *pairs, extra["match"])
    counts, questions = sample["net_input"]["word_counts"], cast(LabelQuestions, inputs.questions)
    found = found_spans(scores, *pairs, counts, sample["asked"], questions.labels)
    places = range(len(sample["id"]))
    return [kept_spans(found.get(place, ()), inputs.overlap) for place in places]


def entity_prediction(
    name: str, found: Spans, words: Sequence[str] = (), gold: Iterable[Any] | None = None
) -> Prediction:
    """Turn what was found into a prediction.

    Args:
        name: of the example.
        found: its entities.
        words: of the sentence.
        gold: entities, or labels of its words; None where they are not known.
    """
    if gold is not None:
        gold = list(gold)
        is_row = bool(gold) and isinstance(gold[0], str)
        spans: Iterable[Any] = spans_of(gold, len(words)) if is_row else gold
        gold = kept_spans((EntitySpan(*one) for one in spans), NESTED)
    return Prediction(name, ENTITIES, found, gold, tuple(words))

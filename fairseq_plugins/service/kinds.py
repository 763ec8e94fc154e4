"""Kinds of models as values: the request, its items, and their answers.

Answers are the records that `predict`, `answer` and `translate` write for the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, NamedTuple

from ..corpora.squad import Paragraph, Question
from ..inference.options import ANSWERING, TRANSLATING
from ..inference.prediction_inputs import examples_of
from ..text_reading import check_characters
from .requests import CONTENT, Body, Lines, Pairs, Questions, Refused, Sentences, WordTexts

Record = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """How to query a model."""

    name: str  # in lists of models
    body: type[Body]  # content of a request
    example: Mapping[str, Any]  # a request, tried on every model before it is served
    items: Callable[[Any, Any], Sequence[Any]]  # a model and a request -> items of the queue
    # a model and items of any requests -> their records, in order, an exception in place of a
    # failed one
    answer: Callable[[Any, Sequence[Any]], list[Record | Exception]]


class Line(NamedTuple):
    """A line to translate: its number in its request, and its search options."""

    number: int
    text: str
    search: tuple[tuple[str, Any], ...]
    prefix: str  # beginning of the translation


def kind_of(model: Any, task: str | None) -> Kind:
    if task in (ANSWERING, TRANSLATING):
        return QUESTIONS if task == ANSWERING else TRANSLATION
    if model.target.by_word:
        return WORDS
    return SENTENCES if model.manifest.sentences == 1 else PAIRS


def _examples(model: Any, body: Any) -> Sequence[Any]:
    return examples_of(body.texts, model.wanted)


def _predictions(model: Any, items: Sequence[Any]) -> list[Record | Exception]:
    found = model.predict_examples(items, batch_size=len(items))
    return [prediction.record() for prediction in found]


def _paragraphs(model: Any, body: Questions) -> Sequence[Any]:
    return [
        Paragraph("", one.context, (Question(str(i), one.question),), f"questions[{i}]")
        for i, one in enumerate(body.questions)
    ]


def _replies(model: Any, items: Sequence[Any]) -> list[Record | Exception]:
    return [reply.record() for reply in model.answer_paragraphs(items)]


def _lines(model: Any, body: Lines) -> Sequence[Any]:
    if body.nbest > body.beam:
        raise Refused(CONTENT, f"nbest is {body.nbest}, but a beam of {body.beam} finds no more")
    search = (("beam", body.beam), ("lenpen", body.lenpen), ("nbest", body.nbest))
    begun = [body.prefix] * len(body.texts) if isinstance(body.prefix, str) else body.prefix
    if len(begun) != len(body.texts):
        raise Refused(CONTENT, f"prefix has {len(begun)} texts, texts {len(body.texts)}")
    for text in begun:
        if len(text) > LONGEST_PREFIX:
            raise Refused(CONTENT, f"a prefix has at most {LONGEST_PREFIX:,} characters")
        check_characters(text, "prefix")
    return [Line(i, *two) for i, two in enumerate(zip(body.texts, repeat(search), begun))]


def _translations(model: Any, items: Sequence[Line]) -> list[Record | Exception]:
    """Translate lines, grouped by search options."""
    found: dict[int, Record | Exception] = {}
    for search in dict.fromkeys(one.search for one in items):
        places = [place for place, one in enumerate(items) if one.search == search]
        texts, begun = zip(*((items[place].text, items[place].prefix) for place in places))
        how: dict[str, Any] = {"prefix": begun} if any(begun) else {}
        how["first"] = items[places[0]].number + 1  # of an item that is answered alone
        beams = model.hypotheses([*texts], **dict(search), **how)
        found |= {place: _record(items[place], beam) for place, beam in zip(places, beams)}
    return [found[place] for place in range(len(items))]


def _record(line: Line, beam: Sequence[Any]) -> Record | Exception:
    if beam[0].score == -float("inf"):  # the model does not read it
        return Refused(CONTENT, f"texts[{line.number}] is longer than the model reads")
    best = [{"translation": one.text, "score": one.score} for one in beam]
    for record, one in zip(best, beam):
        record |= {"misfits": [*one.misfits]} if one.misfits else {}
    return {"id": str(line.number), **best[0], "n_best": best}


LONGEST_PREFIX = 2_000  # characters
SENTENCE = "The cat sat on the mat."
_ASKED = {"question": "Who built the mill?", "context": "Mara built the mill in Lund."}

SENTENCES = Kind("texts", Sentences, {"texts": [SENTENCE]}, _examples, _predictions)
PAIRS = Kind("pairs", Pairs, {"texts": [[SENTENCE, "A cat sat."]]}, _examples, _predictions)
WORDS = Kind("words", WordTexts, {"texts": [SENTENCE]}, _examples, _predictions)
QUESTIONS = Kind("questions", Questions, {"questions": [_ASKED]}, _paragraphs, _replies)
TRANSLATION = Kind("translation", Lines, {"texts": [SENTENCE]}, _lines, _translations)

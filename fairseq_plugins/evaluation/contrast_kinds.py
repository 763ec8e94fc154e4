"""Translations, predicted classes, scores and labels of words, and answers as items of a contrast.

What systems differ in is marked: words that one translation alone has right (the syntax-infused
paper's Table 3), and words in which the two sentences of a pair differ (Wang et al. 2022, Table 4).
An answer is right where it is exactly a gold one, as SQuAD compares, or where there is none and the
system gives none; the gold answer is marked in its context (Chadha and Sood 2019, Figure 6).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

from ..messages import named, quoted
from .contrast import (
    FIRST,
    MISS,
    SAME,
    SECOND,
    SPAN,
    WRONG,
    Item,
    Runs,
    View,
    best,
    mark_words,
    plain,
)
from .predictions import CLASSES, SCORE, WORD_LABELS, Prediction, Systems, check_same
from .sentence_counts import metric_of
from .shown_text import NO_ANSWER, as_line, cropped
from .squad import scores_of
from .translation import check_equal_counts

Metric = Callable[[str, str], float]
Texts = tuple[str, ...]
Judgement = tuple[list[float], list[bool]]  # how good each system is, and whether it is right


def scorer(name: str, lang: str = "") -> Metric:
    """Return a score of (prediction, gold) for one sentence, 0 to 100; see `metric_of`."""
    metric = metric_of(name, lang, effective_order=True)
    return cache(lambda prediction, gold: metric.sentence_score(prediction, [gold]).score)


def sentence_items(
    systems: Sequence[Sequence[str]],
    gold: Sequence[str],
    sources: Sequence[str] | None = None,
    *,
    names: Sequence[str] = ("first", "second"),
    metric: tuple[str, Metric],
) -> list[Item]:
    """Return the sentences that two systems translate.

    Args:
        systems: the predictions of both.
        gold: references.
        sources: inputs, or None.
        names: of the systems.
        metric: name and score of (prediction, gold), higher is better.

    Raises:
        ValueError: unequal counts.
    """
    known = [*zip(names, systems), *([] if sources is None else [("sources", sources)])]
    for name, lines in known:
        check_equal_counts((name, lines), ("gold", gold))
    items = []
    for number, (truth, *said) in enumerate(zip(gold, *systems)):
        scores = [metric[1](one, truth) for one in said]
        texts = None if sources is None else sources[number], truth, said
        view = partial(_sentence, number, texts, scores, names, metric[0])
        items.append(Item(str(number), scores, best(scores), view))
    return items


def _sentence(
    number: int,
    texts: tuple[str | None, str, Sequence[str]],
    scores: Sequence[float],
    names: Sequence[str],
    metric: str,
) -> View:
    source, gold, said = texts
    gap = scores[1] - scores[0]
    marked = [mark_words(*pair, gold=gold) for pair in (said, said[::-1])]
    lines = {} if source is None else {"source": plain(source)}
    return View(
        f"{metric} {gap:+.1f} for {names[1]}",
        lines | {"reference": plain(gold)},
        [(runs, f"{score:.1f}") for runs, score in zip(marked, scores)],
    )


def predicted_items(target: str, systems: Systems, *, positive: str = "") -> list[Item]:
    """Return the examples that systems predict.

    Good is a high probability of the true class, in %, a score near the true one, or a great share
    of right labels, in %.

    Args:
        target: what is predicted, a key of `predictions.KEYS`.
        systems: files, each with its predictions.
        positive: class whose probability is shown (default: ``1`` where classes are 0 and 1, else
            that of each answer).

    Raises:
        ValueError: other examples, no gold, or no such class.
    """
    judged, view = _OF_TARGET[target]
    if target == CLASSES:
        view = partial(view, positive=_shown_class(systems, positive))
    check_same(systems)
    examples = zip(*(made for _, made in systems))
    return [Item(said[0].id, *judged(said), partial(view, said)) for said in examples]


def _shown_class(systems: Systems, positive: str) -> str:
    """Return the class whose probability is shown; empty for that of each answer."""
    classes = {label for _, made in systems for one in made for label in one.probabilities}
    if positive and positive not in classes:
        raise ValueError(f"class {positive!r} is not one of {named(sorted(classes))}")
    return positive or ("1" if classes == {"0", "1"} else "")


def _by_class(said: Sequence[Prediction]) -> Judgement:
    scores = [100 * one.probabilities.get(one.gold, 0.0) for one in said]
    return scores, [one.answer == one.gold for one in said]


def _class(said: Sequence[Prediction], *, positive: str) -> View:
    texts = _texts(said)
    gold, shown = said[0].gold, []
    for one in said:
        chance = one.probabilities.get(positive or one.answer, 0.0)
        note = f"{positive}: {100 * chance:.2f}%" if positive else f"{100 * chance:.2f}%"
        shown.append(([(one.answer, SAME if one.answer == gold else WRONG)], note))
    lines = _lines(texts)
    if len(texts) == 2:
        lines = {"S1": _differing(*texts, FIRST), "S2": _differing(*texts[::-1], SECOND)}
    return View(f"gold {gold}", lines, shown)


def _by_score(said: Sequence[Prediction]) -> Judgement:
    scores = [-abs(one.answer - one.gold) for one in said]
    return scores, best(scores)


def _score(said: Sequence[Prediction]) -> View:
    texts = _texts(said)
    shown = [(plain(f"{one.answer:.3f}"), f"{one.answer - one.gold:+.3f}") for one in said]
    return View(f"gold {said[0].gold:g}", _lines(texts), shown)


def _by_words(said: Sequence[Prediction]) -> Judgement:
    scores = [100 * _right(one) / max(1, len(one.gold)) for one in said]
    return scores, best(scores)


def _right(one: Prediction) -> int:
    return sum(own == truth for own, truth in zip(one.answer, one.gold))


def _words(said: Sequence[Prediction]) -> View:
    gold, words = said[0].gold, said[0].texts
    texts = [("words", " ".join(words)), ("gold", " ".join(gold))]
    shown = []
    for one in said:
        marks = [(own, SAME if own == truth else MISS) for own, truth in zip(one.answer, gold)]
        runs = [part for run in marks for part in (run, (" ", SAME))][:-1]
        shown.append((runs, f"{_right(one)} of {len(gold)} right"))
    return View(f"{len(words)} words", {name: plain(text) for name, text in texts}, shown)


_OF_TARGET = {
    CLASSES: (_by_class, _class),
    SCORE: (_by_score, _score),
    WORD_LABELS: (_by_words, _words),
}


def _texts(said: Sequence[Prediction]) -> Texts:
    return next((one.texts for one in said if one.texts), ())


def _lines(texts: Texts) -> dict[str, Runs]:
    labels = ["text"] if len(texts) == 1 else [f"S{n}" for n in range(1, len(texts) + 1)]
    return dict(zip(labels, map(plain, texts)))


def _differing(text: str, other: str, mark: str) -> Runs:
    """Mark the words that a sentence has alone."""
    return [(part, mark if own == MISS else SAME) for part, own in mark_words(text, other, "")]


def answer_items(
    questions: Mapping[str, Any],
    systems: Sequence[tuple[str, Mapping[str, str]]],
) -> list[Item]:
    """Return the questions that systems answer; a score is an answer's F1 in %.

    Args:
        questions: id -> question (`prep.qa_examples.Asked`, which may have no context).
        systems: files, each with its answers by id, empty for none.

    Raises:
        ValueError: a question without an answer of a system.
    """
    for system, answers in systems:
        lacking = [name for name in questions if name not in answers]
        if lacking:
            raise ValueError(
                f"{system}: {len(lacking):,} of {len(questions):,} questions have no prediction, "
                f"{quoted(lacking[0])} among them"
            )
    items = []
    for name, question in questions.items():
        texts = [answers[name] for _, answers in systems]
        said = [(text, *scores_of(question.golds, text)) for text in texts]
        scores, right = [100 * f1 for *_, f1 in said], [bool(exact) for _, exact, _ in said]
        items.append(Item(name, scores, right, partial(_answer, question, said)))
    return items


def _answer(question: Any, said: Sequence[tuple[str, float, float]]) -> View:
    golds = dict.fromkeys(question.golds)
    shown = []
    for text, exact, f1 in said:
        run = as_line(text) if text else NO_ANSWER, SAME if exact else WRONG
        shown.append(([run], f"F1 {100 * f1:.1f}"))
    said_texts = [text for text, *_ in said]
    lines = {"context": _excerpt(question, said_texts)} if question.context else {}
    lines["gold"] = plain(" | ".join(map(as_line, golds)) or NO_ANSWER)
    return View(as_line(question.text), lines, shown)


def _excerpt(question: Any, said: Sequence[str]) -> Runs:
    """Return the context around a gold answer, which is marked.

    Where no gold answer stands in the context, what a system said decides where it is cut out.
    """
    for begin, end in question.spans:
        parts = zip(cropped(question.context, begin, end), (SAME, SPAN, SAME))
        return [(as_line(part), mark) for part, mark in parts if part]
    found = next((text for text in said if text and text in question.context), "")
    begin = question.context.index(found)
    return plain(as_line("".join(cropped(question.context, begin, begin + len(found)))))

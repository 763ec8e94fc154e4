"""Answers to questions as items of a contrast (Chadha and Sood 2019, Figure 6).

An answer is right where it is exactly a gold one, as SQuAD compares, or where there is none and the
system gives none. The gold answer is marked in its context.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..messages import quoted
from .contrast import Item, View
from .marked_words import SAME, SPAN, WRONG, Runs, plain
from .shown_text import NO_ANSWER, as_line, cropped
from .squad import scores_of


def answer_items(
    questions: Mapping[str, Any],
    systems: Sequence[tuple[str, Mapping[str, str]]],
    *,
    names: Sequence[str],
) -> list[Item]:
    """Return the questions that systems answer; a score is an answer's F1 in %.

    Args:
        questions: id -> question (`prep.qa_examples.Asked`, which may have no context).
        systems: files, each with its answers by id, empty for none.
        names: of the systems.

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
        items.append(Item(name, scores, right, partial(_answer, name, question, said, names)))
    return items


def _answer(
    name: str,
    question: Any,
    said: Sequence[tuple[str, float, float]],
    names: Sequence[str],
) -> View:
    golds = dict.fromkeys(question.golds)
    row = [("id", name), ("question", question.text), ("gold", " | ".join(golds)), ("gap", "")]
    shown = []
    for system, (text, exact, f1) in zip(names, said):
        row += [(f"{system} answer", text), (f"{system} exact", f"{exact:g}")]
        row += [(f"{system} F1", f"{f1:.4f}")]
        run = as_line(text) if text else NO_ANSWER, SAME if exact else WRONG
        shown.append(([run], f"F1 {100 * f1:.1f}"))
    said_texts = [text for text, *_ in said]
    lines = {"context": _excerpt(question, said_texts)} if question.context else {}
    lines["gold"] = plain(" | ".join(map(as_line, golds)) or NO_ANSWER)
    return View(as_line(question.text), lines, shown, [*row, ("context", question.context)])


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

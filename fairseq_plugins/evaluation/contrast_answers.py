"""Systems' answers to questions, as items of a contrast and counted by question word.

Chadha and Sood 2019, "BERTQA - Attention on Steroids", Figures 5 and 6. An answer is right if it is
exactly a gold answer in SQuAD's normal form, or if there is neither a gold answer nor an answer.

The type of a question is the first of the paper's seven words in it, in any case: "In which year
did who win?" is a "which". Inflected forms are other words ("whom", "whose"); a question without
any of the seven is "other".
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..errors import InputError
from ..messages import quoted
from ..targets.spans import SPANS
from ..targets.squad import scores_of
from .contrast import SAME, SPAN, WRONG, Contrast, Item, Runs, View, plain
from .example_answers import Answers, ExampleCounts, example_counts
from .example_bootstrap import bootstrap
from .shown_text import NO_ANSWER, as_line, cropped
from .squad_files import read_predictions

QUESTION_WORDS = ("what", "who", "how", "when", "which", "where", "why")
OTHER, ALL = "other", "all"
SIGNIFICANT = 0.05
NOTE = (
    "Wrong answers (no exact match), and their share of the questions. *: another share than the "
    f"first system's, p < {SIGNIFICANT}, paired bootstrap over questions."
)

_WORD = re.compile(rf"\b({'|'.join(QUESTION_WORDS)})\b")


def answered(questions: Mapping[str, Any], paths: Sequence[str], names: Sequence[str]) -> Contrast:
    """Return the questions that systems answer, and their errors by question word."""
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"two systems are called {twice[0]!r}: write NAME=FILE")
    systems = [read_predictions(path) for path in paths]
    for path, answers in zip(paths, systems):
        if lacking := [name for name in questions if name not in answers]:
            raise InputError(
                f"{path}: {len(lacking):,} of {len(questions):,} questions have no prediction, "
                f"{quoted(lacking[0])} among them"
            )
    items, table = answer_items(questions, systems), errors_by_type(questions, names, systems)
    return Contrast("question", items, is_judged=True, table=table, note=NOTE)


def answer_items(questions: Mapping[str, Any], systems: Sequence[Mapping[str, str]]) -> list[Item]:
    """Return answered questions as items; a score is an answer's F1 in %."""
    items = []
    for name, question in questions.items():
        texts = [answers[name] for answers in systems]
        said = [(text, *scores_of(question.golds, text)) for text in texts]
        scores, right = [100 * f1 for *_, f1 in said], [bool(exact) for _, exact, _ in said]
        items.append(Item(name, scores, right, partial(_answer, question, said)))
    return items


def _answer(question: Any, said: Sequence[tuple[str, float, float]]) -> View:
    shown = []
    for text, exact, f1 in said:
        run = as_line(text) if text else NO_ANSWER, SAME if exact else WRONG
        shown.append(([run], f"F1 {100 * f1:.1f}"))
    lines = {"context": _excerpt(question, [text for text, *_ in said])} if question.context else {}
    lines["gold"] = plain(" | ".join(map(as_line, dict.fromkeys(question.golds))) or NO_ANSWER)
    return View(as_line(question.text), lines, shown)


def _excerpt(question: Any, said: Sequence[str]) -> Runs:
    """Return the context around a gold answer, which is marked.

    Without a gold answer in the context, the context around a system's answer.
    """
    for begin, end in question.spans:
        parts = zip(cropped(question.context, begin, end), (SAME, SPAN, SAME))
        return [(as_line(part), mark) for part, mark in parts if part]
    found = next((text for text in said if text and text in question.context), "")
    begin = question.context.index(found)
    return plain(as_line("".join(cropped(question.context, begin, begin + len(found)))))


def question_type(question: str) -> str:
    found = _WORD.search(question.lower())
    return found[1] if found else OTHER


def errors_by_type(
    questions: Mapping[str, Any],
    names: Sequence[str],
    systems: Sequence[Mapping[str, str]],
    *,
    samples: int = 1000,
) -> list[list[str]]:
    """Count the errors of systems, and compare their shares with the first system's.

    Args:
        questions: id -> question with ``text`` and ``golds``.
        names: of the systems.
        systems: answers of each by id, empty for none.
        samples: resamples of the paired bootstrap over a type's questions.

    Returns:
        Rows of cells: a header, each type that occurs, and the total.
    """
    kinds: dict[str, list[str]] = {kind: [] for kind in (*QUESTION_WORDS, OTHER)}
    for name, question in questions.items():
        kinds[question_type(question.text)].append(name)
    rows = [["type", "questions", *names]]
    for kind, ids in {**kinds, ALL: list(questions)}.items():
        golds, counts = [list(questions[name].golds) for name in ids], []
        rows += [[kind, f"{len(ids):,}"]] * bool(ids)
        for system, answers in zip(names, systems) if ids else ():
            run = Answers(system, SPANS, ids, golds, [answers[name] for name in ids])
            wrong = sum(not scores_of(*pair)[0] for pair in zip(golds, run.predicted))
            counts.append(example_counts(run, "exact"))
            star = " *" * (len(counts) > 1 and _differ(counts[0], counts[-1], samples))
            rows[-1].append(f"{wrong:,} ({100 * wrong / len(ids):.1f} %){star}")
    return rows


def _differ(first: ExampleCounts, other: ExampleCounts, samples: int) -> bool:
    return bootstrap([first], [other], samples=samples, seed=12345).p_value < SIGNIFICANT

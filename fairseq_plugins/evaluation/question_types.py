"""Errors by question word (Chadha and Sood 2019, "BERTQA - Attention on Steroids", Figure 5).

A question is of the type of the first of the paper's seven words that stands in it, whatever its
case: "In which year did who win?" is a "which". Forms of them are other words ("whom", "whose");
a question without any of the seven is "other". An answer is wrong where it is no exact match, as
SQuAD counts it; an unanswerable question is answered rightly by nothing.
"""

import csv
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..messages import quoted
from .example_answers import Answers, ExampleCounts, example_counts
from .example_bootstrap import bootstrap
from .shown_text import align, as_markdown_cell
from .squad import scores_of

QUESTION_WORDS = ("what", "who", "how", "when", "which", "where", "why")
OTHER, ALL = "other", "all"
SIGNIFICANT = 0.05

_WORD = re.compile(rf"\b({'|'.join(QUESTION_WORDS)})\b")


@dataclass(frozen=True)
class TypeErrors:
    """What a system gets wrong of one type of question.

    Args:
        kind: of `QUESTION_WORDS`, `OTHER` or `ALL`.
        system: its name.
        questions: how many of this type there are.
        wrong: how many of them it gets wrong.
        p_value: of the difference to the first system; None for the first, and without a test.
    """

    kind: str
    system: str
    questions: int
    wrong: int
    p_value: float | None = None

    @property
    def percent(self) -> float:
        """Share of wrong answers in %."""
        return 100 * self.wrong / self.questions


def question_type(question: str) -> str:
    """Return the type of a question."""
    found = _WORD.search(question.lower())
    return found[1] if found else OTHER


def count_errors(
    questions: Mapping[str, str],
    gold: Mapping[str, Sequence[str]],
    systems: Mapping[str, Mapping[str, str]],
    *,
    samples: int = 1000,
    seed: int = 12345,
) -> list[TypeErrors]:
    """Count the errors of systems, type by type, and compare them with the first system's.

    Args:
        questions: id -> text.
        gold: id -> its answers; none where it has none.
        systems: name -> id -> predicted answer, empty for none.
        samples: resamples of the paired bootstrap over a type's questions; 0 for no test.
        seed: of the bootstrap.

    Returns:
        Of each type that occurs, and of all together, one entry a system.

    Raises:
        ValueError: no question or system, or a question without gold or prediction; names it.
    """
    _check(questions, {"the gold answers": gold, **systems})
    kinds: dict[str, list[str]] = {kind: [] for kind in (*QUESTION_WORDS, OTHER)}
    for name, text in questions.items():
        kinds[question_type(text)].append(name)
    return [
        TypeErrors(kind, *row)
        for kind, ids in {**kinds, ALL: list(questions)}.items()
        if ids
        for row in _of_type(ids, gold, systems, samples=samples, seed=seed)
    ]


def _check(questions: Mapping[str, str], known: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse questions that gold answers or predictions lack."""
    if not questions or len(known) < 2:
        raise ValueError("an analysis needs questions and the predictions of a system")
    for what, of in known.items():
        if lacking := [name for name in questions if name not in of]:
            raise ValueError(
                f"{what}: {len(lacking)} of {len(questions)} questions are missing, "
                f"{quoted(lacking[0])} among them"
            )


def _of_type(
    ids: list[str],
    gold: Mapping[str, Sequence[str]],
    systems: Mapping[str, Mapping[str, str]],
    **drawn: Any,
) -> Iterator[tuple[Any, ...]]:
    golds = [list(gold[name]) for name in ids]
    first: ExampleCounts | None = None
    for system, predicted in systems.items():
        run = Answers(system, "spans", ids, golds, [predicted[name] for name in ids])
        wrong = sum(not scores_of(*pair)[0] for pair in zip(golds, run.predicted))
        counts, p_value = example_counts(run, "exact"), math.nan
        if first and drawn["samples"]:
            p_value = bootstrap([first], [counts], **drawn).p_value
        first = first or counts
        yield system, len(ids), wrong, None if math.isnan(p_value) else p_value


def format_text(found: Sequence[TypeErrors]) -> str:
    """Lay errors out for a terminal."""
    rows = [["type", "questions", *_systems(found)], *_rows(found)]
    return "\n".join([*align(rows), "", *_notes(found)]) + "\n"


def format_markdown(found: Sequence[TypeErrors]) -> str:
    """Lay errors out in Markdown."""
    head = ["type", "questions", *map(as_markdown_cell, _systems(found))]
    rows = [head, ["---", *["---:"] * (len(head) - 1)], *_rows(found)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, "", *map(as_markdown_cell, _notes(found))]) + "\n"


def format_csv(found: Sequence[TypeErrors]) -> str:
    """Return one line a type and system, unrounded; p is empty where nothing was tested."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("type", "system", "questions", "wrong", "percent", "p"))
    for one in found:
        p_value = "" if one.p_value is None else one.p_value
        writer.writerow((one.kind, one.system, one.questions, one.wrong, one.percent, p_value))
    return stream.getvalue()


def format_json(found: Sequence[TypeErrors]) -> str:
    """Return a list of types and systems as JSON."""
    rows = [asdict(one) | {"percent": one.percent} for one in found]
    return json.dumps(rows, indent=2, allow_nan=False) + "\n"


def _systems(found: Sequence[TypeErrors]) -> list[str]:
    return list(dict.fromkeys(one.system for one in found))


def _rows(found: Sequence[TypeErrors]) -> Iterator[list[str]]:
    for kind in dict.fromkeys(one.kind for one in found):
        cells = [one for one in found if one.kind == kind]
        yield [kind, f"{cells[0].questions:,}", *map(_cell, cells)]


def _cell(one: TypeErrors) -> str:
    tested = one.p_value is not None and one.p_value < SIGNIFICANT
    return f"{one.wrong:,} ({one.percent:.1f} %){' *' if tested else ''}"


def _notes(found: Sequence[TypeErrors]) -> Iterator[str]:
    yield "Wrong answers (no exact match), and their share of the questions."
    if any(one.p_value is not None for one in found):
        yield (
            f"*: another share than {found[0].system}'s, p < {SIGNIFICANT}, paired bootstrap over "
            "questions."
        )

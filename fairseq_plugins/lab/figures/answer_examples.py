"""Questions about which systems differ, as text, Markdown or TSV (Chadha and Sood 2019, Figure 6).

A gold answer is marked where it stands in the context: ``>>1912<<``, bold in Markdown. Of a long
context the sentences around it are shown; without a gold answer, those around what a system said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from ...evaluation.answer_comparison import AnswerExample, SaidAnswer
from ...evaluation.comparison_report import FORMATS, escape_markdown, one_line
from .answer_display import MARKS, NO_ANSWER, as_line, cropped

_BOLD = ("<b>", "</b>")


class Question(Protocol):
    """What is shown of a question: `prep.qa_examples.Asked` is one.

    Args:
        text: what is asked.
        context: that it is asked about; empty if unknown.
        spans: begin and end of the gold answers in it.
    """

    text: str
    context: str

    @property
    def spans(self) -> Sequence[tuple[int, int]]: ...


def format_answer_examples(
    examples: Sequence[AnswerExample],
    questions: Mapping[str, Question],
    *,
    names: Sequence[str],
    style: str = "text",
) -> str:
    """Render examples.

    Args:
        examples: what to show, in this order.
        questions: id -> its text and context.
        names: of the systems.
        style: ``text``, ``markdown`` or ``tsv``.

    Raises:
        ValueError: unknown style.
    """
    if style not in FORMATS:
        raise ValueError(f"style: unknown value {style!r}; choose from {', '.join(FORMATS)}")
    render = {"text": _as_text, "markdown": _as_markdown, "tsv": _as_tsv}[style]
    return "".join(f"{line}\n" for line in render(examples, questions, list(names)))


def _as_text(
    examples: Sequence[AnswerExample], questions: Mapping[str, Question], names: list[str]
) -> Iterator[str]:
    """Yield a block of lines for each question."""
    width = max(map(len, ["context", *names]))
    for example in examples:
        asked = questions[example.id]
        yield f"question {as_line(example.id)}: {as_line(asked.text)}"
        if asked.context:
            before, shown, after = _cropped(example, asked)
            marked = f"{MARKS[0]}{as_line(shown)}{MARKS[1]}" if shown else ""
            yield f"  {'context':<{width}}  {as_line(before)}{marked}{as_line(after)}"
        yield f"  {'gold':<{width}}  {' | '.join(_golds(example))}"
        for name, said in zip(names, example.said):
            verdict = "right" if said.exact else "wrong"
            yield f"  {name:<{width}}  {verdict}  {_shown(said)}  (F1 {100 * said.f1:.1f})"
        yield ""


def _as_markdown(
    examples: Sequence[AnswerExample], questions: Mapping[str, Question], names: list[str]
) -> Iterator[str]:
    """Yield a table, one row a question; what is wrong is struck out."""
    heads = ["Context and question", "Gold", *map(escape_markdown, names)]
    yield f"| # | {' | '.join(heads)} |"
    yield f"|{'---|' * (len(heads) + 1)}"
    for example in examples:
        asked = questions[example.id]
        before, shown, after = map(_escaped, _cropped(example, asked))
        marked = f"{_BOLD[0]}{shown}{_BOLD[1]}" if shown else ""
        text = _escaped(asked.text)
        told = f"{before}{marked}{after}<br>{text}" if asked.context else text
        cells = [_escaped(example.id), told, _escaped(" | ".join(_golds(example)))]
        for said in example.said:
            answer = _escaped(_shown(said))
            cells.append(answer if said.exact else f"<s>{answer}</s>")
        yield f"| {' | '.join(cells)} |"


def _as_tsv(
    examples: Sequence[AnswerExample], questions: Mapping[str, Question], names: list[str]
) -> Iterator[str]:
    """Yield a header and one row a question; no answer is an empty cell."""
    heads = [f"{name} {what}" for name in names for what in ("answer", "exact", "F1")]
    yield "\t".join(map(one_line, ["id", "question", "gold", "gap", *heads, "context"]))
    for example in examples:
        asked = questions[example.id]
        cells = [example.id, asked.text, " | ".join(dict.fromkeys(example.golds))]
        cells.append(f"{example.gap:.2f}")
        for said in example.said:
            cells += [said.text, f"{said.exact:g}", f"{said.f1:.4f}"]
        yield "\t".join(map(_cell, [*cells, asked.context]))


def _escaped(text: str) -> str:
    return escape_markdown(as_line(text))


def _cell(text: str) -> str:
    """Return a text that a cell and a file can hold: no breaks, no halves of characters."""
    return one_line(text).encode("utf-8", "replace").decode()


def _golds(example: AnswerExample) -> list[str]:
    """Return the different gold answers."""
    return [as_line(text) for text in dict.fromkeys(example.golds)] or [NO_ANSWER]


def _shown(said: SaidAnswer) -> str:
    return as_line(said.text) if said.text else NO_ANSWER


def _cropped(example: AnswerExample, asked: Question) -> tuple[str, str, str]:
    """Return the context before a gold answer, the answer, and the context behind it.

    Where no gold answer stands in the context, all of what is shown is before, and what a system
    said decides where it is cut out.
    """
    for begin, end in asked.spans:
        return cropped(asked.context, begin, end)
    told = next(
        (said.text for said in example.said if said.text and said.text in asked.context), ""
    )
    begin = asked.context.index(told)
    return "".join(cropped(asked.context, begin, begin + len(told))), "", ""

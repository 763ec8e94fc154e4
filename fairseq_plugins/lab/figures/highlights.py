"""Pairs of sentences with their most different words highlighted, as text and as an HTML page.

Nothing here opens a checkpoint; Wang et al. 2022, "DABERT", section 4.4, shows such cases. The page
needs nothing beside itself, and shows every text as it is, whatever stands in it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from .highlight_page import PAGE

HIT = ("{+", "+}")  # as in compare_predictions
COLOR = ("\x1b[1;31m", "\x1b[0m")
VERDICTS = {True: "right", False: "wrong", None: ""}
UNSEEN = frozenset(("Cc", "Cs", "Zl", "Zp"))  # controls, halves of characters, line separators


@dataclass(frozen=True)
class Answer:
    """What a system says about a pair.

    Args:
        system: its name.
        text: what it says.
        right: whether that is true; None where nobody knows.
    """

    system: str
    text: str
    right: bool | None = None


@dataclass(frozen=True)
class Sentence:
    """A sentence whose words have strengths.

    Args:
        text: as it was given.
        spans: begin and end of each of W words in it, in order.
        strengths: of each word, at least 0.
    """

    text: str
    spans: Sequence[tuple[int, int]]
    strengths: Sequence[float]

    def top(self, count: int) -> set[int]:
        """Return the numbers of the strongest words, at most ``count``; of equals the first.

        Punctuation is none of them, however strong it is.
        """
        words = [word for part, word in self.parts() if word is not None and not _punctuation(part)]
        order = sorted(words, key=lambda word: -self.strengths[word])
        return {word for word in order[:count] if self.strengths[word] > 0}

    def parts(self) -> Iterator[tuple[str, int | None]]:
        """Yield the text in parts, each with the number of its word, or None between words."""
        at = 0
        for word, (begin, end) in enumerate(self.spans):
            begin = max(begin, at)
            if begin > at:
                yield self.text[at:begin], None
            at = max(begin, end)
            if at > begin:
                yield self.text[begin:at], word
        if at < len(self.text):
            yield self.text[at:], None

    def words(self) -> list[tuple[str, float]]:
        """Return each word with its strength."""
        return [(part, self.strengths[word]) for part, word in self.parts() if word is not None]


@dataclass(frozen=True)
class Case:
    """A pair of sentences and what systems say about it.

    Args:
        id: the pair's.
        answers: of one system or more; the strengths are those of the first.
        sentences: both of them.
        gold: the true answer, where it is known.
    """

    id: str
    answers: Sequence[Answer]
    sentences: Sequence[Sentence]
    gold: str | None = None


def as_text(case: Case, count: int, *, color: bool = False) -> str:
    """Render a case for a terminal: ``{+so+}`` marks a word.

    Args:
        case: what to show.
        count: how many words of a sentence to mark.
        color: whether marks are coloured, too.
    """
    gold = "" if case.gold is None else f"  gold {visible(case.gold)}"
    lines = [f"pair {visible(case.id)}{gold}"]
    width = max(len(answer.system) for answer in case.answers)
    for answer in case.answers:
        told = [f"{answer.system:<{width}}", answer.text, VERDICTS[answer.right]]
        lines.append("  " + visible("  ".join(told)).rstrip())
    for number, sentence in enumerate(case.sentences, start=1):
        strengths = [f"{visible(word)} {100 * value:.2f}" for word, value in sentence.words()]
        lines.append(f"  {number}  {_marked(sentence, count, color)}")
        lines.append(f"     {'  '.join(strengths)}")
    return "".join(f"{line}\n" for line in [*lines, ""])


def _marked(sentence: Sentence, count: int, color: bool) -> str:
    before, after = HIT
    if color:
        before, after = COLOR[0] + before, after + COLOR[1]
    top = sentence.top(count)
    return "".join(
        f"{before}{visible(part)}{after}" if word in top else visible(part)
        for part, word in sentence.parts()
    )


def as_page(cases: Sequence[Case], facts: Mapping[str, str], count: int) -> str:
    """Render cases as one HTML page that needs no other file.

    Args:
        cases: what to show.
        facts: what the header says, e.g. the checkpoint's path under ``Checkpoint``.
        count: how many words of a sentence to mark.
    """
    rows = [f"<dt>{html(name)}</dt><dd>{html(value)}</dd>" for name, value in facts.items()]
    return PAGE.substitute(
        facts="\n".join(rows),
        cases="\n".join(_case(case, count) for case in cases) or "<p>No pairs.</p>",
    )


def _case(case: Case, count: int) -> str:
    """Return an article; its words are as dark as they are strong beside the strongest of them."""
    top = max((value for s in case.sentences for value in s.strengths), default=0.0) or 1.0
    gold = "" if case.gold is None else f"<li>gold <b>{html(case.gold)}</b></li>"
    return "\n".join(
        [
            f"<article>\n<h2>Pair {html(case.id)}</h2>",
            f'<ul class="answers">{"".join(map(_answer, case.answers))}{gold}</ul>',
            *(_shaded(sentence, count, top) for sentence in case.sentences),
            "<details><summary>All words</summary>",
            *(_table(sentence) for sentence in case.sentences),
            "</details>\n</article>",
        ]
    )


def _answer(answer: Answer) -> str:
    verdict = VERDICTS[answer.right]
    said = f' <span class="{verdict}">{verdict}</span>' if verdict else ""
    return f"<li>{html(answer.system)} <b>{html(answer.text)}</b>{said}</li>"


def _shaded(sentence: Sentence, count: int, top: float) -> str:
    marked = sentence.top(count)
    found = []
    for part, word in sentence.parts():
        if word is None:
            found.append(html(part))
            continue
        value = sentence.strengths[word]
        name = "mark" if word in marked else "span"
        style = f'style="--s:{value / top:.3f}" title="{100 * value:.2f} %"'
        found.append(f"<{name} {style}>{html(part)}</{name}>")
    return f'<p class="sentence" dir="auto">{"".join(found)}</p>'


def _table(sentence: Sentence) -> str:
    rows = (f"<tr><td>{html(w)}</td><td>{100 * v:.2f}</td></tr>" for w, v in sentence.words())
    return f"<table><tr><th>word</th><th>%</th></tr>{''.join(rows)}</table>"


def _punctuation(text: str) -> bool:
    return all(unicodedata.category(char).startswith("P") for char in text)


def visible(text: str) -> str:
    """Return text without anything that moves a cursor or ends a line."""
    return "".join(
        " " if char.isspace() else "\ufffd" if unicodedata.category(char) in UNSEEN else char
        for char in text
    )


def html(text: str) -> str:
    """Return text as HTML shows it."""
    return escape(visible(text))

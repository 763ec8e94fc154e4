"""Pairs of sentences with their most different words highlighted, as text and as an HTML page.

Nothing here opens a checkpoint; Wang et al. 2022, "DABERT", section 4.4, shows such cases. The page
needs nothing beside itself, and shows every text as it is, whatever stands in it.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .predictions import SCORE, Prediction
from .shown_text import visible
from .templates import render

HIT = ("{+", "+}")  # as in `contrast_report`
COLOR = ("\x1b[1;31m", "\x1b[0m")


@dataclass(frozen=True)
class SentenceStrengths:
    """A sentence and how different its words are from the other one.

    Args:
        text: as it was given.
        spans: begin and end of each of its W words in it, in order.
        strengths: of each word, at least 0, (W,); 0 for words beyond what the model reads.
    """

    text: str
    spans: Sequence[tuple[int, int]]
    strengths: Sequence[float] | np.ndarray

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
        predictions: of one system or more by their names; the strengths, the id and the true
            answer are those of the first, as others may read raw text.
        sentences: both of them.
    """

    predictions: Sequence[tuple[str, Prediction]]
    sentences: Sequence[SentenceStrengths]

    @property
    def first(self) -> Prediction:
        """What the first system says."""
        return self.predictions[0][1]

    @property
    def gold(self) -> str:
        """The true answer as people read it; empty if unknown."""
        gold = self.first.gold
        return "" if gold is None else self.first.shown(str(gold))

    @property
    def texts(self) -> tuple[str, ...]:
        """Both sentences as they were given."""
        return tuple(sentence.text for sentence in self.sentences)

    @property
    def answers(self) -> Iterator[tuple[str, str, str]]:
        """Each system, what it says, and whether that is right or wrong; empty if unknown."""
        gold = self.first.gold
        for system, made in self.predictions:
            if made.target == SCORE:
                yield system, f"{made.score:.3f}", ""
            else:
                verdict = "right" if made.label == gold else "wrong"
                said = f"{made.shown(made.label)} {made.probability:.3f}"
                yield system, said, "" if gold is None else verdict

    @property
    def strongest(self) -> float:
        """The strength of the strongest word, 1 where none has any."""
        return max((value for s in self.sentences for value in s.strengths), default=0.0) or 1.0


def as_text(case: Case, count: int, *, color: bool = False) -> str:
    """Render a case for a terminal: ``{+so+}`` marks a word.

    Args:
        case: what to show.
        count: how many words of a sentence to mark.
        color: whether marks are coloured, too.
    """
    gold = f"  gold {visible(case.gold)}" if case.gold else ""
    lines = [f"pair {visible(case.first.id)}{gold}"]
    width = max(len(system) for system, _ in case.predictions)
    for system, *told in case.answers:
        lines.append("  " + visible("  ".join([f"{system:<{width}}", *told])).rstrip())
    for number, sentence in enumerate(case.sentences, start=1):
        strengths = [f"{visible(word)} {100 * value:.2f}" for word, value in sentence.words()]
        lines.append(f"  {number}  {_marked(sentence, count, color)}")
        lines.append(f"     {'  '.join(strengths)}")
    return "".join(f"{line}\n" for line in [*lines, ""])


def _marked(sentence: SentenceStrengths, count: int, color: bool) -> str:
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
    return render("highlights.html", cases=cases, facts=facts, count=count)


def _punctuation(text: str) -> bool:
    return all(unicodedata.category(char).startswith("P") for char in text)

"""A sentence with its words, and edits of its characters that leave everything else as it was."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from ...syntax.subwords import Span
from ..english_forms import in_case_of, indefinite

ARTICLES = ("a", "an")
SPACED = re.compile(r"\S\s[.,;:?!]")  # "ecliptic ." as tokenised corpora write it
CLOSED = re.compile(r"[.?!…][\"'”’)\]]*\s*$")


@dataclass(frozen=True)
class Sentence:
    """A raw sentence.

    Args:
        text: its characters.
        words: W words; none where nothing annotated it.
        upos: W coarse parts of speech.
        spans: W places of the words, in characters.
    """

    text: str
    words: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()

    def lower(self, i: int) -> str:
        """Return word ``i`` in lower case; outside the sentence, an empty one."""
        return self.words[i].lower() if 0 <= i < len(self.words) else ""

    def part(self, i: int) -> str:
        """Return the part of speech of word ``i``; outside the sentence, an empty one."""
        return self.upos[i] if 0 <= i < len(self.upos) else ""


class Edit(NamedTuple):
    """Characters from ``first`` to before ``last`` become ``text``."""

    first: int
    last: int
    text: str


def rewrite(text: str, edits: Iterable[Edit]) -> str:
    """Make edits that do not overlap; equal ones are made once."""
    for first, last, put in sorted(set(edits), reverse=True):
        text = text[:first] + put + text[last:]
    return text


def replacing(sentence: Sentence, i: int, word: str) -> list[Edit]:
    """Put ``word`` in the place of word ``i``; ``a`` or ``an`` before it follows its sound."""
    first, last = sentence.spans[i]
    edits = [Edit(first, last, word)]
    article = sentence.lower(i - 1)
    if i and article in ARTICLES and indefinite(word) != article:
        put = in_case_of(indefinite(word), sentence.words[i - 1])
        edits.append(Edit(*sentence.spans[i - 1], put))
    return edits


def inserting(sentence: Sentence, i: int, word: str) -> Edit:
    """Put ``word`` before word ``i``."""
    first = sentence.spans[i][0]
    return Edit(first, first, f"{word} ")


def appending(text: str, sentence: str) -> Edit:
    """Add a sentence at the end; a text that ends openly is closed by a full stop."""
    end = len(text.rstrip())
    stop = "" if CLOSED.search(text) else " ." if SPACED.search(text) else "."
    return Edit(end, end, f"{stop} {as_written(sentence, text)}")


def as_written(sentence: str, text: str) -> str:
    """Set punctuation off by blanks where ``text`` does."""
    return re.sub(r"([.,;:?!])", r" \1", sentence) if SPACED.search(text) else sentence

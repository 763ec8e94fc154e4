"""Sentences with their words, pairs of them, and edits that leave all other characters alone."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from ...syntax.subwords import Span
from ..english_forms import in_case_of, indefinite

ARTICLES = ("a", "an")
SPACED = re.compile(r"\S\s[.,;:?!]")  # "ecliptic ." as tokenised corpora write it
NUMBERS = {"first": (0,), "second": (1,), "both": (0, 1)}  # which sentences are changed
CLOSED = re.compile(r"[.?!…][\"'”’)\]]*\s*$")


@dataclass(frozen=True)
class TaggedSentence:
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


Pair = tuple[TaggedSentence, TaggedSentence]
Name = tuple[str, ...]


class Edit(NamedTuple):
    """Characters from ``first`` to before ``last`` become ``text``; ``what`` tells of it."""

    first: int
    last: int
    text: str
    what: str = ""


class Change(NamedTuple):
    """What became of a pair.

    Args:
        texts: both sentences as they are now.
        what: what was done, in short.
        label: gold label that it has now.
    """

    texts: tuple[str, str]
    what: tuple[str, ...]
    label: str = ""


@dataclass(frozen=True)
class Names:
    """The names of a file.

    Args:
        words: of which they consist.
        places: those that are places.
        others: (number of words, whether a place) -> names, sorted.
    """

    words: Collection[str] = frozenset()
    places: Collection[Name] = frozenset()
    others: Mapping[tuple[int, bool], list[Name]] = field(default_factory=dict)


@dataclass(frozen=True)
class Resources:
    """What transformations draw on, in addition to the pair.

    Args:
        wordnet: for words of opposite and of equal meaning.
        names: those of the file.
        translated: sentences -> what they are after translation there and back.
    """

    wordnet: Any = None  # a `WordNet`, where transformations need one
    names: Names = field(default_factory=Names)
    translated: Mapping[str, str] = field(default_factory=dict)


# pair, numbers of the sentences to change, randomness, resources -> None where nothing applies
Rule = Callable[[Pair, Sequence[int], Random, Resources], "Change | None"]


def rewrite(text: str, edits: Iterable[Edit]) -> str:
    """Make edits that do not overlap; equal ones are made once."""
    for first, last, put, _ in sorted(set(edits), reverse=True):
        text = text[:first] + put + text[last:]
    return text


def replacing(sentence: TaggedSentence, i: int, word: str) -> list[Edit]:
    """Put ``word`` in the place of word ``i``; ``a`` or ``an`` before it follows its sound."""
    edits = [Edit(*sentence.spans[i], word, f"{sentence.words[i]} -> {word}")]
    article = sentence.lower(i - 1)
    if i and article in ARTICLES and indefinite(word) != article:
        put = in_case_of(indefinite(word), sentence.words[i - 1])
        edits.append(Edit(*sentence.spans[i - 1], put))
    return edits


def exchanging(sentence: TaggedSentence, other: Callable[[str], str | None]) -> list[Edit]:
    """Put other words in the places of all that have one; each exchange is told of once."""
    edits, told = [], {""}
    for span, word in zip(sentence.spans, sentence.words):
        if new := other(word):
            what = f"{word} -> {new}"
            edits.append(Edit(*span, new, "" if what in told else what))
            told.add(what)
    return edits


def appending(text: str, sentence: str) -> Edit:
    """Add a sentence at the end; a text that ends openly is closed by a full stop."""
    end = len(text.rstrip())
    stop = "" if CLOSED.search(text) else " ." if SPACED.search(text) else "."
    return Edit(end, end, f"{stop} {as_written(sentence, text)}", f"+ {sentence}")


def as_written(sentence: str, text: str) -> str:
    """Set punctuation off by blanks where ``text`` does."""
    return re.sub(r"([.,;:?!])", r" \1", sentence) if SPACED.search(text) else sentence


def changed(pair: Pair, edits: Mapping[int, Sequence[Edit]]) -> Change | None:
    """Edit sentences of a pair by their numbers; None where that changes nothing."""
    first, second = (rewrite(one.text, edits.get(n, ())) for n, one in enumerate(pair))
    if (first, second) == (pair[0].text, pair[1].text):
        return None
    return Change((first, second), tuple(e.what for made in edits.values() for e in made if e.what))


def each(rule: Callable[[TaggedSentence, Random], Sequence[Edit]]) -> Rule:
    """Make a rule for pairs of one for sentences: each is edited on its own."""

    def apply(pair: Pair, numbers: Sequence[int], random: Random, _: Resources) -> Change | None:
        return changed(pair, {number: rule(pair[number], random) for number in numbers})

    return apply


def one_exchanged(
    pair: Pair, places: list[int], random: Random, other: Callable[[int], str | None]
) -> Change | None:
    """Set the second sentence to the first, but for a random one of its words.

    Args:
        places: of the words that may be exchanged.
        other: place -> another word; None where there is none.
    """
    first, second = pair
    random.shuffle(places)
    for i in places:
        word = other(i)
        edits = replacing(first, i, word) if word else []
        text = rewrite(first.text, edits) if word else second.text
        if text != second.text:
            return Change((first.text, text), (edits[0].what,))
    return None

"""Sentences with their words, pairs, and edits that leave all other characters unchanged."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from ...syntax.subwords import Span
from ..english_forms import in_case_of, indefinite

ARTICLES = ("a", "an")
SPACED = re.compile(r"\S\s[.,;:?!]")  # "ecliptic ." as in tokenised corpora
NUMBERS = {"first": (0,), "second": (1,), "both": (0, 1)}  # sentences to change
CLOSED = re.compile(r"[.?!…][\"'”’)\]]*\s*$")


@dataclass(frozen=True)
class TaggedSentence:
    """A raw sentence."""

    text: str  # its characters
    words: tuple[str, ...] = ()  # W words; empty without annotation
    upos: tuple[str, ...] = ()  # W coarse parts of speech
    spans: tuple[Span, ...] = ()  # W places of the words, in characters

    def lower(self, i: int) -> str:
        """Return word ``i`` in lower case; empty outside the sentence."""
        return self.words[i].lower() if 0 <= i < len(self.words) else ""

    def part(self, i: int) -> str:
        """Return the part of speech of word ``i``; empty outside the sentence."""
        return self.upos[i] if 0 <= i < len(self.upos) else ""


Pair = tuple[TaggedSentence, TaggedSentence]
Name = tuple[str, ...]


class Edit(NamedTuple):
    """Characters from ``first`` to before ``last`` become ``text``; ``what`` describes the edit."""

    first: int
    last: int
    text: str
    what: str = ""


class Change(NamedTuple):
    """The result for a pair."""

    texts: tuple[str, str]  # both sentences after the change
    what: tuple[str, ...]  # short descriptions of the edits
    label: str = ""  # new gold label


@dataclass(frozen=True)
class Names:
    """The names of a file."""

    words: Collection[str] = frozenset()  # all words in names
    places: Collection[Name] = frozenset()  # names of places
    # (number of words, whether a place) -> names, sorted
    others: Mapping[tuple[int, bool], list[Name]] = field(default_factory=dict)


@dataclass(frozen=True)
class Resources:
    """Sources of transformations in addition to the pair."""

    # for antonyms and synonyms
    wordnet: Any = None  # a `WordNet`, if needed
    names: Names = field(default_factory=Names)  # of the file
    # sentences -> their translations there and back
    translated: Mapping[str, str] = field(default_factory=dict)


# pair, numbers of the sentences to change, randomness, resources -> None if it does not apply
Rule = Callable[[Pair, Sequence[int], Random, Resources], "Change | None"]


def rewrite(text: str, edits: Iterable[Edit]) -> str:
    """Apply edits that do not overlap; equal ones once."""
    for first, last, put, _ in sorted(set(edits), reverse=True):
        text = text[:first] + put + text[last:]
    return text


def replacing(sentence: TaggedSentence, i: int, word: str) -> list[Edit]:
    """Replace word ``i`` by ``word``; ``a`` or ``an`` before it follows its sound."""
    edits = [Edit(*sentence.spans[i], word, f"{sentence.words[i]} -> {word}")]
    article = sentence.lower(i - 1)
    if i and article in ARTICLES and indefinite(word) != article:
        put = in_case_of(indefinite(word), sentence.words[i - 1])
        edits.append(Edit(*sentence.spans[i - 1], put))
    return edits


def exchanging(sentence: TaggedSentence, other: Callable[[str], str | None]) -> list[Edit]:
    """Replace all words that have another word; each replacement is described once."""
    edits, told = [], {""}
    for span, word in zip(sentence.spans, sentence.words):
        if new := other(word):
            what = f"{word} -> {new}"
            edits.append(Edit(*span, new, "" if what in told else what))
            told.add(what)
    return edits


def appending(text: str, sentence: str) -> Edit:
    """Add a sentence at the end, after a full stop if the text lacks one."""
    end = len(text.rstrip())
    stop = "" if CLOSED.search(text) else " ." if SPACED.search(text) else "."
    return Edit(end, end, f"{stop} {as_written(sentence, text)}", f"+ {sentence}")


def as_written(sentence: str, text: str) -> str:
    """Separate punctuation by blanks if ``text`` does."""
    return re.sub(r"([.,;:?!])", r" \1", sentence) if SPACED.search(text) else sentence


def changed(pair: Pair, edits: Mapping[int, Sequence[Edit]]) -> Change | None:
    """Edit sentences of a pair by their numbers; None if nothing changes."""
    first, second = (rewrite(one.text, edits.get(n, ())) for n, one in enumerate(pair))
    if (first, second) == (pair[0].text, pair[1].text):
        return None
    return Change((first, second), tuple(e.what for made in edits.values() for e in made if e.what))


def each(rule: Callable[[TaggedSentence, Random], Sequence[Edit]]) -> Rule:
    """Return a rule for pairs that applies a rule for sentences to each."""

    def apply(pair: Pair, numbers: Sequence[int], random: Random, _: Resources) -> Change | None:
        return changed(pair, {number: rule(pair[number], random) for number in numbers})

    return apply


def one_exchanged(
    pair: Pair, places: list[int], random: Random, other: Callable[[int], str | None]
) -> Change | None:
    """Set the second sentence to the first, with a random word replaced."""
    first, second = pair
    random.shuffle(places)
    for i in places:
        word = other(i)
        edits = replacing(first, i, word) if word else []
        text = rewrite(first.text, edits) if word else second.text
        if text != second.text:
            return Change((first.text, text), (edits[0].what,))
    return None

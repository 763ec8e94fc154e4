"""What every transformation is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from ...text.wordnet import WordNet
from .name_lists import Names
from .sentences import Edit, Sentence, replacing, rewrite

Pair = tuple[Sentence, Sentence]
NUMBERS = {"first": (0,), "second": (1,), "both": (0, 1)}  # which sentences are changed


class Change(NamedTuple):
    """What became of a pair.

    Args:
        texts: both sentences as they are now.
        what: what was done, in short.
    """

    texts: tuple[str, str]
    what: tuple[str, ...]


class Rewriting(NamedTuple):
    """What is to become of a sentence: edits, and what they do, in short."""

    edits: list[Edit]
    what: list[str]


@dataclass(frozen=True)
class Resources:
    """What transformations draw on, in addition to the pair.

    Args:
        wordnet: for words of opposite and of equal meaning.
        names: those of the file.
        translated: sentences -> what they are after translation there and back.
    """

    wordnet: WordNet | None = None
    names: Names = field(default_factory=Names)
    translated: Mapping[str, str] = field(default_factory=dict)


# pair, numbers of the sentences to change, randomness, resources -> None where nothing applies
Rule = Callable[[Pair, Sequence[int], Random, Resources], "Change | None"]
SentenceRule = Callable[[Sentence, Random], "Rewriting | None"]


def changed(pair: Pair, rewritings: Mapping[int, Rewriting | None]) -> Change | None:
    """Rewrite sentences of a pair by their numbers; None where that changes nothing."""
    texts, what = [sentence.text for sentence in pair], []
    for number, rewriting in rewritings.items():
        if rewriting is not None:
            texts[number] = rewrite(texts[number], rewriting.edits)
            what += rewriting.what
    same = all(text == sentence.text for text, sentence in zip(texts, pair))
    return None if same else Change((texts[0], texts[1]), tuple(what))


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
        text = rewrite(first.text, replacing(first, i, word)) if word else second.text
        if text != second.text:
            return Change((first.text, text), (f"{first.words[i]} -> {word}",))
    return None


def exchanging(sentence: Sentence, words: Mapping[int, str]) -> Rewriting:
    """Put other words in the places of some."""
    edits = [Edit(*sentence.spans[i], word) for i, word in words.items()]
    what = dict.fromkeys(f"{sentence.words[i]} -> {word}" for i, word in words.items())
    return Rewriting(edits, list(what))


def each(rule: SentenceRule) -> Rule:
    """Make a rule for pairs of one for sentences: each is rewritten on its own."""

    def apply(
        pair: Pair, numbers: Sequence[int], random: Random, resources: Resources
    ) -> Change | None:
        return changed(pair, {number: rule(pair[number], random) for number in numbers})

    return apply

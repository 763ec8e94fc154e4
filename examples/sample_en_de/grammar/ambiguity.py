"""Which English words have more than one part of speech here, and how German tells them apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .entries import Lexicon, Verb, Word
from .inflection import entry_forms
from .text import Line

LIKE = Word("like", "ADP", "preposition:like")


class Occurrence(NamedTuple):
    """An ambiguous word in a sentence pair.

    ``word`` is its base form, ``start`` its character offset, ``german`` the word that translates
    it, ``forms`` all German forms of this reading, ``count`` how many words of the German sentence
    are among them.
    """

    word: str
    surface: str
    start: int
    upos: str
    german: str
    forms: tuple[str, ...]
    count: int


def verb_words(verb: Verb) -> Iterator[Word]:
    """Yield the English forms that carry the verb's key."""
    if not verb.marks_particle:
        for text in (*verb.english, *(("are", "were") if verb.key == "verb:be" else ())):
            yield Word(text, "AUX" if verb.key == "verb:be" else "VERB", verb.key)
    elif verb.particle:
        yield verb.particle


def english_words(lexicon: Lexicon) -> Iterator[Word]:
    """Yield every English word form with a part of speech and the key of its entry."""
    for noun in lexicon.nouns.values():
        yield from (*noun.singular, *noun.plural)
    for verb in lexicon.verbs.values():
        yield from verb_words(verb)
    for adjective in lexicon.adjectives:
        yield Word(adjective.english, adjective.upos, adjective.key)
    for phrase in lexicon.phrases:
        yield from phrase.english
    yield LIKE


class Ambiguity:
    """The readings of every word form, with the German forms of each."""

    def __init__(self, lexicon: Lexicon) -> None:
        forms = entry_forms(lexicon)
        forms[LIKE.key] = {"wie"}
        self.readings: dict[str, dict[str, set[str]]] = {}  # word form -> part of speech -> forms
        self.keys: dict[tuple[str, str], set[str]] = {}
        words = [word for word in english_words(lexicon) if word.key]
        for word in words:
            readings = self.readings.setdefault(word.text.lower(), {})
            readings.setdefault(word.upos, set()).update(forms[word.key])
        self.words = {text for text, found in self.readings.items() if len(found) > 1}
        for word in words:
            if word.text.lower() in self.words:
                target = self.base(word.text.lower()), word.upos
                self.keys.setdefault(target, set()).add(word.key)

    def entries(self) -> frozenset[str]:
        """The keys of all entries with an ambiguous form."""
        return frozenset().union(*self.keys.values())

    def base(self, surface: str) -> str:
        """The form without a plural or third-person ending, if that is ambiguous too."""
        for ending, instead in (("s", ""), ("es", ""), ("ies", "y")):
            shorter = surface.removesuffix(ending) + instead
            if surface.endswith(ending) and shorter in self.words:
                return shorter
        return surface

    def is_ambiguous(self, word: Word) -> bool:
        """True if the word form has several readings and this is a use of one of them."""
        return bool(word.key) and word.text.lower() in self.words

    def targets(self) -> list[tuple[str, str, list[str]]]:
        """List each ambiguous word (base form), part of speech, and keys of the entries."""
        return [(*target, sorted(self.keys[target])) for target in sorted(self.keys)]

    def occurrences(self, english: Line, german: Line) -> list[Occurrence]:
        """List the ambiguous words of a sentence pair."""
        found = []
        translated: dict[str, list[str]] = {}
        for _, word in german.words:
            translated.setdefault(word.key, []).append(word.text)
        german_word, last = "", ""
        for start, word in english.words:
            if word.key and word.key != last:
                german_word = translated[word.key].pop(0)
            last = word.key
            if not self.is_ambiguous(word):
                continue
            forms = self.readings[word.text.lower()][word.upos]
            count = sum(matches(item.text, start < 2, forms) for start, item in german.words)
            found.append(
                Occurrence(
                    self.base(word.text.lower()),
                    word.text,
                    start,
                    word.upos,
                    german_word,
                    tuple(sorted(forms)),
                    count,
                )
            )
        return found


def matches(text: str, first: bool, forms: set[str]) -> bool:
    """True if a German word is one of ``forms``; the first of a sentence may be capitalised."""
    return text in forms or (first and text[:1].lower() + text[1:] in forms)

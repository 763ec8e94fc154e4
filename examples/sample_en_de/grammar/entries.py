"""The entries of the lexicon: every form that English and German need, nothing guessed.

An entry's ``key`` ties an English word of a sentence to the German word that translates it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Word(NamedTuple):
    """A word of a sentence: spelling, part of speech, key of the entry it comes from."""

    text: str
    upos: str = ""
    key: str = ""


@dataclass(frozen=True)
class Noun:
    """A noun; ``singular`` and ``plural`` are English words with their parts of speech."""

    key: str
    singular: tuple[Word, ...]
    plural: tuple[Word, ...]
    german: str
    gender: str
    german_plural: str
    oblique: str
    genitive: str
    determiners: str
    tags: frozenset[str]


@dataclass(frozen=True)
class Verb:
    """A verb. ``english``: base, he, past, participle, -ing; ``german``: infinitive without
    prefix, er, past, participle."""

    key: str
    english: tuple[str, ...]
    particle: Word | None
    particle_first: bool
    prefix: str
    german: tuple[str, ...]
    auxiliary: str

    @property
    def shows_past(self) -> bool:
        """True if the English past differs from the base form (not so "read")."""
        return self.english[0] != self.english[2]

    @property
    def marks_particle(self) -> bool:
        """True if the particle, not the verb, is what the German prefix translates."""
        return self.particle is not None and not self.particle_first


@dataclass(frozen=True)
class Modal:
    """``will`` or a modal verb: English form; German infinitive, er."""

    key: str
    english: str
    german: tuple[str, ...]
    negatable: bool


@dataclass(frozen=True)
class Adjective:
    """An adjective (or a material noun used as one).

    ``predicate`` is empty for those that only stand before nouns, ``attribute`` false for those
    that never do.
    """

    key: str
    english: str
    predicate: str
    stem: str
    upos: str
    tags: frozenset[str]
    attribute: bool
    determiners: frozenset[str]


@dataclass(frozen=True)
class Phrase:
    """A fixed adverbial in both languages."""

    kind: str
    group: str
    english: tuple[Word, ...]
    german: tuple[Word, ...]


@dataclass(frozen=True)
class Slot:
    """What a verb takes: ``kind`` is acc, dat, prep, at, to, city, adjective, job or a clause."""

    kind: str
    tags: frozenset[str] = frozenset()
    english: str = ""
    german: str = ""
    case: str = ""


@dataclass(frozen=True)
class Frame:
    """One use of a verb: who does it, to what, with which adverbials."""

    verb: Verb
    subjects: frozenset[str]
    slots: tuple[Slot, ...]
    uses: frozenset[str]

    def has(self, *kinds: str) -> bool:
        """True if it has a slot of one of these kinds."""
        return any(slot.kind in kinds for slot in self.slots)

    def takes(self, noun: Noun) -> bool:
        """True if the noun may be an object."""
        return any(slot.case and slot.tags & noun.tags for slot in self.slots)

    def marked(self, sign: str) -> list[str]:
        """The uses that start with a sign, without it, sorted."""
        return sorted(use[1:] for use in self.uses if use.startswith(sign))


@dataclass(frozen=True)
class PlaceName:
    """A preposition with the noun it goes with."""

    groups: frozenset[str]
    english: str
    german: str
    case: str
    noun: Noun


@dataclass
class Lexicon:
    """All tables."""

    nouns: dict[str, Noun]
    verbs: dict[str, Verb]
    modals: dict[str, Modal]
    adjectives: list[Adjective]
    phrases: list[Phrase]
    frames: list[Frame]
    places: list[PlaceName]
    by_tag: dict[str, list[Noun]] = field(default_factory=dict)
    _by_tags: dict[frozenset[str], list[Noun]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for noun in self.nouns.values():
            for tag in sorted(noun.tags):
                self.by_tag.setdefault(tag, []).append(noun)

    def nouns_of(self, tags: frozenset[str]) -> list[Noun]:
        """Return the nouns that carry one of ``tags``, in the order of the table."""
        if tags not in self._by_tags:
            self._by_tags[tags] = [n for n in self.nouns.values() if n.tags & tags]
        return self._by_tags[tags]

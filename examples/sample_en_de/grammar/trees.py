"""Abstract sentences: what is said, before either language says it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .entries import Adjective, Frame, Modal, Noun, Phrase, PlaceName, Slot

PRONOUNS = ("he", "she", "we", "they")


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun, named by its English nominative."""

    name: str


@dataclass(frozen=True)
class Name:
    """A person or a town: the same in both languages unless ``german`` says otherwise."""

    english: str
    german: str
    female: bool = False


@dataclass(frozen=True)
class NounPhrase:
    """A noun with what belongs to it.

    ``determiner``: the, a, this, bare, no, some, many, a possessive (my, her, ...) or a number
    (two, ...); a plural with ``a`` does not exist. ``owner`` replaces the determiner in English.
    """

    noun: Noun
    plural: bool = False
    determiner: str = "the"
    adjective: Adjective | None = None
    owner: NounPhrase | Name | None = None
    place: Place | None = None
    relative: Relative | None = None


@dataclass(frozen=True)
class Both:
    """Two phrases joined by "and"."""

    first: Nominal
    second: Nominal


Nominal = Pronoun | Name | NounPhrase | Both


@dataclass(frozen=True)
class Place:
    """A preposition and its noun phrase."""

    name: PlaceName
    phrase: NounPhrase


@dataclass(frozen=True)
class Likeness:
    """A comparison: "like a bird"."""

    phrase: NounPhrase


@dataclass(frozen=True)
class Clause:
    """A verb with its subject, objects and adverbials.

    ``objects`` fill the slots of the frame in order; a clause slot is filled by a ``Clause``, an
    adjective slot by an ``Adjective``, a place slot by a ``Place``. ``tense``: present, past,
    perfect, progressive or modal (then ``modal`` is set; will is one of them).
    ``very`` stresses a predicate.
    """

    frame: Frame
    subject: Nominal
    objects: tuple[Filler, ...] = ()
    tense: str = "present"
    modal: Modal | None = None
    negated: bool = False
    contracted: bool = False
    very: bool = False
    time: Phrase | None = None
    often: Phrase | None = None
    span: Phrase | None = None
    manner: Phrase | Likeness | None = None
    place: Place | None = None
    purpose: Clause | None = None

    def filled(self) -> list[tuple[Slot, Filler]]:
        """Pair slots and fillers."""
        return list(zip(self.frame.slots, self.objects))


Filler = Nominal | Adjective | Place | Clause


@dataclass(frozen=True)
class Relative:
    """A relative clause; ``gap`` tells which part of it the noun is: subject or object."""

    gap: str
    clause: Clause


@dataclass(frozen=True)
class Sentence:
    """A whole sentence.

    ``kind``: statement, fronted (time or place first), there, subordinate, subordinate-first,
    joined, sharing (one subject). ``link`` is the conjunction and ``second`` the other clause,
    where there is one.
    """

    kind: str
    clause: Clause
    link: str = ""
    second: Clause | None = None


def is_plural(nominal: Nominal) -> bool:
    """True if the verb agrees in the plural."""
    if isinstance(nominal, Pronoun):
        return nominal.name in ("we", "they")
    if isinstance(nominal, NounPhrase):
        return nominal.plural
    return isinstance(nominal, Both)


def indefinite(filler: Filler) -> bool:
    """True for objects that German puts after a place ("kauft auf dem Markt einen Fisch")."""
    if isinstance(filler, Both):
        return indefinite(filler.first)
    if not isinstance(filler, NounPhrase) or filler.owner is not None:
        return False
    return filler.determiner in ("a", "bare", "no", "some", "many", *NUMBERS)


NUMBERS = {
    "two": "zwei",
    "three": "drei",
    "four": "vier",
    "five": "fünf",
    "six": "sechs",
    "seven": "sieben",
    "eight": "acht",
    "nine": "neun",
    "ten": "zehn",
    "twelve": "zwölf",
    "twenty": "zwanzig",
}


def with_no(filler: Filler) -> Filler:
    """Turn "a" and bare objects into negated ones (kein)."""
    if isinstance(filler, Both):
        return Both(with_no(filler.first), with_no(filler.second))
    return replace(filler, determiner="no") if indefinite(filler) else filler

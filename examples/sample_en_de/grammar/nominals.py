"""Draw noun phrases at random: noun, number, determiner, adjective, owner, place."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from .dice import Dice
from .english import POSSESSIVES
from .entries import Adjective, Lexicon, Noun, Verb
from .lexicon import WEATHER
from .trees import NUMBERS, PRONOUNS, Both, Name, Nominal, NounPhrase, Place, Pronoun

PEOPLE = (
    Name("Anna", "Anna", True),
    Name("Maria", "Maria", True),
    Name("Laura", "Laura", True),
    Name("Julia", "Julia", True),
    Name("Peter", "Peter"),
    Name("Paul", "Paul"),
    Name("Simon", "Simon"),
    Name("Daniel", "Daniel"),
)
CITIES = (
    Name("Berlin", "Berlin"),
    Name("Hamburg", "Hamburg"),
    Name("Vienna", "Wien"),
    Name("Cologne", "Köln"),
    Name("London", "London"),
    Name("Venice", "Venedig"),
)
SINGULAR = {"the": 48, "a": 26, "owned": 14, "this": 6, "owner": 6}
PLURAL = {"the": 20, "bare": 60, "owned": 8, "this": 6, "number": 8, "owner": 4}
PLURAL |= {"some": 3, "many": 3}
CHOICES = {
    "mass": {"the": 25, "bare": 65, "owned": 5, "this": 5},
    "owned": {"owned": 80, "owner": 20},
    "body": {"owned": 80, "owner": 20},
    "the": {"the": 1},
    "this": {"this": 1},
    "bare": {"bare": 1},
    "number": {"number": 1},
}
OWNABLE = ("", "owned", "body", "mass")
COMMON = ("", "unowned")
PLACE_ADJECTIVES = ("old", "new", "small", "big", "beautiful")
ONE_ONLY = ("first", "second", "last", "left", "right")
PERSON_TAGS = frozenset({"person", "adult", "young"})
MORE_AMBIGUOUS = 6  # by which factor more often ambiguous words fill a sentence
T = TypeVar("T", Noun, Adjective, Verb)


@dataclass
class Wish:
    """What the sentence has to contain; each part is cleared once it is placed.

    ``predicate`` asks for the adjective after "be".
    """

    noun: Noun | None = None
    adjective: Adjective | None = None
    predicate: bool = False


class NominalSampler:
    """Draws noun phrases; never the same noun twice in a sentence."""

    def __init__(self, lexicon: Lexicon, dice: Dice, ambiguous: frozenset[str]) -> None:
        self.lexicon = lexicon
        self.dice = dice
        self.ambiguous = ambiguous
        self.wish = Wish()
        self.used: set[str] = set()

    def start(self, wish: Wish) -> None:
        """Begin a sentence."""
        self.wish = wish
        self.used = {wish.noun.key} if wish.noun else set()

    def subject(self, tags: frozenset[str], wished: bool) -> Nominal:
        """Draw a subject: pronoun, name, noun phrase, or two of them."""
        if tags == {WEATHER}:
            return Pronoun("it")
        if tags & PERSON_TAGS and not wished:
            kind = self.dice.weighted({"pronoun": 10, "name": 16, "both": 4, "noun": 70})
            if kind == "pronoun":
                return Pronoun(self.dice.pick(PRONOUNS))
            if kind == "name":
                return self.somebody()
            if kind == "both":
                return Both(self.somebody(), self.phrase(tags, definite=True))
        return self.phrase(tags, wished)

    def object(self, tags: frozenset[str], wished: bool) -> Nominal:
        """Draw an object: a pronoun or name for people, else a noun phrase or two."""
        if tags & PERSON_TAGS and not wished:
            kind = self.dice.weighted({"pronoun": 25, "name": 10, "noun": 65})
            if kind == "pronoun":
                return Pronoun(self.dice.pick(PRONOUNS))
            if kind == "name":
                return self.somebody()
        first = self.phrase(tags, wished)
        if first.determiner == "bare" and first.owner is None and self.dice.chance(0.25):
            second = self.phrase(tags - PERSON_TAGS)
            if second.determiner == "bare" and second.owner is None:
                return Both(first, second)
        return first

    def phrase(
        self, tags: frozenset[str], wished: bool = False, *, definite: bool = False
    ) -> NounPhrase:
        """Draw a noun phrase whose noun carries one of ``tags``, or the wished noun."""
        noun = self.wish.noun if wished else self.noun(tags)
        self.used.add(noun.key)
        adjective = self.wish.adjective if wished and not self.wish.predicate else None
        if adjective is None and self.dice.chance(0.45):
            adjective = self.adjective(noun)
        plural = self.number(noun, adjective)
        kind = self.determiner(noun, plural, adjective, definite)
        if adjective and not self.fits(adjective, kind, noun):
            if wished and adjective is self.wish.adjective:
                kind = "owned" if "owned" in adjective.determiners else "the"
            else:
                adjective = None
        if wished:
            self.wish.noun = None
            self.wish.adjective = self.wish.adjective if self.wish.predicate else None
        return self.dressed(NounPhrase(noun, plural, kind, adjective))

    def somebody(self) -> Name:
        """Draw a person not yet named."""
        name = self.dice.pick([name for name in PEOPLE if name.english not in self.used])
        self.used.add(name.english)
        return name

    def noun(self, tags: frozenset[str]) -> Noun:
        """Draw an unused noun; LookupError if there is none."""
        found = [noun for noun in self.lexicon.nouns_of(tags) if noun.key not in self.used]
        return self.dice.pick(found) if tags & PERSON_TAGS else self.drawn(found)

    def drawn(self, entries: list[T]) -> T:
        """Draw an entry, more often one with an ambiguous form."""
        liked = [entry for entry in entries if entry.key in self.ambiguous]
        return self.dice.pick([*entries, *liked * MORE_AMBIGUOUS])

    def adjective(self, noun: Noun) -> Adjective | None:
        """Draw an adjective that suits the noun, if any does."""
        usable = [item for item in self.lexicon.adjectives if item.attribute]
        found = [item for item in usable if item.tags & noun.tags]
        return self.drawn(found) if found else None

    def number(self, noun: Noun, adjective: Adjective | None) -> bool:
        """Draw the number (True: plural)."""
        if not noun.plural or (adjective and adjective.english in ONE_ONLY):
            return False
        return noun.determiners in ("plural", "number") or self.dice.chance(0.6)

    def determiner(
        self, noun: Noun, plural: bool, adjective: Adjective | None, definite: bool
    ) -> str:
        """Draw the kind of determiner: one of English's, or owned, owner, number."""
        if definite and noun.determiners in COMMON:
            return "the"
        if adjective and adjective.determiners and noun.determiners in OWNABLE:
            return self.dice.pick(sorted(adjective.determiners))
        table = CHOICES.get(noun.determiners, PLURAL if plural else SINGULAR)
        if noun.determiners == "unowned":
            table = {kind: weight for kind, weight in table.items() if kind[:3] != "own"}
        if plural and [w.text for w in noun.plural] == [w.text for w in noun.singular]:
            table = {kind: table[kind] for kind in ("bare", "number", "some", "many")}
        return self.dice.weighted(table)

    def fits(self, adjective: Adjective, kind: str, noun: Noun) -> bool:
        """True if the adjective may follow this kind of determiner."""
        if noun.determiners in ("number", "this", "bare"):
            return False
        if noun.determiners == "unowned" and adjective.determiners == {"owned"}:
            return False
        allowed = adjective.determiners
        return not allowed or kind in allowed or (kind == "owner" and "owned" in allowed)

    def dressed(self, phrase: NounPhrase) -> NounPhrase:
        """Replace the kinds owned, owner and number by what they stand for."""
        kind = phrase.determiner
        if kind == "owned":
            one = phrase.noun.determiners == "body"
            own = self.dice.pick(POSSESSIVES[:4] if one else POSSESSIVES)
            return replace(phrase, determiner=own)
        if kind == "number":
            numbers = list(NUMBERS) if phrase.noun.determiners == "number" else list(NUMBERS)[:5]
            return replace(phrase, determiner=self.dice.pick(numbers))
        if kind == "owner":
            several = phrase.noun.determiners != "body"
            return replace(phrase, determiner="the", owner=self.owner(several))
        return phrase

    def owner(self, several: bool) -> NounPhrase | Name:
        """Draw an owner: a name, a person, or ``several``."""
        if self.dice.chance(0.4):
            return self.somebody()
        noun = self.noun(frozenset({"adult"}))
        self.used.add(noun.key)
        kind = "the" if noun.determiners in COMMON else self.dice.pick(("my", "our", "her"))
        plural = several and bool(noun.plural) and self.dice.chance(0.3)
        return NounPhrase(noun, plural, kind)

    def place(self, group: str) -> Place:
        """Draw a place of a group."""
        found = [
            item
            for item in self.lexicon.places
            if group in item.groups and item.noun.key not in self.used
        ]
        name = self.dice.pick(found)
        self.used.add(name.noun.key)
        adjective = self.adjective(name.noun) if self.dice.chance(0.12) else None
        if adjective and (adjective.english not in PLACE_ADJECTIVES or name.english == "at"):
            adjective = None
        return Place(name, NounPhrase(name.noun, False, "the", adjective))

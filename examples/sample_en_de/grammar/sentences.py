"""Draw whole sentences at random, each around one wished word."""

from __future__ import annotations

from dataclasses import replace

from .clauses import CLAUSES, ClauseSampler
from .dice import Dice
from .entries import Frame, Lexicon
from .lexicon import WEATHER
from .nominals import NominalSampler
from .trees import (
    Clause,
    Name,
    Nominal,
    NounPhrase,
    Pronoun,
    Sentence,
    indefinite,
)
from .wishes import WishSampler

KINDS = {
    "statement": 30,
    "fronted": 12,
    "subordinate": 8,
    "subordinate-first": 4,
    "joined": 4,
    "sharing": 4,
    "there": 4,
    "embedded": 10,
}
PRESENT_LINKS = ("when", "if", "while")
LINKS = (*PRESENT_LINKS, "although", "because")
REASONS = ("verb:like", "verb:need", "verb:look for")
PLACES_OF_NOUNS = {
    "small": "surface",
    "thing": "surface",
    "animal": "out",
    "adult": "out",
    "switchable": "home",
    "waterable": "home",
}


class SentenceSampler:
    """Draws sentences of the grammar."""

    def __init__(self, lexicon: Lexicon, dice: Dice, ambiguous: frozenset[str]) -> None:
        self.lexicon = lexicon
        self.dice = dice
        self.nominals = NominalSampler(lexicon, dice, ambiguous)
        self.clauses = ClauseSampler(self.nominals)
        self.wishes = WishSampler(self.clauses)

    def sentence(self, key: str) -> Sentence:
        """Draw a sentence meant to contain the entry ``key``.

        Raises:
            LookupError: this draw came to a dead end; draw again.
        """
        frame = self.wishes.frame(key)
        kind = self.dice.weighted(KINDS)
        if kind == "there":
            return self.there()
        if kind == "statement":
            return Sentence(kind, self.adorned(self.clauses.clause(frame)))
        if kind == "fronted":
            clause = self.clauses.clause(frame)
            return Sentence(kind if clause.time or clause.place else "statement", clause)
        if kind == "embedded":
            return self.embedded(frame)
        if kind == "joined":
            return self.joined(self.clauses.clause(frame))
        if kind == "sharing":
            return self.sharing(self.clauses.clause(frame))
        tense = "present" if self.dice.chance(0.5) else ""
        return self.subordinate(kind, self.clauses.clause(frame, tense=tense))

    def adorned(self, clause: Clause) -> Clause:
        """Give some subjects a relative clause or a place."""
        subject = clause.subject
        if not isinstance(subject, NounPhrase) or subject.owner or subject.determiner != "the":
            return clause
        if self.dice.chance(0.2):
            return replace(clause, subject=self.clauses.with_relative(subject))
        groups = [group for tag, group in PLACES_OF_NOUNS.items() if tag in subject.noun.tags]
        free = clause.place is None and not clause.frame.has("at", "to")
        if groups and free and self.dice.chance(0.25):
            place = self.nominals.place(groups[0])
            return replace(clause, subject=replace(subject, place=place))
        return clause

    def embedded(self, frame: Frame) -> Sentence:
        """Draw "Anna says that ...", "The boys try to ..."."""
        subject = self.nominals.subject(frozenset({"person"}), False)
        outer = self.wishes.of_a_verb([f for f in self.lexicon.frames if f.has(*CLAUSES)])
        if frame.has(*CLAUSES) or len(outer.slots) > 1:
            raise LookupError("one clause inside another is enough")
        if outer.has("inf"):
            if not {"i", "m", "person"} <= frame.uses | frame.subjects:
                raise LookupError("nothing to try or to promise")
            inner = self.clauses.clause(frame, subject, "present")
            inner = replace(inner, negated=False, often=None)
        else:
            inner = self.clauses.clause(frame)
        tense = "past" if outer.has("inf") and self.dice.chance(0.3) else "present"
        return Sentence("statement", Clause(outer, subject, (inner,), tense))

    def there(self) -> Sentence:
        """Draw "There is a fly in the kitchen"."""
        frames = [f for f in self.lexicon.frames if f.verb.key == "verb:be" and f.has("at")]
        noun = self.nominals.wish.noun
        wished = noun is not None and noun.determiners in ("", "unowned", "mass")
        if wished:
            frames = [frame for frame in frames if frame.subjects & noun.tags]
        frame = self.dice.pick(frames)
        subject = self.nominals.phrase(frame.subjects, wished)
        if subject.owner or not indefinite(subject):
            kind = "a" if not subject.plural and subject.noun.plural else "no"
            subject = replace(subject, determiner=kind, owner=None)
        if subject.adjective and subject.adjective.determiners:
            raise LookupError("no such adjective here")
        place = self.nominals.place(self.dice.pick(sorted(frame.slots[0].tags)))
        tense = "past" if self.dice.chance(0.3) else "present"
        return Sentence("there", Clause(frame, subject, (place,), tense))

    def joined(self, first: Clause) -> Sentence:
        """Draw two main clauses."""
        tense = "past" if first.tense == "past" else "present"
        second = self.clauses.clause(self.action(), tense=tense)
        return self.two("joined", first, self.dice.pick(("and", "but")), second)

    def subordinate(self, kind: str, first: Clause) -> Sentence:
        """Draw a main clause and one that depends on it."""
        link = self.dice.pick(LINKS)
        if link in PRESENT_LINKS and first.tense not in ("present", "modal"):
            link = "because"
        because = link == "because"
        frame = self.reason() if because else self.action()
        weather = frame.subjects == {WEATHER}
        subject = None
        if not weather and (because or (self.dice.chance(0.4) and "person" in frame.subjects)):
            subject = self.pronoun_for(first.subject)
        past = first.tense == "past" and link not in PRESENT_LINKS
        tense = "past" if past else "present"
        if kind == "subordinate-first" and subject is not None:
            second = self.clauses.clause(frame, first.subject, tense)
            return self.two(kind, replace(first, subject=subject), link, second)
        return self.two(kind, first, link, self.clauses.clause(frame, subject, tense))

    def two(self, kind: str, first: Clause, link: str, second: Clause) -> Sentence:
        """Put two clauses together; one time phrase is enough, and "while" is not denied."""
        if first.time and second.time:
            second = replace(second, time=None)
        if link == "while":
            second = replace(second, negated=False)
        return Sentence(kind, first, link, second)

    def action(self) -> Frame:
        """Draw a frame for a second clause."""
        frames = [f for f in self.lexicon.frames if f.uses & {"t", "f", "m"}]
        return self.wishes.of_a_verb([f for f in frames if not f.has("job", *CLAUSES)])

    def reason(self) -> Frame:
        """Draw a frame for a clause with "because": a state of people, or the weather."""
        states = [f for f in self.lexicon.frames if f.verb.key in REASONS or f.has("adjective")]
        states += [f for f in self.lexicon.frames if f.verb.key == "verb:rain"]
        return self.wishes.of_a_verb(
            [frame for frame in states if frame.subjects & {"person", WEATHER}]
        )

    def pronoun_for(self, subject: Nominal) -> Nominal:
        """The pronoun that takes up a subject.

        Raises:
            LookupError: English and German would not agree on one.
        """
        if isinstance(subject, Pronoun) and subject.name != "it":
            return subject
        if isinstance(subject, Name):
            return Pronoun("she" if subject.female else "he")
        if isinstance(subject, NounPhrase) and "person" in subject.noun.tags:
            if subject.plural:
                return Pronoun("they")
            if subject.noun.gender in "mf":
                return Pronoun("she" if subject.noun.gender == "f" else "he")
        raise LookupError("no pronoun for this subject")

    def sharing(self, first: Clause) -> Sentence:
        """Draw a second predicate for the same subject."""
        subject = first.subject
        thing = isinstance(subject, NounPhrase) and "person" not in subject.noun.tags
        if thing or subject == Pronoun("it") or first.tense not in ("present", "past"):
            raise LookupError("no shared subject")
        frame = self.action()
        if "person" not in frame.subjects or not frame.slots:
            raise LookupError("a bare verb could be read as a noun")
        second = self.clauses.clause(frame, subject, first.tense)
        if first.negated or second.negated or second.often or first.often:
            raise LookupError("the scope would be unclear")
        return self.two("sharing", first, "and", second)

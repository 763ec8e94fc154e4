"""Draw whole sentences at random, each around one wished word."""

from __future__ import annotations

from dataclasses import replace

from .clauses import CLAUSES, ClauseSampler, counted
from .dice import Dice
from .lexicon import Frame, Lexicon
from .nominals import PEOPLE, PERSON_TAGS, NominalSampler, Wish
from .trees import (
    Clause,
    Filler,
    Likeness,
    Name,
    Nominal,
    NounPhrase,
    Pronoun,
    Sentence,
    indefinite,
)

KINDS = {
    "statement": 30,
    "fronted": 12,
    "question": 10,
    "who": 2,
    "what": 2,
    "where": 2,
    "when": 2,
    "why": 3,
    "command": 3,
    "please": 4,
    "subordinate": 8,
    "subordinate-first": 4,
    "joined": 4,
    "sharing": 4,
    "there": 4,
    "quoted": 2,
}
PRESENT_LINKS = ("when", "if", "although", "while", "because")
REASONS = ("verb:be", "verb:like", "verb:need", "verb:look for")


class SentenceSampler:
    """Draws sentences of the grammar."""

    def __init__(self, lexicon: Lexicon, dice: Dice) -> None:
        self.lexicon = lexicon
        self.dice = dice
        self.nominals = NominalSampler(lexicon, dice)
        self.clauses = ClauseSampler(self.nominals)
        self.entries = {item.key: item for item in lexicon.nouns.values()}
        self.entries |= {item.key: item for item in lexicon.adjectives}
        self.entries |= {item.key: item for item in lexicon.modals.values()}
        self.entries |= {item.key: item for item in lexicon.verbs.values()}
        for phrase in lexicon.phrases:
            for word in phrase.english:
                if word.key:
                    self.entries[word.key] = phrase

    def sentence(self, key: str) -> Sentence:
        """Draw a sentence meant to contain the entry ``key``.

        Raises:
            LookupError: this draw came to a dead end; draw again.
        """
        frame = self.prepare(key)
        kind = self.dice.weighted(KINDS)
        if kind == "there":
            return self.there()
        if kind in ("command", "please", "quoted"):
            return self.command(kind, frame)
        if kind in ("question", "who", "what", "where", "when", "why"):
            return self.question(kind, frame)
        clause = self.clauses.clause(frame, tense="present" if kind[:3] == "sub" and self.dice.chance(0.5) else "")
        if kind == "fronted":
            if not (clause.time or clause.place):
                kind = "statement"
            return Sentence(kind, clause)
        if kind == "statement":
            return Sentence(kind, self.adorned(clause))
        return self.with_second(kind, clause)

    def prepare(self, key: str) -> Frame:
        """Set the wishes for ``key`` and choose a frame that can grant them."""
        wish, frames = Wish(), self.lexicon.frames
        entry = self.entries.get(key)
        kind = key.partition(":")[0]
        self.clauses.modal = self.clauses.phrase = None
        self.clauses.her = key == "pronoun:her"
        if kind == "noun":
            wish.noun = entry
        elif kind == "adjective":
            wish.adjective = entry
            wish.noun = self.dice.pick(self.lexicon.nouns_of(entry.tags))
        elif kind == "modal":
            self.clauses.modal = entry
            frames = [f for f in frames if "m" in f.uses and (entry.english != "may" or f.subjects & PERSON_TAGS)]
        elif kind == "phrase":
            self.clauses.phrase = entry
            use = {"time": "t", "span": "s", "manner": "=" + entry.group}[entry.kind]
            frames = [f for f in frames if use in f.uses]
        elif kind == "verb":
            frames = [f for f in frames if f.verb.key == key]
        elif kind == "preposition":
            frames = [f for f in frames if any(u[0] == "~" for u in f.uses) or any(s.german == "wie" for s in f.slots)]
        elif kind == "possessive":
            wish.possessive = "her"
        if self.clauses.her:
            frames = [f for f in frames if any(s.tags & PERSON_TAGS and s.case for s in f.slots)]
        self.nominals.start(wish)
        if wish.noun:
            frames = self.frames_for(wish.noun, frames)
        return self.frame_of_a_verb(frames)

    def frames_for(self, noun, frames: list[Frame]) -> list[Frame]:
        """Keep the frames with a place for the noun."""
        return [
            f for f in frames
            if f.subjects & noun.tags or any(s.case and s.tags & noun.tags for s in f.slots)
            or (any(s.kind == "job" for s in f.slots) and "job" in noun.tags)
        ]

    def frame_of_a_verb(self, frames: list[Frame]) -> Frame:
        """Draw a verb, then one of its frames."""
        verb = self.dice.pick(sorted({f.verb.key for f in frames}))
        return self.dice.pick([f for f in frames if f.verb.key == verb])

    def adorned(self, clause: Clause) -> Clause:
        """Give some subjects a relative clause or a place."""
        subject = clause.subject
        if not isinstance(subject, NounPhrase) or subject.owner or subject.determiner != "the":
            return clause
        if self.dice.chance(0.2):
            return replace(clause, subject=self.clauses.with_relative(subject))
        tags = subject.noun.tags
        groups = [("small", "surface"), ("thing", "surface"), ("animal", "out"), ("adult", "out"), ("switchable", "home"), ("waterable", "home")]
        found = [group for tag, group in groups if tag in tags]
        if found and clause.place is None and clause.frame.verb.key not in ("verb:lie",) and self.dice.chance(0.25):
            if not any(slot.kind in ("at", "to") for slot in clause.frame.slots):
                return replace(clause, subject=replace(subject, place=self.nominals.place(found[0])))
        return clause

    def there(self) -> Sentence:
        """Draw "There is a fly in the kitchen"."""
        noun = self.nominals.wish.noun
        frames = [f for f in self.lexicon.frames if f.verb.key == "verb:be" and f.slots[0].kind == "at"]
        wished = noun is not None and noun.determiners in ("", "unowned", "mass")
        if wished:
            frames = [f for f in frames if f.subjects & noun.tags]
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

    def command(self, kind: str, frame: Frame) -> Sentence:
        """Draw an imperative, on its own or quoted."""
        if "i" not in frame.uses:
            raise LookupError("no imperative")
        clause = self.clauses.clause(frame, Pronoun("you"), "present")
        time = clause.time if clause.time and clause.time.group == "any" else None
        clause = replace(clause, often=None, time=time)
        vague = kind != "please" and any(map(indefinite, clause.objects))
        if vague or any(map(counted, clause.objects)):
            raise LookupError("no command about some things (\"Dry cups\" could be a phrase)")
        if clause.negated and kind == "please":
            clause = replace(clause, negated=False)
        speaker = self.dice.pick(PEOPLE) if kind == "quoted" else None
        return Sentence(kind, clause, speaker=speaker)

    def question(self, kind: str, frame: Frame) -> Sentence:
        """Draw a question with or without a question word."""
        if any(slot.kind in CLAUSES for slot in frame.slots):
            raise LookupError("no question with a clause in it")
        subject = Pronoun("who") if kind == "who" else None
        if kind == "who" and not frame.subjects & PERSON_TAGS:
            raise LookupError("no person to ask for")
        if kind == "what":
            return self.what(frame)
        clause = self.clauses.clause(frame, subject)
        if isinstance(clause.subject, Pronoun) and clause.subject.name == "I" and clause.modal is None:
            raise LookupError("nobody asks what he does himself")
        if kind == "where":
            clause = replace(clause, place=None)
        if kind == "when":
            clause = replace(clause, time=None, span=None)
        if kind not in ("question", "why") or (kind == "question" and self.dice.chance(0.6)):
            clause = replace(clause, negated=False)
        if kind in ("where", "when") and not self.asks(kind, clause):
            raise LookupError("no place or time to ask for")
        return Sentence(kind, replace(clause, often=None, contracted=True, asked=True))

    def asks(self, kind: str, clause: Clause) -> bool:
        """True if a place or a time can be asked for."""
        if any(slot.kind in ("at", "to", "city", "adjective", "job") for slot in clause.frame.slots):
            return False
        if kind == "where":
            return any(use.startswith("@") for use in clause.frame.uses)
        return "t" in clause.frame.uses and clause.tense in ("present", "past", "modal")

    def what(self, frame: Frame) -> Sentence:
        """Draw a question for a thing that someone does something to."""
        slots = frame.slots
        if len(slots) != 1 or slots[0].kind != "acc" or slots[0].tags & PERSON_TAGS or not frame.subjects & PERSON_TAGS:
            raise LookupError("no object to ask for")
        clause = self.clauses.clause(frame)
        clause = replace(clause, objects=(None,), negated=False, often=None, manner=None, asked=True)
        if clause.subject == Pronoun("I"):
            raise LookupError("nobody asks what he does himself")
        return Sentence("what", clause)

    def with_second(self, kind: str, first: Clause) -> Sentence:
        """Add another clause to the first."""
        if kind == "sharing":
            return self.sharing(first)
        if kind == "joined":
            link = self.dice.pick(("and", "but"))
            return Sentence(kind, first, link, self.clauses.clause(self.simple_frame(), tense=first.tense if first.tense in ("present", "past") else "present"))
        link = self.dice.pick(PRESENT_LINKS)
        if link in ("when", "if", "while") and first.tense not in ("present", "modal"):
            link = "because"
        subject = self.pronoun_for(first.subject) if link == "because" or self.dice.chance(0.4) else None
        frames = [f for f in self.lexicon.frames if f.verb.key in REASONS and "person" in f.subjects and f.slots[0].kind not in ("job", "at")]
        frame = self.dice.pick(frames) if link == "because" else self.simple_frame(subject)
        tense = "past" if link in ("because", "although") and first.tense == "past" else "present"
        if kind == "subordinate-first" and subject is not None:
            second = self.clauses.clause(frame, first.subject, tense)
            return Sentence(kind, replace(first, subject=subject), link, second)
        return Sentence(kind, first, link, self.clauses.clause(frame, subject, tense))

    def simple_frame(self, subject: Nominal | None = None) -> Frame:
        """Draw a frame of an action, by a person if the subject is given."""
        frames = [
            f for f in self.lexicon.frames
            if f.uses & {"t", "f", "m"} and not any(s.kind in (*CLAUSES, "job") for s in f.slots)
            and (subject is None or "person" in f.subjects)
        ]
        return self.frame_of_a_verb(frames)

    def pronoun_for(self, subject: Nominal) -> Nominal | None:
        """The pronoun that takes up a subject."""
        if isinstance(subject, Pronoun):
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
        if first.tense not in ("present", "past") or "person" not in first.frame.subjects:
            raise LookupError("no shared subject")
        second = self.clauses.clause(self.simple_frame(subject), subject, first.tense)
        if not second.objects:
            raise LookupError("a bare verb could be read as a noun")
        if first.negated or second.negated or second.often or first.often:
            raise LookupError("the scope would be unclear")
        return Sentence("sharing", first, "and", second)


__all__ = ["Filler", "Likeness", "SentenceSampler"]

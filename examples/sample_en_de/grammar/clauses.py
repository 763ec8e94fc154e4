"""Draw clauses at random: a frame, what fills it, tense, negation, adverbials."""

from __future__ import annotations

from dataclasses import replace

from .entries import Frame, Modal, Phrase, Slot
from .lexicon import WEATHER
from .nominals import CITIES, PERSON_TAGS, NominalSampler
from .trees import (
    NUMBERS,
    Both,
    Clause,
    Filler,
    Likeness,
    Name,
    Nominal,
    NounPhrase,
    Pronoun,
    Relative,
    indefinite,
    is_plural,
)

TENSES = {"present": 65, "past": 15, "perfect": 4, "progressive": 4, "modal": 12}
TENSE_USES = {"perfect": "p", "progressive": "g", "modal": "m"}
TIME_GROUPS = {
    "present": ("present", "any", "any"),
    "past": ("past", "past", "any"),
    "modal": ("any", "future"),
}
CLAUSES = ("inf", "that", "whether")
ABSOLUTE = ("open", "free", "empty")


def counted(filler: Filler) -> bool:
    """True for objects that German cannot negate with a plain kein."""
    if isinstance(filler, NounPhrase) and filler.owner is None:
        return filler.determiner in ("some", "many", *NUMBERS)
    return isinstance(filler, Both)


class ClauseSampler:
    """Draws clauses; ``nominals`` draws what they talk about."""

    def __init__(self, nominals: NominalSampler) -> None:
        self.nominals = nominals
        self.dice = nominals.dice
        self.lexicon = nominals.lexicon
        self.phrase: Phrase | None = None

    def clause(self, frame: Frame, subject: Nominal | None = None, tense: str = "") -> Clause:
        """Draw a clause with this frame; given subject and tense are kept."""
        role = self.role(frame, subject is None)
        if subject is None:
            subject = self.nominals.subject(frame.subjects, role == "subject")
        tense = tense or self.tense(frame)
        if tense == "past" and not frame.verb.shows_past:
            raise LookupError("nobody could tell the tense")
        objects = tuple(
            self.filler(slot, subject, role == str(number))
            for number, slot in enumerate(frame.slots)
        )
        clause = Clause(frame, subject, objects, tense, contracted=self.dice.chance(0.5))
        if tense == "modal":
            clause = replace(clause, modal=self.which_modal(frame))
        if frame.has("adjective"):
            graded = objects[0].english not in ABSOLUTE
            clause = replace(clause, very=graded and self.dice.chance(0.35))
        clause = self.with_adverbials(clause)
        return self.with_negation(clause)

    def role(self, frame: Frame, free_subject: bool) -> str:
        """Choose where the wished noun goes: subject, the number of a slot, or nowhere."""
        noun = self.nominals.wish.noun
        if noun is None:
            return ""
        fits = [str(n) for n, slot in enumerate(frame.slots) if slot.tags & noun.tags and slot.case]
        if free_subject and frame.subjects & noun.tags:
            fits.append("subject")
        return self.dice.pick(fits) if fits else ""

    def tense(self, frame: Frame) -> str:
        """Draw a tense the frame allows."""
        weights = {
            tense: weight
            for tense, weight in TENSES.items()
            if TENSE_USES.get(tense, tense) in frame.uses or tense not in TENSE_USES
            if tense != "past" or frame.verb.shows_past
        }
        return self.dice.weighted(weights)

    def which_modal(self, frame: Frame) -> Modal:
        """Draw a modal verb; only people may and must."""
        human = frame.subjects & PERSON_TAGS
        weights = {"can": 4, "will": 5, "must": 3, "should": 2, "may": 3, "want": 4}
        if not human:
            weights = {"can": 2, "will": 3}
        elif frame.verb.key == "verb:bear":
            weights = {"can": 3, "must": 1}
        return self.lexicon.modals[self.dice.weighted(weights)]

    def filler(self, slot: Slot, subject: Nominal, wished: bool) -> Filler:
        """Draw what fills a slot."""
        if slot.kind in ("at", "to"):
            return self.nominals.place(self.dice.pick(sorted(slot.tags)))
        if slot.kind == "city":
            return self.dice.pick(CITIES)
        if slot.kind == "adjective":
            return self.predicate_adjective(subject)
        if slot.kind == "job":
            return self.job(subject)
        if slot.kind == "inf":
            return self.infinitive(subject)
        if slot.kind in ("that", "whether"):
            return self.clause(self.any_frame())
        filler = self.nominals.object(slot.tags, wished)
        same = isinstance(filler, (Pronoun, Name)) and filler == subject
        return self.nominals.phrase(slot.tags) if same else filler

    def predicate_adjective(self, subject: Nominal) -> Filler:
        """Draw an adjective to say of the subject."""
        tags = subject.noun.tags if isinstance(subject, NounPhrase) else PERSON_TAGS
        if subject == Pronoun("it"):
            tags = frozenset({WEATHER})
        wished = self.nominals.wish.adjective
        if isinstance(subject, NounPhrase) and subject.adjective:
            raise LookupError("one adjective could deny the other")
        found = [a for a in self.lexicon.adjectives if a.predicate and a.tags & tags]
        if wished in found:
            self.nominals.wish.adjective = None
            return wished
        return self.dice.pick(found)

    def job(self, subject: Nominal) -> Filler:
        """Draw a profession for the subject."""
        if isinstance(subject, Both) or (
            isinstance(subject, NounPhrase) and "kin" not in subject.noun.tags
        ):
            raise LookupError("only relatives, names and pronouns are told their profession")
        plural, wished = is_plural(subject), self.nominals.wish.noun
        jobs = self.lexicon.by_tag["job"]
        found = [n for n in jobs if n is wished or n.key not in self.nominals.used]
        noun = wished if wished in found else self.dice.pick(found)
        if noun is wished:
            self.nominals.wish.noun = None
        self.nominals.used.add(noun.key)
        return NounPhrase(noun, plural, "bare" if plural else "a")

    def infinitive(self, subject: Nominal) -> Clause:
        """Draw an infinitive clause for the same subject."""
        frames = [
            frame
            for frame in self.lexicon.frames
            if {"i", "m", "person"} <= frame.uses | frame.subjects
            and frame.verb.key != "verb:forget"
            and not (frame.marked("=") or frame.marked("~") or frame.marked(">"))
        ]
        clause = self.clause(self.wished_frame(frames), subject, "present")
        return replace(clause, negated=False, often=None, time=None, modal=None)

    def wished_frame(self, frames: list[Frame]) -> Frame:
        """Draw a frame, one that can take the wished noun if there is such a wish."""
        noun = self.nominals.wish.noun
        if noun:
            frames = [frame for frame in frames if frame.takes(noun)]
        return self.dice.pick(frames)

    def any_frame(self) -> Frame:
        """Draw a frame without clauses in it, one for the wished noun if there is such a wish."""
        plain = [frame for frame in self.lexicon.frames if not frame.has(*CLAUSES)]
        noun = self.nominals.wish.noun
        if noun:
            plain = [f for f in plain if f.subjects & noun.tags or f.takes(noun)]
        return self.dice.pick(plain)

    def with_adverbials(self, clause: Clause) -> Clause:
        """Add what the frame asks for and some of what it allows."""
        uses = clause.frame.uses
        manner = self.manner(clause)
        often = span = place = None
        time = self.time(clause)
        groups = clause.frame.marked("@")
        if groups and self.dice.chance(0.35):
            place = self.nominals.place(self.dice.pick(groups))
        if time is None and clause.tense == "present" and "f" in uses and self.dice.chance(0.15):
            often = self.dice.pick([p for p in self.lexicon.phrases if p.kind == "often"])
        elif time is None and "s" in uses and (self.wants("span") or self.dice.chance(0.12)):
            span = self.drawn("span", ("any",))
        clause = replace(clause, time=time, often=often, span=span, place=place, manner=manner)
        if ">" in uses and time is None and self.dice.chance(0.6):
            return replace(clause, purpose=self.infinitive(clause.subject))
        return clause

    def wants(self, kind: str) -> bool:
        """True if a phrase of this kind is wished."""
        return self.phrase is not None and self.phrase.kind == kind

    def drawn(self, kind: str, groups: tuple[str, ...]) -> Phrase:
        """Draw a phrase of a kind and one of these groups, or take the wished one."""
        if self.wants(kind) and self.phrase.group in groups:
            phrase, self.phrase = self.phrase, None
            return phrase
        group = self.dice.pick(groups)
        phrases = [phrase for phrase in self.lexicon.phrases if phrase.kind == kind]
        return self.dice.pick([phrase for phrase in phrases if phrase.group == group])

    def time(self, clause: Clause) -> Phrase | None:
        """Draw a time phrase that goes with the tense, or none."""
        groups = TIME_GROUPS.get(clause.tense)
        if not groups or "t" not in clause.frame.uses:
            return None
        return self.drawn("time", groups) if self.wants("time") or self.dice.chance(0.2) else None

    def manner(self, clause: Clause) -> Phrase | Likeness | None:
        """Draw the manner or the comparison that the frame asks for."""
        likes = clause.frame.marked("~")
        if likes:
            plural = is_plural(clause.subject)
            noun = self.nominals.noun(frozenset(likes[0].split(",")))
            return Likeness(NounPhrase(noun, plural, "bare" if plural else "a"))
        words = tuple(clause.frame.marked("="))
        return self.drawn("manner", words) if words else None

    def with_negation(self, clause: Clause) -> Clause:
        """Negate some clauses, where German does it with nicht or kein alone."""
        doubtful = (
            clause.often
            or (clause.time and clause.time.english[0].text == "every")
            or clause.span
            or isinstance(clause.manner, Likeness)
            or (clause.modal and not clause.modal.negatable)
            or any(map(counted, clause.objects))
            or any(isinstance(item, Clause) for item in clause.objects)
            or clause.purpose
            or indefinite(clause.subject)
        )
        bear = clause.frame.verb.key == "verb:bear"
        return replace(clause, negated=not doubtful and self.dice.chance(0.8 if bear else 0.14))

    def with_relative(self, phrase: NounPhrase) -> NounPhrase:
        """Add a relative clause about the noun, if some frame has it as subject or object."""
        gap = self.dice.pick(("subject", "object"))
        frames = [f for f in self.lexicon.frames if not f.has("job", *CLAUSES)]
        if gap == "subject":
            frames = [f for f in frames if f.subjects & phrase.noun.tags]
        else:
            first = [(f, f.slots[0]) for f in frames if f.slots]
            frames = [f for f, s in first if s.kind == "acc" and s.tags & phrase.noun.tags]
        if not frames:
            return phrase
        frame = self.dice.pick(frames)
        if gap == "subject":
            clause = self.clause(frame, phrase)
        else:
            clause = self.clause(frame)
            clause = replace(clause, objects=(None, *clause.objects[1:]), negated=False)
        return replace(phrase, relative=Relative(gap, clause))

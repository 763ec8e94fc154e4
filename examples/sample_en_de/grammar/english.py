"""Spell an abstract sentence in English."""

from __future__ import annotations

from .entries import Adjective, Modal, Noun, Verb, Word
from .trees import (
    Both,
    Clause,
    Filler,
    Likeness,
    Name,
    Nominal,
    NounPhrase,
    Place,
    Pronoun,
    Relative,
    is_plural,
)

OBJECT_FORM = {
    "he": "him",
    "she": "her",
    "we": "us",
    "they": "them",
    "it": "it",
}
VOWELS = "aeiou"
SHORT_BE = {"is": "'s", "are": "'re", "will": "'ll", "have": "'ve"}
SHORT_NOT = {"can": "can't", "will": "won't"}
MOVABLE = ("on", "off", "up", "away")
POSSESSIVES = ("my", "your", "his", "her", "our", "their")


def noun_words(noun: Noun, plural: bool) -> list[Word]:
    """The noun itself."""
    return list(noun.plural if plural else noun.singular)


def adjective_word(adjective: Adjective) -> Word:
    """The adjective; it does not inflect."""
    return Word(adjective.english, adjective.upos, adjective.key)


def determiner_words(phrase: NounPhrase) -> list[Word]:
    """The determiner, or the owner with its 's."""
    if phrase.owner is not None:
        owner = nominal(phrase.owner, True)
        ending = "'" if is_plural(phrase.owner) and owner[-1].text.endswith("s") else "'s"
        return [*owner, Word(ending, "PART")]
    if phrase.determiner == "bare":
        return []
    if phrase.determiner == "this":
        return [Word("these" if phrase.plural else "this", "DET")]
    return [Word(phrase.determiner, "PRON" if phrase.determiner in POSSESSIVES else "DET")]


def nominal(filler: Nominal, subject: bool) -> list[Word]:
    """A noun phrase, name or pronoun, as subject or as object."""
    if isinstance(filler, Pronoun):
        return [Word(filler.name if subject else OBJECT_FORM[filler.name], "PRON")]
    if isinstance(filler, Name):
        return [Word(filler.english, "PROPN")]
    if isinstance(filler, Both):
        first, second = nominal(filler.first, subject), nominal(filler.second, subject)
        return [*first, Word("and", "CCONJ"), *second]
    words = [adjective_word(filler.adjective)] if filler.adjective else []
    words += noun_words(filler.noun, filler.plural)
    determiner = determiner_words(filler)
    if filler.determiner == "a" and filler.owner is None:
        determiner = [Word("an" if words[0].text[0] in VOWELS else "a", "DET")]
    words = determiner + words
    if filler.place:
        words += place_words(filler.place)
    if filler.relative:
        words += relative_words(filler.relative, filler)
    return words


def place_words(place: Place) -> list[Word]:
    """A preposition with its noun phrase."""
    preposition = [Word(text, "ADP") for text in place.name.english.split()]
    return preposition + nominal(place.phrase, False)


def relative_words(relative: Relative, head: NounPhrase) -> list[Word]:
    """A relative clause without its gap."""
    who = "who" if "person" in head.noun.tags else "that"
    if relative.gap == "subject":
        return [Word(who, "PRON"), *predicate(relative.clause)]
    return [Word("that", "PRON"), *statement(relative.clause)]


def be_form(subject: Nominal, past: bool) -> str:
    """The form of "be" that agrees with the subject."""
    singular, plural = ("was", "were") if past else ("is", "are")
    return plural if is_plural(subject) else singular


def simple_form(verb: Verb, subject: Nominal, past: bool) -> Word:
    """A finite form of a full verb."""
    base, third, past_form, _, _ = verb.english
    if verb.key == "verb:be":
        return Word(be_form(subject, past), "AUX", verb.key)
    if past:
        return verb_word(verb, past_form)
    return verb_word(verb, base if is_plural(subject) else third)


def verb_word(verb: Verb, text: str) -> Word:
    """A form of a full verb; the key stays with the particle where that carries the sense."""
    return Word(text, "VERB", "" if verb.marks_particle else verb.key)


def modal_word(modal: Modal) -> Word:
    """A modal verb."""
    return Word(modal.english, "AUX", modal.key)


def verb_parts(clause: Clause) -> tuple[Word | None, list[Word]]:
    """Split the verb into an auxiliary (None if there is none) and the rest."""
    verb, subject = clause.frame.verb, clause.subject
    base, _, _, participle, ing = verb.english
    third = not is_plural(subject)
    past = clause.tense == "past"
    do = Word("did" if past else "does" if third else "do", "AUX")
    if clause.modal and clause.modal.english == "want":
        rest = [Word("to", "PART"), verb_word(verb, base)]
        if clause.negated:
            return do, [Word("want", "VERB"), *rest]
        return None, [Word("wants" if third else "want", "VERB"), *rest]
    if clause.modal:
        return modal_word(clause.modal), [verb_word(verb, base)]
    if clause.tense == "progressive":
        return Word(be_form(subject, False), "AUX"), [verb_word(verb, ing)]
    if clause.tense == "perfect":
        return Word("has" if third else "have", "AUX"), [verb_word(verb, participle)]
    if verb.key == "verb:be":
        return simple_form(verb, subject, past), []
    if clause.negated:
        return do, [verb_word(verb, base)]
    return None, [simple_form(verb, subject, past)]


def with_not(auxiliary: Word, contracted: bool) -> list[Word]:
    """An auxiliary and its negation, as one word where English writes one."""
    text = auxiliary.text
    if contracted and text != "may":
        return [Word(SHORT_NOT.get(text, text + "n't"), "AUX")]
    if text == "can":
        return [Word("cannot", "AUX")]
    return [auxiliary, Word("not", "PART")]


def subject_and_verb(clause: Clause, with_subject: bool) -> list[Word]:
    """Subject, auxiliary, negation, frequency adverb and main verb of a statement."""
    auxiliary, main = verb_parts(clause)
    group: list[Word] = []
    subject = nominal(clause.subject, True) if with_subject else []
    if auxiliary and clause.negated:
        group = with_not(auxiliary, clause.contracted)
    elif auxiliary:
        group = [auxiliary]
        short = SHORT_BE.get(auxiliary.text)
        if clause.contracted and short and subject and isinstance(clause.subject, Pronoun):
            subject, group = [Word(subject[0].text + short, "AUX")], []
    if clause.often:
        group += clause.often.english
    return subject + group + main


def filler_words(filler: Filler, clause: Clause, kind: str) -> list[Word]:
    """Spell what fills a slot."""
    if isinstance(filler, Adjective):
        return [*([Word("very", "ADV")] if clause.very else []), adjective_word(filler)]
    if isinstance(filler, Place):
        return place_words(filler)
    if isinstance(filler, Clause):
        if kind == "inf":
            return [Word("to", "PART"), *infinitive(filler)]
        return [Word({"whether": "whether"}.get(kind, "that"), "SCONJ"), *statement(filler)]
    return nominal(filler, False)


def complements(clause: Clause, gap: bool = False, front: bool = False) -> list[Word]:
    """Everything after the verb; ``gap`` leaves out the first object, ``front`` time and place
    that stand first."""
    particle, first = clause.frame.verb.particle, clause.frame.verb.particle_first
    if particle and particle.text in MOVABLE and not gap and isinstance(clause.objects[0], Pronoun):
        first = False
    words = [particle] if particle and first else []
    for number, (slot, filler) in enumerate(clause.filled()):
        if gap and number == 0:
            continue
        words += map(preposition_word, slot.english.split())
        if slot.kind == "city":
            words.append(Word("to", "ADP"))
        words += filler_words(filler, clause, slot.kind)
    if particle and not first:
        words.append(particle)
    words += adverbials(clause, front)
    if clause.purpose:
        words += [Word("to", "PART"), *infinitive(clause.purpose)]
    return words


def preposition_word(text: str) -> Word:
    """A preposition of a slot; "like" is one of the ambiguous words."""
    return Word(text, "ADP", "preposition:like" if text == "like" else "")


def adverbials(clause: Clause, front: bool) -> list[Word]:
    """Manner, place, span and time, in this order."""
    words: list[Word] = []
    if isinstance(clause.manner, Likeness):
        words += [preposition_word("like"), *nominal(clause.manner.phrase, False)]
    elif clause.manner:
        words += clause.manner.english
    if clause.place and not (front and clause.time is None):
        words += place_words(clause.place)
    if clause.span:
        words += clause.span.english
    if clause.time and not front:
        words += clause.time.english
    return words


def predicate(clause: Clause) -> list[Word]:
    """A clause without its subject."""
    return subject_and_verb(clause, False) + complements(clause)


def statement(clause: Clause, front: bool = False) -> list[Word]:
    """A clause in plain order; an object gap is marked by the object None."""
    gap = bool(clause.objects) and clause.objects[0] is None
    return subject_and_verb(clause, True) + complements(clause, gap, front)


def infinitive(clause: Clause) -> list[Word]:
    """A clause as infinitive, without "to"."""
    verb = clause.frame.verb
    return [verb_word(verb, verb.english[0]), *complements(clause)]

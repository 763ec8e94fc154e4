"""Spell an abstract sentence in German: order of words and agreement.

The middle field stands between the finite verb and the end of the clause: subject, pronouns, time,
frequency, dative, accusative, "nicht", manner, place, objects with prepositions, predicate. A place
precedes an indefinite accusative and a predicate adjective. The finite verb is second in main
clauses and last in others.
"""

from __future__ import annotations

from . import inflection as forms
from .entries import Adjective, Slot, Word
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
    indefinite,
    is_plural,
    with_no,
)

CONTRACTED = {
    ("in", "dem"): "im",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("in", "das"): "ins",
    ("an", "das"): "ans",
}
COMMA = Word(",")


def nominal(filler: Nominal, case: str) -> list[Word]:
    """A noun phrase, name or pronoun in a case."""
    if isinstance(filler, Pronoun):
        text = forms.PRONOUNS[filler.name].split()[forms.CASES.index(case)]
        return [Word(text)]
    if isinstance(filler, Name):
        return [Word(filler.german)]
    if isinstance(filler, Both):
        return [*nominal(filler.first, case), Word("und"), *nominal(filler.second, case)]
    noun, kind = filler.noun, filler.determiner
    gender = "p" if filler.plural else noun.gender
    words = []
    if isinstance(filler.owner, Name):
        words, kind = [Word(filler.owner.german + "s")], "bare"
    text = forms.determiner(kind, gender, case)
    if text:
        words = [Word(text)]
    if filler.adjective:
        form = forms.adjective_form(filler.adjective, kind, gender, case)
        words.append(Word(form, "", filler.adjective.key))
    words += noun_words(forms.noun_form(noun, filler.plural, case), noun.key)
    return words + attributes(filler, gender)


def noun_words(text: str, key: str) -> list[Word]:
    """A noun; only the first word of "Art Käse" carries the key."""
    first, *rest = text.split()
    return [Word(first, "", key), *map(Word, rest)]


def attributes(phrase: NounPhrase, gender: str) -> list[Word]:
    """Owner, place and relative clause after a noun."""
    words: list[Word] = []
    if isinstance(phrase.owner, NounPhrase):
        words += nominal(phrase.owner, "gen")
    if phrase.place:
        words += place_words(phrase.place)
    if phrase.relative:
        words += relative_words(phrase.relative, gender)
    return words


def prepositional(preposition: str, words: list[Word]) -> list[Word]:
    """A preposition before its phrase, contracted where German does ("im")."""
    short = CONTRACTED.get((preposition, words[0].text))
    return [Word(short), *words[1:]] if short else [Word(preposition), *words]


def place_words(place: Place) -> list[Word]:
    """A place or direction."""
    return prepositional(place.name.german, nominal(place.phrase, place.name.case))


def relative_words(relative: Relative, gender: str) -> list[Word]:
    """A relative clause between commas."""
    clause = relative.clause
    case = "nom" if relative.gap == "subject" else clause.frame.slots[0].case
    pronoun = Word(forms.RELATIVES[gender].split()[forms.CASES.index(case)])
    skip = "subject" if relative.gap == "subject" else "object"
    return [COMMA, pronoun, *verb_last(clause, skip), COMMA]


def verb_words(clause: Clause) -> tuple[Word, list[Word]]:
    """The finite verb and what stands at the end of a main clause."""
    verb = clause.frame.verb
    key = "" if verb.marks_particle else verb.key
    plural = is_plural(clause.subject)
    if clause.modal:
        finite = forms.finite(clause.modal.german, plural)
        return Word(finite, "", clause.modal.key), [Word(forms.infinitive(verb), "", verb.key)]
    if clause.tense == "perfect":
        finite = forms.finite(forms.auxiliary(verb), plural)
        return Word(finite), [Word(verb.german[3], "", verb.key)]
    if clause.tense == "past":
        finite = forms.past(verb, plural)
    else:
        finite = forms.finite(verb.german[:2], plural)
    prefix = [Word(verb.prefix, "", verb.key if verb.marks_particle else "")]
    return Word(finite, "", key), prefix if verb.prefix else []


def object_words(slot: Slot, filler: Filler, negated: bool, very: bool = False) -> list[Word]:
    """Spell what fills a slot; "nicht ein" becomes "kein"."""
    if isinstance(filler, Adjective):
        return [*([Word("sehr")] if very else []), Word(filler.predicate, "", filler.key)]
    if isinstance(filler, Place):
        return place_words(filler)
    if slot.kind == "city":
        return [Word("nach"), *nominal(filler, "dat")]
    if slot.kind == "job":
        bare = filler.adjective is None and not filler.plural
        plain = NounPhrase(filler.noun, False, "bare") if bare else filler
        return nominal(with_no(plain) if negated else plain, "nom")
    if slot.kind == "prep":
        words = nominal(filler, slot.case)
        if slot.german == "wie":
            return [Word("wie", "", "preposition:like"), *words]
        return prepositional(slot.german, words)
    return nominal(with_no(filler) if negated else filler, slot.case)


def takes_kein(clause: Clause) -> bool:
    """True if an indefinite object carries the negation."""
    return clause.negated and any(
        slot.kind in ("acc", "job") and indefinite(filler) for slot, filler in clause.filled()
    )


def fields(clause: Clause, skip: str) -> dict[str, list[Word]]:
    """The parts of the middle field, in its order; ``skip`` names one that stands elsewhere."""
    order = ("subject pronouns time often dat early span acc not manner place rest").split()
    parts: dict[str, list[Word]] = {name: [] for name in order}
    if skip != "subject":
        parts["subject"] = nominal(clause.subject, "nom")
    for name in ("time", "often", "span"):
        phrase = getattr(clause, name)
        parts[name] = list(phrase.german) if phrase and skip != name else []
    if clause.negated and not takes_kein(clause):
        parts["not"] = [Word("nicht")]
    if isinstance(clause.manner, Likeness):
        likeness = nominal(clause.manner.phrase, "nom")
        parts["manner"] = [Word("wie", "", "preposition:like"), *likeness]
    elif clause.manner:
        part = "rest" if clause.manner.group in ("left", "right") else "manner"
        parts[part] = list(clause.manner.german)
    object_fields(clause, skip, parts)
    if clause.place and skip != "place":
        early = any(
            s.kind == "adjective" or (s.kind == "acc" and indefinite(f)) for s, f in clause.filled()
        )
        parts["early" if early else "place"] = place_words(clause.place)
    return parts


def object_fields(clause: Clause, skip: str, parts: dict[str, list[Word]]) -> None:
    """Put the objects into their parts of the middle field."""
    pronouns = {}
    for number, (slot, filler) in enumerate(clause.filled()):
        if isinstance(filler, Clause) or (skip == "object" and number == 0):
            continue
        words = object_words(slot, filler, clause.negated, clause.very)
        if isinstance(filler, Pronoun) and slot.kind in ("acc", "dat"):
            pronouns[slot.kind] = words
        else:
            parts[slot.kind if slot.kind in ("acc", "dat") else "rest"] += words
    parts["pronouns"] = [*pronouns.get("acc", []), *pronouns.get("dat", [])]


def middle(clause: Clause, skip: str = "") -> list[Word]:
    """The middle field."""
    return [word for part in fields(clause, skip).values() for word in part]


def after(clause: Clause) -> list[Word]:
    """Clauses that follow their verb: infinitives, dass, ob."""
    words: list[Word] = []
    for slot, filler in clause.filled():
        if isinstance(filler, Clause) and slot.kind == "inf":
            words += [COMMA, *zu_infinitive(filler)]
        elif isinstance(filler, Clause):
            link = "ob" if slot.kind == "whether" else "dass"
            words += [COMMA, Word(link), *verb_last(filler)]
    if clause.purpose:
        words += [COMMA, Word("um"), *zu_infinitive(clause.purpose)]
    return words


def zu_infinitive(clause: Clause) -> list[Word]:
    """An infinitive clause with zu."""
    verb = clause.frame.verb
    zu, _, rest = forms.infinitive(verb, zu=True).rpartition(" ")
    closing = [*([Word(zu)] if zu else []), Word(rest, "", verb.key)]
    return [*middle(clause, "subject"), *closing, *after(clause)]


def verb_last(clause: Clause, skip: str = "") -> list[Word]:
    """A clause with the finite verb at its end."""
    finite, end = verb_words(clause)
    verb = clause.frame.verb
    if verb.prefix and end and end[0].text == verb.prefix:
        closing = [Word(verb.prefix + finite.text, "", verb.key)]
    else:
        closing = [*end, finite]
    return [*middle(clause, skip), *closing, *after(clause)]


def verb_second(
    clause: Clause, first: str = "subject", start: list[Word] | None = None
) -> list[Word]:
    """A main clause; ``first`` names the part before the verb, or ``start`` gives its words."""
    finite, end = verb_words(clause)
    if start is None:
        start = place_words(clause.place) if first == "place" else fields(clause, "")[first]
    return [*start, finite, *middle(clause, first), *end, *after(clause)]

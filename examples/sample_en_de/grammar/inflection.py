"""German forms: articles, adjective endings, nouns, verbs."""

from __future__ import annotations

from .entries import Adjective, Lexicon, Modal, Noun, Verb
from .trees import NUMBERS

CASES = ("nom", "acc", "dat", "gen")
THE = {
    "m": "der den dem des",
    "f": "die die der der",
    "n": "das das dem des",
    "p": "die die den der",
}
# Endings of dieser and of adjectives without an article.
STRONG = {"m": "er en em es", "f": "e e er er", "n": "es es em es", "p": "e e en er"}
# Endings of ein, kein, mein.
MIXED = {"m": "- en em es", "f": "e e er er", "n": "- - em es", "p": "e e en er"}
AFTER_DER = {"m": "e en en en", "f": "e e en en", "n": "e e en en", "p": "en en en en"}
AFTER_EIN = {"m": "er en en en", "f": "e e en en", "n": "es es en en", "p": "en en en en"}
WITHOUT = {"m": "er en em en", "f": "e e er er", "n": "es es em en", "p": "e e en er"}

ADJECTIVE_ENDINGS = ("e", "em", "en", "er", "es")
EIN_WORDS = {
    "a": "ein",
    "no": "kein",
    "my": "mein",
    "your": "dein",
    "his": "sein",
    "her": "ihr",
    "our": "unser",
    "their": "ihr",
}
QUANTITIES = {"some": "einig", "many": "viel"}
RELATIVES = {"m": "der den dem", "f": "die die der", "n": "das das dem", "p": "die die denen"}
PRONOUNS = {
    "he": "er ihn ihm",
    "she": "sie sie ihr",
    "we": "wir uns uns",
    "they": "sie sie ihnen",
    "it": "es es ihm",
}
HABEN = ("haben", "hat")
SEIN = ("sein", "ist")


def cell(table: dict[str, str], gender: str, case: str) -> str:
    """Look up gender and case; "-" is no ending."""
    return table[gender].split()[CASES.index(case)].replace("-", "")


def determiner(kind: str, gender: str, case: str) -> str:
    """The German determiner for an English one ("" for none); ``gender`` p is the plural."""
    if kind == "the":
        return cell(THE, gender, case)
    if kind == "this":
        return "dies" + cell(STRONG, gender, case)
    if kind in EIN_WORDS:
        return EIN_WORDS[kind] + cell(MIXED, gender, case)
    if kind in QUANTITIES:
        return QUANTITIES[kind] + cell(STRONG, gender, case)
    return NUMBERS.get(kind, "")


def adjective_form(adjective: Adjective, kind: str, gender: str, case: str) -> str:
    """The adjective before a noun, after the determiner ``kind`` ("bare" for none)."""
    table = AFTER_DER if kind in ("the", "this") else AFTER_EIN if kind in EIN_WORDS else WITHOUT
    return adjective.stem + cell(table, gender, case)


def noun_form(noun: Noun, plural: bool, case: str) -> str:
    """The noun in a case."""
    if plural:
        ends_right = noun.german_plural[-1] in "ns"
        return noun.german_plural + ("n" if case == "dat" and not ends_right else "")
    if case == "gen":
        return noun.genitive
    return noun.german if case == "nom" else noun.oblique


def infinitive(verb: Verb, zu: bool = False) -> str:
    """The infinitive, with its prefix and perhaps with zu ("anzuzünden")."""
    if zu:
        return f"{verb.prefix}zu{verb.german[0]}" if verb.prefix else f"zu {verb.german[0]}"
    return verb.prefix + verb.german[0]


def finite(forms: tuple[str, ...], plural: bool) -> str:
    """Present tense from (infinitive, er); the plural is the infinitive, but sind and sollten."""
    if plural:
        return "sind" if forms[0] == "sein" else "sollten" if forms[1] == "sollte" else forms[0]
    return forms[1]


def past(verb: Verb, plural: bool) -> str:
    """Simple past."""
    form = verb.german[2]
    if not plural:
        return form
    return form + ("n" if form.endswith("e") else "en")


def auxiliary(verb: Verb) -> tuple[str, ...]:
    """Present forms of the auxiliary of the perfect."""
    return SEIN if verb.auxiliary == "sein" else HABEN


def noun_forms(noun: Noun) -> set[str]:
    """All forms of a noun."""
    forms = {noun_form(noun, False, case) for case in CASES}
    if noun.german_plural:
        forms |= {noun_form(noun, True, case) for case in CASES}
    return forms


def verb_forms(verb: Verb) -> set[str]:
    """All forms of a verb, finite ones without the prefix and with it."""
    inf, third, simple, participle = verb.german
    parts = {inf, third, simple, past(verb, True), finite(verb.german, True)}
    if not verb.prefix:
        return parts | {participle}
    whole = {verb.prefix + part for part in parts if part} | {participle, infinitive(verb, True)}
    return whole | ({verb.prefix} if verb.marks_particle else parts)


def adjective_forms(adjective: Adjective) -> set[str]:
    """All forms of an adjective."""
    return {adjective.stem + ending for ending in ADJECTIVE_ENDINGS} | {adjective.predicate}


def modal_forms(modal: Modal) -> set[str]:
    """All forms of a modal verb."""
    return {*modal.german, finite(modal.german, True)}


def entry_forms(lexicon: Lexicon) -> dict[str, set[str]]:
    """Map the key of each entry to its German forms (of "Art Käse", the first word)."""
    table = {noun.key: noun_forms(noun) for noun in lexicon.nouns.values()}
    table |= {verb.key: verb_forms(verb) for verb in lexicon.verbs.values()}
    table |= {item.key: adjective_forms(item) for item in lexicon.adjectives}
    table |= {modal.key: modal_forms(modal) for modal in lexicon.modals.values()}
    for phrase in lexicon.phrases:
        for word in phrase.german:
            if word.key:
                table.setdefault(word.key, set()).add(word.text)
    return {key: {form.split()[0] for form in forms if form} for key, forms in table.items()}

"""Spell whole sentences in German."""

from __future__ import annotations

from .entries import Word
from .german import COMMA, command, nominal, object_words, verb_last, verb_second, verb_words
from .trees import Sentence

LINKS = {
    "because": "weil",
    "when": "wenn",
    "if": "wenn",
    "although": "obwohl",
    "and": "und",
    "but": "aber",
    "while": "während",
}
QUESTION_WORDS = {"what": "was", "where": "wo", "when": "wann", "why": "warum"}


def sentence_words(sentence: Sentence) -> list[Word]:
    """Spell the whole sentence."""
    clause, kind = sentence.clause, sentence.kind
    if kind == "fronted":
        return [*verb_second(clause, "time" if clause.time else "place"), Word(".")]
    if kind == "question":
        return [*verb_second(clause, "", []), Word("?")]
    if kind == "who":
        return [*verb_second(clause), Word("?")]
    if kind in QUESTION_WORDS:
        skip = "object" if kind == "what" else ""
        return [*verb_second(clause, skip, [Word(QUESTION_WORDS[kind])]), Word("?")]
    if kind == "command":
        return [*command(clause, "", not clause.negated), Word(".")]
    if kind == "please":
        return [*command(clause, "bitte", False), Word(".")]
    return compound(sentence)


def compound(sentence: Sentence) -> list[Word]:
    """Spell sentences of two clauses, quotations and "there is"."""
    clause, kind = sentence.clause, sentence.kind
    link = Word(LINKS.get(sentence.link, ""))
    if kind == "subordinate":
        return [*verb_second(clause), COMMA, link, *verb_last(sentence.second), Word(".")]
    if kind == "subordinate-first":
        start = [link, *verb_last(sentence.second), COMMA]
        return [*start, *verb_second(clause, "", []), Word(".")]
    if kind == "joined":
        comma = [COMMA] if sentence.link == "but" else []
        return [*verb_second(clause), *comma, link, *verb_second(sentence.second), Word(".")]
    if kind == "sharing":
        return [*verb_second(clause), link, *verb_second(sentence.second, "subject", []), Word(".")]
    if kind == "there":
        return there(sentence)
    if kind == "quoted":
        speaker = [Word("sagt"), *nominal(sentence.speaker, "nom")]
        return [Word('"('), *command(clause, "", False), Word(')"'), COMMA, *speaker, Word(".")]
    return [*verb_second(clause), Word(".")]


def there(sentence: Sentence) -> list[Word]:
    """There is / there are: "Auf dem Tisch ist ein Buch"."""
    clause = sentence.clause
    finite, _ = verb_words(clause)
    place = object_words(*clause.filled()[0], False)
    return [*place, finite, *nominal(clause.subject, "nom"), Word(".")]

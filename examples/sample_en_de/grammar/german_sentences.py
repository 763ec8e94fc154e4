"""Spell whole sentences in German."""

from __future__ import annotations

from .entries import Word
from .german import COMMA, nominal, object_words, verb_last, verb_second, verb_words
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


def sentence_words(sentence: Sentence) -> list[Word]:
    """Spell the whole sentence."""
    clause, kind = sentence.clause, sentence.kind
    if kind == "fronted":
        return [*verb_second(clause, "time" if clause.time else "place"), Word(".")]
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
    return [*verb_second(clause), Word(".")]


def there(sentence: Sentence) -> list[Word]:
    """There is / there are: "Auf dem Tisch ist ein Buch"."""
    clause = sentence.clause
    finite, _ = verb_words(clause)
    place = object_words(*clause.filled()[0], False)
    return [*place, finite, *nominal(clause.subject, "nom"), Word(".")]

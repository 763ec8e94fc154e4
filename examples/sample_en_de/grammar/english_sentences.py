"""Spell whole sentences in English."""

from __future__ import annotations

from .english import be_form, complements, nominal, place_words, predicate, statement
from .entries import Word
from .trees import Sentence


def sentence_words(sentence: Sentence) -> list[Word]:
    """Spell the whole sentence."""
    clause, kind = sentence.clause, sentence.kind
    if kind == "fronted":
        front = clause.time.english if clause.time else place_words(clause.place)
        return [*front, Word(","), *statement(clause, front=True), Word(".")]
    link = Word(sentence.link, "CCONJ" if sentence.link in ("and", "but") else "SCONJ")
    if kind == "subordinate":
        return [*statement(clause), link, *statement(sentence.second), Word(".")]
    if kind == "subordinate-first":
        return [link, *statement(sentence.second), Word(","), *statement(clause), Word(".")]
    if kind == "joined":
        comma = [Word(",")] if sentence.link == "but" else []
        return [*statement(clause), *comma, link, *statement(sentence.second), Word(".")]
    if kind == "sharing":
        return [*statement(clause), link, *predicate(sentence.second), Word(".")]
    if kind == "there":
        return there(sentence)
    return [*statement(clause), Word(".")]


def there(sentence: Sentence) -> list[Word]:
    """There is / there are."""
    clause = sentence.clause
    verb = Word(be_form(clause.subject, clause.tense == "past"), "AUX")
    subject = nominal(clause.subject, False)
    return [Word("there", "PRON"), verb, *subject, *complements(clause), Word(".")]

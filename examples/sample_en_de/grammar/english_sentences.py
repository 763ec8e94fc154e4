"""Spell whole sentences in English."""

from __future__ import annotations

from .english import (
    be_form,
    command,
    complements,
    nominal,
    place_words,
    predicate,
    question,
    statement,
)
from .entries import Word
from .trees import Sentence

QUESTION_WORDS = ("what", "where", "when", "why")


def sentence_words(sentence: Sentence) -> list[Word]:
    """Spell the whole sentence."""
    clause, kind = sentence.clause, sentence.kind
    if kind == "fronted":
        front = clause.time.english if clause.time else place_words(clause.place)
        return [*front, Word(","), *statement(clause, front=True), Word(".")]
    if kind == "question":
        return [*question(clause), Word("?")]
    if kind == "who":
        return [Word("who", "PRON"), *predicate(clause), Word("?")]
    if kind in QUESTION_WORDS:
        return [Word(kind, "ADV"), *question(clause, gap=kind == "what"), Word("?")]
    if kind == "command":
        please = [] if clause.negated else [Word(","), Word("please", "INTJ")]
        return [*command(clause), *please, Word(".")]
    if kind == "please":
        return [Word("please", "INTJ"), *command(clause), Word(".")]
    return compound(sentence)


def compound(sentence: Sentence) -> list[Word]:
    """Spell sentences of two clauses, and quotations."""
    clause, kind = sentence.clause, sentence.kind
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
    if kind == "quoted":
        speaker = [Word("says", "VERB"), *nominal(sentence.speaker, True)]
        return [Word('"('), *command(clause), Word(","), Word(')"'), *speaker, Word(".")]
    return [*statement(clause), Word(".")]


def there(sentence: Sentence) -> list[Word]:
    """There is / there are."""
    clause = sentence.clause
    verb = Word(be_form(clause.subject, clause.tense == "past"), "AUX")
    subject = nominal(clause.subject, False)
    return [Word("there", "PRON"), verb, *subject, *complements(clause), Word(".")]

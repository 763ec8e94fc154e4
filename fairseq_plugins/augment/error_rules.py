"""Places for grammatical errors of each kind in a parsed English sentence.

A rule yields edits of a word by part of speech, features, lemma and tree, so that nearly every edit
makes the sentence wrong: a plural becomes a singular after ``these`` but not after ``the``. Labels
follow FCE (Rei and Yannakoudakis 2016): a wrong or superfluous word is wrong, and for a missing
word the next one.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from ..corpora.conllu import Word
from .english_forms import in_case_of, indefinite, ing_form, plural, third_person

ARTICLES = ("a", "an", "the")
CONFUSED = {  # preposition -> two others
    word: tuple(others.split("/"))
    for word, _, others in (
        item.partition(":")
        for item in (
            "about:of/on at:in/on between:among/from by:with/from during:in/while for:to/of "
            "from:of/by in:on/at into:in/at of:from/for on:in/at since:for/from through:by/in "
            "to:for/at under:below/in until:to/by with:by/of without:with/by"
        ).split()
    )
}
SUPERFLUOUS = ("about", "for", "of", "on", "to", "with")
BE = {"is": "are", "are": "is", "am": "is", "was": "were", "were": "was"}
WANTS_SINGULAR = {"a", "an", "this", "that", "each", "every", "another", "one"}
WANTS_PLURAL = {"these", "those", "many", "several", "both", "few"}
ORDERED = {"amod", "aux", "case", "cop", "det", "nummod"}  # relations to the very next word
LETTERS = "abcdefghijklmnopqrstuvwxyz"
SHORTEST = 4  # letters of a word that may be misspelt


class WordEdit(NamedTuple):
    """A replacement of some words by others."""

    # first, last: the words ``first`` … ``last - 1``, from 0, at least one, are replaced
    first: int
    last: int
    words: tuple[str, ...]  # the new words, at least one
    wrong: int  # number of wrong words among these, from the first


Edits = Iterator[WordEdit]


class ParsedSentence:
    """A parsed sentence of W words."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        self.children: list[list[int]] = [[] for _ in words]  # per word, from 0
        for i, word in enumerate(words):
            if word.head and word.head <= len(words):
                self.children[word.head - 1].append(i)

    def child(self, i: int, relation: str) -> int | None:
        """Return the first child of a word with a relation."""
        return next((k for k in self.children[i] if self.words[k].relation == relation), None)

    def starts_phrase(self, i: int) -> bool:
        """Return whether no child stands before a word, and the word is in no name or compound."""
        return all(k > i for k in self.children[i]) and self.words[i].relation not in (
            *("compound", "flat", "amod", "fixed", "goeswith"),
        )


def edit(
    sentence: ParsedSentence, first: int, last: int, words: Sequence[str], wrong: int = 99
) -> WordEdit:
    """Return an edit; the sentence's capital stays at its start."""
    found, start = list(words), sentence.words[0]
    if first == 0 and start.form[:1].isupper():
        stays = start.upos == "PROPN" or start.form == "I" or start.form[1:].isupper()
        found = [w.lower() if w == start.form and not stays else w for w in found]
        found[0] = found[0][:1].upper() + found[0][1:]
    return WordEdit(first, last, tuple(found), min(wrong, len(found)))


def other_form(sentence: ParsedSentence, i: int, form: str) -> Edits:
    """Replace a word by another form, unless it is equal."""
    old = sentence.words[i].form
    if form and form.lower() != old.lower():
        yield WordEdit(i, i + 1, (in_case_of(form, old),), 1)


def without(sentence: ParsedSentence, i: int) -> Edits:
    """Remove a word before another one, which becomes wrong."""
    if i + 1 < len(sentence.words) and sentence.words[i + 1].upos != "PUNCT":
        yield edit(sentence, i, i + 2, [sentence.words[i + 1].form])


def with_before(sentence: ParsedSentence, i: int, word: str) -> WordEdit:
    """Add a word, which is wrong, before another."""
    return edit(sentence, i, i + 1, [word, sentence.words[i].form], wrong=1)


def articles(sentence: ParsedSentence, i: int, word: Word, random: Random) -> Edits:
    """``a`` for ``an``, ``a`` before plurals, ``the`` for ``a``; one missing; one too many."""
    old = word.form.lower()
    if word.upos == "DET" and old in ARTICLES and word.head:
        noun = sentence.words[word.head - 1]
        plural_noun = noun.feats.get("Number") in ("Plur", "Ptan")
        if old != "the":
            yield from other_form(sentence, i, random.choice(("an" if old == "a" else "a", "the")))
        elif plural_noun and i + 1 < len(sentence.words):
            yield from other_form(sentence, i, indefinite(sentence.words[i + 1].form))
        if not plural_noun:
            yield from without(sentence, i)
    elif word.upos == "NOUN" and word.feats.get("Number") == "Plur":
        if sentence.starts_phrase(i):
            yield with_before(sentence, i, indefinite(word.form))
    elif word.feats.get("Poss") == "Yes" or (
        word.upos == "PROPN" and word.relation != "root" and sentence.starts_phrase(i)
    ):
        yield with_before(sentence, i, "the")


def prepositions(sentence: ParsedSentence, i: int, word: Word, random: Random) -> Edits:
    """Another preposition; one missing; one between a verb and its object."""
    old = word.form.lower()
    if word.upos == "ADP" and word.relation == "case" and old in CONFUSED:
        yield from other_form(sentence, i, random.choice(CONFUSED[old]))
        yield from without(sentence, i)
    elif word.upos == "VERB" and i + 1 < len(sentence.words):
        noun, following = sentence.child(i, "obj"), sentence.words[i + 1]
        if noun is not None and (noun == i + 1 or (noun > i + 1 and following.head == noun + 1)):
            yield with_before(sentence, i + 1, random.choice(SUPERFLUOUS))


def agreement(sentence: ParsedSentence, i: int, word: Word, random: Random) -> Edits:
    """A verb in the present, or ``was`` and ``were``, that does not agree with its subject."""
    feats, old = word.feats, word.form.lower()
    if word.upos not in ("VERB", "AUX") or feats.get("Mood") != "Ind":
        return
    if word.lemma == "be":
        yield from other_form(sentence, i, BE.get(old, ""))
    elif feats.get("Tense") == "Pres":
        if old == third_person(word.lemma):
            yield from other_form(sentence, i, word.lemma)
        elif old == word.lemma:
            yield from other_form(sentence, i, third_person(word.lemma))


def verb_forms(sentence: ParsedSentence, i: int, word: Word, random: Random) -> Edits:
    """An infinitive, a form in ``-ing``, a participle or a past in place of another form."""
    if word.upos not in ("VERB", "AUX") or not (word.lemma.isalpha() and word.lemma.islower()):
        return
    form, tense, other = word.feats.get("VerbForm"), word.feats.get("Tense"), ""
    if form == "Inf" and word.form.lower() == word.lemma:
        other = random.choice((third_person, ing_form))(word.lemma)
    elif form == "Ger" or (form == "Part" and tense in ("Pres", "Past")):
        other = word.lemma
    elif form == "Fin" and tense == "Past" and word.lemma != "be":
        other = ing_form(word.lemma)
    if word.form.isalpha():
        yield from other_form(sentence, i, other)


def noun_numbers(sentence: ParsedSentence, i: int, word: Word, random: Random) -> Edits:
    """A singular for a plural (``these dog``, ``I see dog``), or the other way round."""
    number = word.feats.get("Number")
    if word.upos != "NOUN" or not word.lemma.isalpha() or word.relation == "compound":
        return
    before = [sentence.words[k] for k in sentence.children[i] if k < i]
    said = {child.lemma.lower() for child in before} | {w.form.lower() for w in before}
    counted = any(w.upos == "NUM" for w in before) and not said & {"1", "one"}
    bare = not any(w.upos in ("DET", "NUM") or w.feats.get("Poss") == "Yes" for w in before)
    if number == "Plur" and (counted or said & WANTS_PLURAL or bare):
        yield from other_form(sentence, i, word.lemma)
    elif number == "Sing" and said & WANTS_SINGULAR and word.form.lower() == word.lemma:
        yield from other_form(sentence, i, plural(word.lemma))


def word_orders(sentence: ParsedSentence, i: int, word: Word, random: Random) -> Edits:
    """A word after the next one instead of before: ``dog the``, ``gone has``."""
    if word.head != i + 2 or word.relation not in ORDERED or i + 1 == len(sentence.words):
        return
    form, following = word.form, sentence.words[i + 1].form
    if form[:1].isalpha() and following[:1].isalpha() and form.lower() != following.lower():
        yield edit(sentence, i, i + 2, [following, form])


def spellings(sentence: ParsedSentence, i: int, word: Word, random: Random) -> Edits:
    """One letter too few, too many, wrong, or swapped; the first letter stays."""
    form = word.form
    if len(form) < SHORTEST or not (form.isascii() and form.isalpha()) or word.upos == "PROPN":
        return
    k, letter = random.randrange(1, len(form)), random.choice(LETTERS)
    letter = letter.upper() if form.isupper() else letter
    after = form[k + 1 :]
    misspelt = (
        form[:k] + after,
        form[:k] + form[k] + form[k:],
        form[:k] + letter + after,
        form[: k - 1] + form[k] + form[k - 1] + after if k > 1 else form[:k] + after,
    )
    yield from other_form(sentence, i, random.choice(misspelt))


Rule = Callable[[ParsedSentence, int, Word, Random], Edits]
RULES: dict[str, tuple[Rule, int]] = {  # name -> rule for one word, weight
    "article": (articles, 3),
    "preposition": (prepositions, 3),
    "agreement": (agreement, 3),
    "verb_form": (verb_forms, 3),
    "noun_number": (noun_numbers, 2),
    "word_order": (word_orders, 2),
    "spelling": (spellings, 2),
}


def edits_of(kind: str, sentence: ParsedSentence, random: Random) -> list[WordEdit]:
    """Return the edits of a rule of `RULES` at all words of a sentence."""
    rule = RULES[kind][0]
    return [e for i, word in enumerate(sentence.words) for e in rule(sentence, i, word, random)]

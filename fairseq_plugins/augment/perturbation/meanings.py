"""SwapAnt and SwapSyn: words exchanged for others of opposite, or of equal meaning in WordNet.

TextFlint looks for a word's sense with the Lesk algorithm and takes the synonyms of any sense;
here a word has its first sense, and a synonym is a word whose own first sense that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from ...text.wordnet import OF_UPOS, WordNet
from ..english_forms import in_case_of
from .inflection import inflect
from .pairs import Change, Pair, Resources, Rewriting, changed, one_exchanged
from .sentences import Sentence, replacing

LIGHT = frozenset("be come do get give go have let make put say take tell use will".split())
VAGUE = frozenset(
    "about ago almost as before even ever first instead just last more most much only second so "
    "still such then too very well".split()
)
PARTICLES = frozenset(
    "about across along apart around away back down forward in off on out over through to together "
    "up upon".split()
)
AUXILIARIES = ("AUX", "DET", "ADJ")
MOST = 10  # words of a pair that get a synonym


class Lemma(NamedTuple):
    """A base form and its part of speech, as WordNet's letter."""

    base: str
    part: str


def swap_antonym(
    pair: Pair, numbers: Sequence[int], random: Random, resources: Resources
) -> Change | None:
    """Set the second sentence to the first, with one word exchanged for its antonym.

    Source: Naik et al. (2018), as in TextFlint's SwapAnt (inference) and SwapWord (matching).
    """
    first, wordnet = pair[0], resources.wordnet

    def antonym(i: int) -> str | None:
        word = word_at(first, i, wordnet)
        options = wordnet.antonyms(*word) if word else ()
        return form_at(first, i, word, options[0], wordnet) if options else None

    return one_exchanged(pair, list(range(len(first.words))), random, antonym)


def swap_synonyms(
    pair: Pair, numbers: Sequence[int], random: Random, resources: Resources
) -> Change | None:
    """Exchange a tenth of the words, one at least and ten at most, for synonyms.

    A word that stands in both sentences gets the same synonym in both, where both are changed.
    """
    wordnet = resources.wordnet
    places: dict[Lemma, list[tuple[int, int]]] = {}
    for number in numbers:
        for i in range(len(pair[number].words)):
            word = word_at(pair[number], i, wordnet)
            if word:
                places.setdefault(word, []).append((number, i))
    wanted = max(1, min(MOST, max(len(pair[number].words) for number in numbers) // 10))
    found = {number: Rewriting([], []) for number in numbers}
    words = sorted(places)
    random.shuffle(words)
    for word in words:
        options = wordnet.synonyms(*word)
        option = random.choice(options) if options else ""
        forms = [form_at(pair[k], i, word, option, wordnet) for k, i in places[word] if option]
        for (number, i), form in zip(places[word], forms):
            if form:
                found[number].edits.extend(replacing(pair[number], i, form))
                found[number].what.append(f"{pair[number].words[i]} -> {form}")
        wanted -= any(forms)
        if not wanted:
            break
    return changed(pair, found)


def word_at(sentence: Sentence, i: int, wordnet: WordNet) -> Lemma | None:
    """Look up a word.

    None for names, parts of compounds with a hyphen, verbs with a particle, and words with little
    meaning of their own.
    """
    text, part = sentence.words[i], OF_UPOS.get(sentence.upos[i])
    if not part or not text.isalpha() or len(text) < 2 or (i and not text.islower()):
        return None
    first, last = sentence.spans[i]
    if "-" in (sentence.text[max(0, first - 1) : first], sentence.text[last : last + 1]):
        return None
    if part == "r" and sentence.part(i + 1) in ("NOUN", "PROPN"):
        return None  # an adjective, whatever the tagger says
    base = wordnet.likely_base(text.lower(), part)
    if base is None or base in (LIGHT if part == "v" else VAGUE):
        return None
    if part == "v" and sentence.lower(i + 1) in PARTICLES and sentence.part(i + 1) != "PART":
        return None
    return Lemma(base, part)


def form_at(sentence: Sentence, i: int, word: Lemma, option: str, wordnet: WordNet) -> str | None:
    """Put ``option`` into the form and case of word ``i``; None where its form is not known."""
    before = [sentence.part(k) for k in (i - 3, i - 2)]
    participle = (
        "AUX" in before or sentence.part(i - 1) in AUXILIARIES or sentence.lower(i + 1) == "by"
    )
    form = inflect(
        option.lower(),
        sentence.lower(i),
        word.base,
        word.part,
        wordnet=wordnet,
        participle=participle,
    )
    if form is None or not option.islower():
        return None
    return in_case_of(form, sentence.words[i])

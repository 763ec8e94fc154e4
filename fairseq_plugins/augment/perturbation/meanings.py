"""SwapAnt and SwapSyn: words replaced by antonyms or synonyms in WordNet.

The new word gets the form of the old: ``buy`` like ``sold`` is ``bought``. WordNet's exception
lists have irregular forms, but do not distinguish past and participle; an unknown form is omitted
rather than guessed.

TextFlint finds a word's sense with the Lesk algorithm and takes the synonyms of any sense; here a
word has its first sense, and its synonyms are words with the same first sense.
"""

import re
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from ...text.wordnet import OF_UPOS, WordNet
from ..english_forms import (
    ONE_SYLLABLE,
    VOWELS,
    doubled,
    i_for_y,
    in_case_of,
    ing_form,
    plural,
    third_person,
)
from .sentences import (
    Change,
    Edit,
    Pair,
    Resources,
    TaggedSentence,
    changed,
    one_exchanged,
    replacing,
)

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
UNCHANGED_PAST = frozenset(
    "beat bet bid burst bust cast cost cut hit hurt let put quit read rid set shed shut split "
    "spread thrust upset".split()
)
WITH_OES = frozenset("cargo domino echo hero mosquito potato tomato torpedo veto volcano".split())
SYLLABLE = re.compile(rf"[{VOWELS}y]+")
PARTICIPLE = re.compile(r"n$|ne$|[^aeiou]u[nm]")  # fallen, gone, sung
MOST = 10  # words of a pair that get a synonym


class Lemma(NamedTuple):
    """A base form and its part of speech, as WordNet's letter."""

    base: str
    part: str


def swap_antonym(
    pair: Pair, numbers: Sequence[int], random: Random, resources: Resources
) -> Change | None:
    """Set the second sentence to the first, with one word replaced by its antonym.

    Source: Naik et al. (2018), as in TextFlint's SwapAnt (inference) and SwapWord (matching).
    """
    first, wordnet = pair[0], resources.wordnet

    def antonym(i: int) -> str | None:
        word = word_at(first, i, wordnet)
        options = wordnet.antonyms(*word) if word else ()
        return form_at(first, i, word, options[0], wordnet) if word and options else None

    return one_exchanged(pair, list(range(len(first.words))), random, antonym)


def swap_synonyms(
    pair: Pair, numbers: Sequence[int], random: Random, resources: Resources
) -> Change | None:
    """Replace a tenth of the words, from one to ten, by synonyms.

    A word in both sentences gets the same synonym in both, if both are changed.
    """
    wordnet = resources.wordnet
    places: dict[Lemma, list[tuple[int, int]]] = {}
    for number in numbers:
        for i in range(len(pair[number].words)):
            word = word_at(pair[number], i, wordnet)
            if word:
                places.setdefault(word, []).append((number, i))
    wanted = max(1, min(MOST, max(len(pair[number].words) for number in numbers) // 10))
    found: dict[int, list[Edit]] = {number: [] for number in numbers}
    words = sorted(places)
    random.shuffle(words)
    for word in words:
        options = wordnet.synonyms(*word)
        option = random.choice(options) if options else ""
        forms = [form_at(pair[k], i, word, option, wordnet) for k, i in places[word] if option]
        for (number, i), form in zip(places[word], forms):
            if form:
                found[number] += replacing(pair[number], i, form)
        wanted -= any(forms)
        if not wanted:
            break
    return changed(pair, found)


def word_at(sentence: TaggedSentence, i: int, wordnet: WordNet) -> Lemma | None:
    """Look up a word.

    None for names, parts of compounds with a hyphen, verbs with a particle, and words with little
    meaning.
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


def form_at(
    sentence: TaggedSentence, i: int, word: Lemma, option: str, wordnet: WordNet
) -> str | None:
    """Return ``option`` in the form and case of word ``i``; None if its form is unknown."""
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


def inflect(
    lemma: str, form: str, base: str, part: str, *, wordnet: WordNet, participle: bool
) -> str | None:
    """Return a word in another word's form.

    Args:
        form: the other word, in lower case.
        part: part of speech of both, as WordNet's letter.
        wordnet: source of irregular forms.
        participle: whether a form in ``-ed`` is a participle.

    Returns:
        The inflected word; None if its form is unknown.
    """
    if form == base:
        return None if part == "v" and base in UNCHANGED_PAST else lemma
    irregular = wordnet.irregular_forms(lemma, part)
    if part == "n":
        made = irregular[0] if irregular else _plural(lemma)
    elif part == "v":
        made = _verb(lemma, form, irregular, participle)
    else:
        made = _degree(lemma, form, irregular)
    return made if made and wordnet.likely_base(made, part) == lemma else None


def _plural(lemma: str) -> str | None:
    """Return a regular plural; None for words in ``s``, which may be plurals."""
    if lemma.endswith("o") and lemma not in WITH_OES:
        return f"{lemma}s"
    return None if lemma.endswith("s") else plural(lemma)


def _verb(lemma: str, form: str, irregular: tuple[str, ...], participle: bool) -> str | None:
    if form.endswith("ing"):
        return next((word for word in irregular if word.endswith("ing")), ing_form(lemma))
    if form.endswith("s"):
        return third_person(lemma)
    if lemma in UNCHANGED_PAST:
        return lemma
    past = [word for word in irregular if not word.endswith("ing")]
    if not past:
        return ed_form(lemma)
    if len(past) == 1:  # went without gone: the participle may be the base form, as in run and come
        return None if participle and past[0].endswith(("an", "ame")) else past[0]
    ends = [word for word in past if PARTICIPLE.search(word)]
    if len(past) > 2 or len(ends) != 1:
        return None
    return ends[0] if participle else next(word for word in past if word != ends[0])


def ed_form(lemma: str) -> str:
    """Return a regular verb's past."""
    if lemma.endswith("e"):
        return f"{lemma}d"
    return f"{i_for_y(doubled(lemma))}ed"


def _degree(lemma: str, form: str, irregular: tuple[str, ...]) -> str | None:
    """Return the comparative or superlative of a short word; long words have none."""
    end = "est" if form.endswith("est") else "er" if form.endswith("er") else ""
    found = next((word for word in irregular if end and word.endswith(end)), None)
    syllables = len(SYLLABLE.findall(lemma.removesuffix("e")))
    if found or not end or syllables > 2 or (syllables == 2 and not lemma.endswith("y")):
        return found
    if lemma.endswith("e"):
        return f"{lemma}{end[1:]}"
    if i_for_y(lemma) != lemma:
        return f"{i_for_y(lemma)}{end}"
    return f"{lemma}{lemma[-1]}{end}" if ONE_SYLLABLE.fullmatch(lemma) else f"{lemma}{end}"

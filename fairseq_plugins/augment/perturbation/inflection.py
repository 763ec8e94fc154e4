"""A base form put into the form of another word: ``buy`` like ``sold`` is ``bought``.

WordNet's exception lists know irregular forms, but not which of them is the past and which the
participle; where this is not known, there is no form rather than a wrong one.
"""

from __future__ import annotations

import re

from ...text.wordnet import WordNet
from ..english_forms import (
    ONE_SYLLABLE,
    VOWELS,
    doubled,
    i_for_y,
    ing_form,
    plural,
    third_person,
)

UNCHANGED_PAST = frozenset(
    "beat bet bid burst bust cast cost cut hit hurt let put quit read rid set shed shut split "
    "spread thrust upset".split()
)
WITH_OES = frozenset("cargo domino echo hero mosquito potato tomato torpedo veto volcano".split())
SYLLABLE = re.compile(rf"[{VOWELS}y]+")
PARTICIPLE = re.compile(r"n$|ne$|[^aeiou]u[nm]")  # fallen, gone, sung


def inflect(
    lemma: str, form: str, base: str, part: str, *, wordnet: WordNet, participle: bool
) -> str | None:
    """Return a word in another word's form.

    Args:
        lemma: base form of the word.
        form: the other word, in lower case.
        base: base form of the other word.
        part: part of speech of both, as WordNet's letter.
        wordnet: whose exception lists count.
        participle: whether a form in ``-ed`` is a participle.

    Returns:
        The inflected word; None where its form is not known.
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
    """Return a regular plural; words in ``s`` may be plurals themselves, so they have none."""
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
    """Return the comparative or superlative of a short word; long ones have none of their own."""
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

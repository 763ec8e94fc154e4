"""Regular English inflection for injected errors and perturbed pairs.

Spelling rules and short lists of exceptions. A form that is no English word is still an error of
the requested kind (``childs``), so the lists hold only common words.
"""

import re

VOWELS = "aeiou"
IRREGULAR_PRESENT = {"be": "is", "have": "has"}
IRREGULAR_PLURALS = dict(  # pyrefly: ignore[no-matching-overload]
    pair.split(":")
    for pair in (
        "child:children foot:feet man:men mouse:mice person:people tooth:teeth woman:women "
        "half:halves knife:knives leaf:leaves life:lives shelf:shelves wife:wives"
    ).split()
)
UNCHANGED_PLURALS = {"aircraft", "deer", "fish", "means", "series", "sheep", "species"}
DOUBLING = {"begin", "commit", "forget", "occur", "permit", "prefer", "refer", "submit"}
ONE_SYLLABLE = re.compile(rf"[^{VOWELS}]*(qu)?[{VOWELS}][^{VOWELS}wxy]")
CONSONANT_SOUND = re.compile(r"(uni|use|usu|uti|eu|one\b|once)")
SILENT_H = re.compile(r"(hour|honest|hono|heir)")


def doubled(lemma: str) -> str:
    """Return a word before an ending with a vowel: ``stop`` becomes ``stopp``."""
    return lemma + lemma[-1] if lemma in DOUBLING or ONE_SYLLABLE.fullmatch(lemma) else lemma


def i_for_y(word: str) -> str:
    """Return a word before ``-es`` and ``-ed``: ``try`` becomes ``tri``."""
    return f"{word[:-1]}i" if word.endswith("y") and word[-2:-1] not in VOWELS else word


def with_s(word: str) -> str:
    """Add the ``s`` of plurals and of the third person."""
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{word}es"
    return f"{word}s" if i_for_y(word) == word else f"{i_for_y(word)}es"


def third_person(lemma: str) -> str:
    """Return a verb's form with ``he`` in the present."""
    return IRREGULAR_PRESENT.get(lemma) or with_s(lemma)


def ing_form(lemma: str) -> str:
    if lemma.endswith("ie"):
        return f"{lemma[:-2]}ying"
    if lemma.endswith("e") and len(lemma) > 2 and lemma[-2] not in "eoy":
        return f"{lemma[:-1]}ing"
    return f"{doubled(lemma)}ing"


def plural(lemma: str) -> str:
    if lemma in UNCHANGED_PLURALS:
        return lemma
    return IRREGULAR_PLURALS.get(lemma) or with_s(lemma)


def indefinite(word: str) -> str:
    """Return the article, ``a`` or ``an``, before a word."""
    word = word.lower()
    vowel = word[:1] in VOWELS and not CONSONANT_SOUND.match(word)
    return "an" if vowel or SILENT_H.match(word) else "a"


def in_case_of(word: str, model: str) -> str:
    """Write a word in capitals, or with a capital, like ``model``."""
    if model.isupper() and len(model) > 1:
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word

"""Acceptable sentences, and spoilt ones, in CoLA's format.

Every sentence comes from a grammar of a few rules. A spoilt one has its verb disagree with the
subject, its article after the noun, or two words changed round. The vocabulary is the same in both,
so only form tells them apart.
"""

from __future__ import annotations

import random

SIZES = {"train": 640, "dev": 160, "test": 80}
NOUNS = "baker carpenter farmer gardener nurse pilot plumber sailor singer teacher".split()
THINGS = "basket boat bridge cake chair fence garden lamp letter table".split()
VERBS = "admire build carry clean draw find mend paint sell watch".split()
ADJECTIVES = "careful cheerful clever friendly old patient quiet tall tired young".split()
COLOURS = "blue broken green heavy new red small strange white wooden".split()
PLACES = ("in the village", "near the river", "after lunch", "on Sunday", "before dawn")


def words_of(dice: random.Random) -> list[str]:
    """Draw an acceptable sentence: article, adjective, noun, verb, article, adjective, noun."""
    plural = dice.random() < 0.5
    article = "the" if plural else dice.choice(("the", "this", "every"))
    noun, verb = dice.choice(NOUNS), dice.choice(VERBS)
    object_ = [dice.choice(("the", "that")), dice.choice(COLOURS), dice.choice(THINGS)]
    ending = "" if plural else ("es" if verb.endswith("ch") else "s")
    subject = [article, dice.choice(ADJECTIVES), noun + "s" * plural]
    return [*subject, verb + ending, *object_]


def spoil(words: list[str], dice: random.Random) -> list[str]:
    """Make a sentence unacceptable in one of three ways."""
    way, spoilt = dice.randrange(3), list(words)
    if way == 0:  # agreement
        noun = spoilt[2]
        spoilt[2] = noun[:-1] if noun.endswith("s") else noun + "s"
        if spoilt[2].endswith("s"):
            spoilt[0] = "the"
    elif way == 1:  # article behind its noun
        spoilt.append(spoilt.pop(4))
    else:  # verb before its subject's noun
        spoilt[2], spoilt[3] = spoilt[3], spoilt[2]
    return spoilt


def sentences(count: int, dice: random.Random, seen: set[str]) -> list[tuple[int, str]]:
    """Draw labelled sentences that have not been seen yet."""
    rows = []
    while len(rows) < count:
        words, label = words_of(dice), dice.randrange(2)
        place = dice.choice(PLACES) if dice.random() < 0.5 else ""
        words = words if label else spoil(words, dice)
        text = " ".join([*words, *place.split()]) + "."
        if text not in seen:
            seen.add(text)
            rows.append((label, text[0].upper() + text[1:]))
    return rows


def files(dice: random.Random) -> dict[str, str]:
    """Return file -> text: train.tsv, dev.tsv, test.tsv."""
    found, seen = {}, set()
    for split, size in SIZES.items():
        rows = sentences(size, dice, seen)
        if split == "test":  # the official test set has no labels, but a header
            lines = ["index\tsentence", *(f"{i}\t{text}" for i, (_, text) in enumerate(rows))]
        else:
            lines = [f"demo\t{label}\t{'' if label else '*'}\t{text}" for label, text in rows]
        found[f"{split}.tsv"] = "\n".join(lines) + "\n"
    return found

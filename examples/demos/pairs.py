"""Pairs in QQP's format of which one word decides whether they say the same.

A sentence is a list of things. The other sentence of the pair lists the same things in another
order (label 1), or one of them is another thing (label 0). Of both kinds there are as many, and all
things are as frequent: only what differs between both sentences decides.
"""

from __future__ import annotations

import random

SIZES = {"train": 9600, "dev": 500, "test": 200}
THINGS = "apples books boats cakes chairs coats eggs flags hats lamps maps rings".split()
LISTED = 3  # things of a sentence


def pair(dice: random.Random) -> tuple[str, str, int]:
    """Draw two sentences and their label."""
    label = dice.randrange(2)
    first = dice.sample(THINGS, LISTED)
    second = dice.sample(first, LISTED)
    if not label:
        rest = [thing for thing in THINGS if thing not in first]
        second[dice.randrange(LISTED)] = dice.choice(rest)
    return " ".join(first), " ".join(second), label


def files(dice: random.Random) -> dict[str, str]:
    """Return file -> text: train.tsv, dev.tsv, and test.tsv, which has no labels."""
    found = {}
    for split, size in SIZES.items():
        header: tuple[str, ...] = ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")
        rows = []
        for number in range(size):
            first, second, label = pair(dice)
            rows.append(
                (f"{number}", f"{2 * number}", f"{2 * number + 1}", first, second, f"{label}")
            )
        if split == "test":
            header, rows = ("id", "question1", "question2"), [(row[0], *row[3:5]) for row in rows]
        found[f"{split}.tsv"] = "".join("\t".join(row) + "\n" for row in (header, *rows))
    return found

"""Pairs in QQP's format of which one word decides whether they say the same.

A sentence names two things. The other sentence of the pair names the same things in any order
(label 1), or one of them is another thing (label 0). Of both kinds there are as many, and all
things are as frequent: only what differs decides.
"""

from __future__ import annotations

import random

SIZES = {"train": 9600, "dev": 500, "test": 200}
THINGS = (  # each a wordpiece of its own
    "apple army band bar beach bed bench boat book bottle boy bridge bus camera candle car "
    "cat chair city cloud coin corn crown desk doctor doll dress duck egg eye field fish "
    "floor foot fox fruit gate glass hill hotel island judge king knife lamp leg lion map "
    "mill moon mouse neck nurse owl park phone pig pipe plate queen"
).split()
LISTED = 2  # things of a sentence


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

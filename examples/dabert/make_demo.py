#!/usr/bin/env python
"""Write a small invented corpus in QQP's format: questions that ask the same, and that do not.

python examples/dabert/make_demo.py DIR      # train.tsv, dev.tsv, test.tsv; same bytes every time

Every question comes from a frame with two wordings. A pair asks the same if it differs in the
wording or by a synonym, and something else if it differs by a number, an antonym or a name: one
word decides, and how alike the questions look says nothing.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

SIZES = {"train": 640, "dev": 160, "test": 80}
FRAMES = (
    (
        "How many {adjective} {thing} can {name} {verb} for {number} crowns?",
        "For {number} crowns, how many {adjective} {thing} can {name} {verb}?",
    ),
    (
        "Where can {name} {verb} {number} {adjective} {thing}?",
        "In which place can {name} {verb} {number} {adjective} {thing}?",
    ),
    (
        "Why does {name} want to {verb} {number} {adjective} {thing}?",
        "What makes {name} want to {verb} {number} {adjective} {thing}?",
    ),
    (
        "Should {name} {verb} the {adjective} {thing} within {number} days?",
        "Within {number} days, should {name} {verb} the {adjective} {thing}?",
    ),
)
THINGS = "boats bridges carpets chairs coats fences gardens kettles lamps tables".split()
NAMES = "Anna Bruno Clara David Emma Felix Greta Hugo Iris Jonas".split()
NUMBERS = "3 4 7 9 12 15 20 42 60 90".split()
ANTONYMS = (
    ("old", "new"),
    ("long", "short"),
    ("wet", "dry"),
    ("heavy", "light"),
    ("clean", "dirty"),
    ("cheap", "expensive"),
)
SYNONYMS = (("buy", "purchase"), ("build", "construct"), ("choose", "select"), ("fix", "repair"))


def question(dice: random.Random) -> tuple[int, dict[str, str]]:
    """Draw a frame and its words."""
    return dice.randrange(len(FRAMES)), {
        "adjective": dice.choice(dice.choice(ANTONYMS)),
        "thing": dice.choice(THINGS),
        "name": dice.choice(NAMES),
        "number": dice.choice(NUMBERS),
        "verb": dice.choice(dice.choice(SYNONYMS)),
    }


def partner(word: str, pairs: tuple[tuple[str, str], ...]) -> str:
    """Return the other word of a pair."""
    return next(other for pair in pairs for other in pair if word in pair and other != word)


def another(words: dict[str, str], dice: random.Random) -> dict[str, str]:
    """Change one word so that the question asks something else."""
    slot = dice.choice(("number", "adjective", "name"))
    if slot == "adjective":
        found = partner(words[slot], ANTONYMS)
    else:
        choices = NUMBERS if slot == "number" else NAMES
        found = dice.choice([word for word in choices if word != words[slot]])
    return {**words, slot: found}


def pair(dice: random.Random) -> tuple[int, str, str]:
    """Draw a label and two questions that differ a little."""
    frame, words = question(dice)
    label, wording = dice.randrange(2), dice.randrange(2)
    other, reworded = words, dice.random() < 0.3
    if not label:
        other = another(words, dice)
    elif not reworded:
        other = {**words, "verb": partner(words["verb"], SYNONYMS)}
    second = FRAMES[frame][wording ^ reworded].format(**other)
    return label, FRAMES[frame][wording].format(**words), second


def pairs(count: int, dice: random.Random, seen: set[str]) -> list[tuple[int, str, str]]:
    """Draw pairs whose first question has not been seen yet."""
    rows = []
    while len(rows) < count:
        row = pair(dice)
        if row[1] not in seen:
            seen.add(row[1])
            rows.append(row)
    return rows


def main() -> None:
    """Write the three files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    dice, seen = random.Random(1), set()
    for split, size in SIZES.items():
        rows = [
            (f"{split}{number}", f"{2 * number}", f"{2 * number + 1}", first, second, f"{label}")
            for number, (label, first, second) in enumerate(pairs(size, dice, seen))
        ]
        header: tuple[str, ...] = ("id", "qid1", "qid2", "question1", "question2", "is_duplicate")
        if split == "test":  # the official test set has no labels
            header = ("id", "question1", "question2")
            rows = [(str(number), *row[3:5]) for number, row in enumerate(rows)]
        text = "".join("\t".join(row) + "\n" for row in (header, *rows))
        (folder / f"{split}.tsv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

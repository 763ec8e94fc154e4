#!/usr/bin/env python
"""Write a small invented corpus of named entities: a word and its IOB2 label a line.

python examples/tagging/make_demo.py DIR      # train.conll, valid.conll, test.conll

Names are made up from syllables, and those of the validation and test sets do not occur in
training: what is around a name tells whether it is a person, a place or a firm.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

SIZES = {"train": 400, "valid": 120, "test": 120}
FIRST = "Bel Dor Fen Gal Har Kel Lor Mar Nor Pel Ros Tam Vel Wen Zan".split()
LAST = "amir dane edo ilith ova undra usk yra".split()
FRAMES = (
    "{PER} lives in {LOC} .",
    "{PER} met {PER} near {LOC} yesterday .",
    "Shares of {ORG} rose after {PER} resigned .",
    "{ORG} opened an office in {LOC} .",
    "The mayor of {LOC} , {PER} , spoke on Monday .",
    "{PER} works for {ORG} .",
    "The train from {LOC} to {LOC} was late .",
    "{ORG} sued {ORG} over a patent .",
    "It rained all night .",
)
FIRMS = ("Group", "Motors", "Bank")


def name(kind: str, dice: random.Random, ending: str) -> list[str]:
    """Make up a name of one to three words."""
    words = [dice.choice(FIRST) + ending for _ in range(dice.choice((1, 2)))]
    return [*words, dice.choice(FIRMS)] if kind == "ORG" and dice.random() < 0.3 else words


def sentence(dice: random.Random, endings: list[str]) -> list[tuple[str, str]]:
    """Fill a frame: words with their labels."""
    rows = []
    for part in dice.choice(FRAMES).split():
        if part.startswith("{"):
            kind = part[1:-1]
            words = name(kind, dice, dice.choice(endings))
            rows += [(word, f"{'I' if i else 'B'}-{kind}") for i, word in enumerate(words)]
        else:
            rows.append((part, "O"))
    return rows


def main() -> None:
    """Write the three files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(1)
    for split, size in SIZES.items():
        endings = LAST[:5] if split == "train" else LAST[5:]
        blocks = (sentence(dice, endings) for _ in range(size))
        text = "\n".join("".join(f"{w}\t{t}\n" for w, t in block) for block in blocks)
        (folder / f"{split}.conll").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

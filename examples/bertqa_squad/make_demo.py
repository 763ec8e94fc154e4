#!/usr/bin/env python
"""Write a small invented corpus in SQuAD 2.0's format: facts about things that people made.

python examples/bertqa_squad/make_demo.py DIR      # train-v2.0.json, train_35.json, dev-v2.0.json

Same bytes every time. A paragraph tells of some things who made them, where, when and why; a
question asks for one of these, or for a thing that the paragraph does not know. train_35.json has
35 % of the training questions once more in other words, as back-translation would give them.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

PARAGRAPHS = {"train": 120, "dev": 40}
QUESTIONS = 5  # of a paragraph
RATE = 0.35
PEOPLE = "Anna Bruno Clara David Emma Felix Greta Hugo Iris Jonas Karin Ludwig".split()
THINGS = "boat bridge carpet chair clock fence garden kettle lamp mill table tower".split()
COLORS = "black blue brown green grey red white yellow".split()
TOWNS = "Bergen Gent Linz Lund Nantes Porto Riga Siena Tartu Turin".split()
YEARS = [str(year) for year in range(1871, 1931, 3)]
REASONS = ("to win a bet", "to please the mayor", "for a wedding", "out of boredom")
TOLD = (
    "In {year} {person} made the {color} {thing} in {town} {reason}.",
    "The {color} {thing} was made by {person} in {town} {reason}; that was in {year}.",
    "{person} of {town} made the {color} {thing} {reason} in {year}.",
)
ASKED = {  # what is asked for -> the same question in two wordings
    "person": ("Who made the {thing}?", "By whom was the {thing} made?"),
    "color": ("What colour has the {thing}?", "Which colour is the {thing}?"),
    "town": ("Where was the {thing} made?", "In which town was the {thing} made?"),
    "year": ("When was the {thing} made?", "In what year was the {thing} made?"),
    "reason": ("Why did someone make the {thing}?", "For what reason was the {thing} made?"),
}


def facts(dice: random.Random) -> tuple[list[dict[str, str]], list[str]]:
    """Draw what a paragraph tells, and things that it does not know."""
    things = dice.sample(THINGS, 6)
    columns = (dice.sample(PEOPLE, 3), dice.sample(COLORS, 3), dice.sample(TOWNS, 3))
    years, reasons = dice.sample(YEARS, 3), dice.sample(REASONS, 3)
    names = ("thing", "person", "color", "town", "year", "reason")
    rows = zip(things, *columns, years, reasons)
    return [dict(zip(names, row)) for row in rows], things[3:]


def paragraph(name: str, dice: random.Random) -> dict[str, Any]:
    """Make a paragraph with its questions, a third of them without an answer."""
    told, unknown = facts(dice)
    context = " ".join(dice.choice(TOLD).format(**fact) for fact in told)
    questions = []
    for number in range(QUESTIONS):
        kind, fact = dice.choice([*ASKED]), dice.choice(told)
        impossible = dice.random() < 1 / 3
        thing = dice.choice(unknown) if impossible else fact["thing"]
        answers = []
        if not impossible:
            text = fact[kind]
            start = context.index(text, _sentence_of(context, thing))
            answers = [{"text": text, "answer_start": start}]
        questions.append(
            {
                "id": f"{name}-{number}",
                "question": ASKED[kind][0].format(thing=thing),
                "answers": answers,
                "is_impossible": impossible,
            }
        )
    return {"context": context, "qas": questions}


def _sentence_of(context: str, thing: str) -> int:
    """Return where the sentence of a thing begins."""
    return context.rfind(". ", 0, context.index(f" {thing}")) + 1


def reworded(paragraphs: list[dict[str, Any]], dice: random.Random) -> list[dict[str, Any]]:
    """Return paragraphs with some questions once more in other words."""
    other = dict(ASKED.values())
    found = []
    for one in paragraphs:
        questions = list(one["qas"])
        for question in one["qas"]:
            if dice.random() < RATE:
                thing = question["question"].rstrip("?").split(" the ")[1].split()[0]
                wording = question["question"].replace(f"the {thing}", "the {thing}")
                text = other[wording].format(thing=thing)
                questions.append({**question, "id": f"{question['id']}-q", "question": text})
        found.append({**one, "qas": questions})
    return found


def main() -> None:
    """Write the three files."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    dice = random.Random(1)
    files = {}
    for split, count in PARAGRAPHS.items():
        files[f"{split}-v2.0"] = [paragraph(f"{split}{i}", dice) for i in range(count)]
    files["train_35"] = reworded(files["train-v2.0"], dice)
    for name, paragraphs in files.items():
        body = {"version": "v2.0", "data": [{"title": "Demo", "paragraphs": paragraphs}]}
        (folder / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")


if __name__ == "__main__":
    main()

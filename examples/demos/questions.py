"""Questions in SQuAD 2.0's format: which of its kind a thing is.

A paragraph names four things, each with a colour; a question asks for one of them, or for a thing
that the paragraph does not name. The answer begins with the word before that thing: it takes one
step to find the thing again in the passage, and another to find what stands before it.
train_35.json has 35 % of the questions of train-v2.0.json once more in other words, as
back-translation would give them.
"""

from __future__ import annotations

import json
import random
from typing import Any

PARAGRAPHS = {"train": 1200, "dev": 100}
TOLD, ASKED, UNKNOWN = 4, 4, 1  # things of a paragraph, its questions, things that it lacks
RATE = 0.35
THINGS = "boat bridge chair clock fence garden lamp mill table tower".split()
COLOURS = "red green blue white black brown grey pink".split()
WORDINGS = ("which {}?", "what {}?")


def paragraph(name: str, dice: random.Random) -> dict[str, Any]:
    """Make a paragraph with its questions."""
    things, colours = dice.sample(THINGS, TOLD + UNKNOWN), dice.sample(COLOURS, TOLD)
    told = {thing: f"{colour} {thing}" for thing, colour in zip(things, colours)}
    context, questions = ", ".join(told.values()) + ".", []
    for number, thing in enumerate(dice.sample(things, ASKED)):
        found = told.get(thing)
        answers = [{"text": found, "answer_start": context.index(found)}] if found else []
        questions.append(
            {
                "id": f"{name}-{number}",
                "question": WORDINGS[0].format(thing),
                "answers": answers,
                "is_impossible": not answers,
            }
        )
    return {"context": context, "qas": questions}


def reworded(paragraphs: list[dict[str, Any]], dice: random.Random) -> list[dict[str, Any]]:
    """Return paragraphs with some questions once more in other words."""
    found = []
    for one in paragraphs:
        questions = list(one["qas"])
        for asked in one["qas"]:
            if dice.random() < RATE:
                thing = asked["question"].rstrip("?").split()[-1]
                text = WORDINGS[1].format(thing)
                questions.append({**asked, "id": f"{asked['id']}-q", "question": text})
        found.append({**one, "qas": questions})
    return found


def files(dice: random.Random) -> dict[str, str]:
    """Return file -> text: train-v2.0.json, dev-v2.0.json and train_35.json."""
    found = {
        f"{split}-v2.0": [paragraph(f"{split}{i}", dice) for i in range(count)]
        for split, count in PARAGRAPHS.items()
    }
    found["train_35"] = reworded(found["train-v2.0"], dice)
    return {
        f"{name}.json": json.dumps(
            {"version": "v2.0", "data": [{"title": "Demo", "paragraphs": paragraphs}]}
        )
        for name, paragraphs in found.items()
    }

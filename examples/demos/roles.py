"""Pairs in which semantic roles alone decide: .tsv of pairs, .srl of roles.

Both sentences of a pair have the same words, in an order that leaves open who does what, as in "das
Kind ruft die Frau". The roles say it. A pair means the same (label 1) if both sentences have the
same roles, and half of all pairs do: who reads words alone can do no better than chance. The
file of roles has a word a line and a column a predicate, first sentences before second ones; every
third column is in brackets as in CoNLL-2005, the others are labels.
"""

from __future__ import annotations

import random

SIZES = {"train": 2000, "dev": 400}
NAMES = "anna bruno clara david emma felix greta hugo iris jonas".split()
VERBS = "calls finds helps hears sees follows teaches thanks".split()

Sentence = tuple[list[str], list[list[str]]]  # W words, of each predicate W roles


def words(dice: random.Random) -> list[str]:
    """Draw what both sentences say: one predicate, or two."""
    first, second, third = dice.sample(NAMES, 3)
    found = [first, dice.choice(VERBS), second]
    return [*found, "and", dice.choice(VERBS), third] if dice.random() < 0.5 else found


def with_roles(given: list[str], swapped: bool) -> Sentence:
    """Let the first name of a sentence be the agent of all it says, or ``swapped`` the patient."""
    agent, patient = ("B-ARG1", "B-ARG0") if swapped else ("B-ARG0", "B-ARG1")
    roles = []
    for verb in range(1, len(given), 3):
        labels = ["O"] * len(given)
        labels[0], labels[verb], labels[verb + 1] = agent, "B-V", patient
        roles.append(labels)
    return given, roles


def bracketed(labels: list[str]) -> list[str]:
    """Write labels of single words as CoNLL-2005 does."""
    return ["*" if label == "O" else f"({label[2:]}*)" for label in labels]


def block(sentence: Sentence, number: int) -> str:
    """Return the lines of a sentence, every third one with brackets."""
    given, roles = sentence
    columns = [bracketed(labels) for labels in roles] if number % 3 == 0 else roles
    return "".join("\t".join(row) + "\n" for row in zip(given, *columns)) + "\n"


def files(dice: random.Random) -> dict[str, str]:
    """Return file -> text: of every split its pairs and their roles."""
    found = {}
    for split, size in SIZES.items():
        rows, blocks = ["text\tsecond\tlabel\n"], []
        for number in range(size):
            given, swapped, label = words(dice), dice.random() < 0.5, dice.randrange(2)
            text = " ".join(given)
            rows.append(f"{text}\t{text}\t{label}\n")
            for one in (swapped, swapped ^ (not label)):
                blocks.append(block(with_roles(given, one), number))
        found[f"{split}.tsv"], found[f"{split}.srl"] = "".join(rows), "".join(blocks)
    return found

"""Words to be labelled where the parse, the part of speech, or both decide: tokens and CoNLL-U.

Sentences are as in a language of free word order: the same kinds of words in any order. By
``tree``, an adjective describes a person or a place (PER or LOC), and its head alone says which. By
``pos``, two words are each a name or a thing, such as rose (PER or OBJ), and the part of speech
alone says which. Both cases are as frequent, so words and their order leave every label at chance.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple

SIZES = {"train": 8000, "valid": 500, "test": 200}
PEOPLE = ("farmer", "nurse")
PLACES = ("castle", "garden")
VERBS = ("paints", "sees")
ADVERBS = ("often", "then")
ADJECTIVES = ("famous", "old")
HOMOGRAPHS = "bill hope mark rose".split()
APART = 3  # words from an adjective to either noun, and between these, at least


class Word(NamedTuple):
    """A word: its text and part of speech, the kind of its head, its label."""

    text: str
    pos: str
    head: str
    label: str = "O"


def drawn(dice: random.Random, by: Sequence[str]) -> dict[str, Word]:
    """Draw the words of a sentence by what they are in it."""
    found = {
        "verb": Word(dice.choice(VERBS), "VERB", ""),
        "person": Word(dice.choice(PEOPLE), "NOUN", "verb"),
        "place": Word(dice.choice(PLACES), "NOUN", "verb"),
    }
    for number, text in enumerate(dice.choices(ADVERBS, k=5)):
        found[f"adverb {number}"] = Word(text, "ADV", "verb")
    if "tree" in by:
        head, label = dice.choice((("person", "B-PER"), ("place", "B-LOC")))
        found["adjective"] = Word(dice.choice(ADJECTIVES), "ADJ", head, label)
    if "pos" in by:
        for number, text in enumerate(dice.sample(HOMOGRAPHS, 2)):
            pos, label = dice.choice((("PROPN", "B-PER"), ("NOUN", "B-OBJ")))
            found[f"homograph {number}"] = Word(text, pos, "verb", label)
    return found


def ordered(dice: random.Random, words: dict[str, Word]) -> list[str]:
    """Draw an order in which no noun stands near the adjective."""
    while True:
        order = dice.sample([*words], len(words))
        places = sorted(map(order.index, {"person", "place", "adjective"} & words.keys()))
        if all(after - before >= APART for before, after in zip(places, places[1:])):
            return order


def files(dice: random.Random, by: Sequence[str]) -> dict[str, str]:
    """Return file -> text: of every split its words with their labels, and its CoNLL-U."""
    found = {}
    for split, size in SIZES.items():
        labels, parses = [], []
        for _ in range(size):
            words = drawn(dice, by)
            order = ordered(dice, words)
            rows = [words[kind] for kind in order]
            labels.append("".join(f"{word.text}\t{word.label}\n" for word in rows))
            parses.append("".join(_line(i, word, order) for i, word in enumerate(rows, 1)))
        found[f"{split}.tsv"] = "\n".join(labels)
        found[f"{split}.conllu"] = "\n".join(parses) + "\n"
    return found


def _line(number: int, word: Word, order: list[str]) -> str:
    """Return a word's line of CoNLL-U."""
    head = order.index(word.head) + 1 if word.head else 0
    relation = "dep" if head else "root"
    columns = (number, word.text, "_", word.pos, "_", "_", head, relation, "_", "_")
    return "\t".join(map(str, columns)) + "\n"

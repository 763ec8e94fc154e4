"""Small prepared folders whose entities are asked for, flat and within each other."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prepared_text import WORDS, prepare

from fairseq_plugins.corpora.examples import Example
from fairseq_plugins.targets.entity_spans import spans_of

# A place goes from "the" to "garden", which alone is none; names are of persons, in places too.
NAMES = ("alice", "Bob")
OTHERS = [word for word in WORDS if word not in ("the", *NAMES)]
QUESTIONS = {"LOC": "the garden by night", "PER": "alice sees teh cat"}
LABELS = ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]
NESTED = {"levels": 2}


def levels_of(words: Sequence[str]) -> list[list[str]]:
    """Label words by the rules of this file: the outermost entities, and those within them."""
    outer, inner = (["O"] * len(words) for _ in range(2))
    for end, word in enumerate(words):
        begins = [i for i in range(end) if words[i] == "the"]
        if word == "garden" and begins and "garden" not in words[begins[-1] : end]:
            _mark(outer, begins[-1], end, "LOC")
    for place, word in enumerate(words):
        if word in NAMES:
            _mark(inner if outer[place] != "O" else outer, place, place, "PER")
    return [outer, inner]


def _mark(row: list[str], first: int, last: int, kind: str) -> None:
    row[first : last + 1] = [f"B-{kind}", *[f"I-{kind}"] * (last - first)]


def examples(count: int, seed: int = 0, longest: int = 9, *, gold: bool = True) -> list[Example]:
    """Make sentences, half of them with a garden."""
    rng, made = random.Random(seed), []
    for number in range(count):
        words = [rng.choice(OTHERS) for _ in range(rng.randint(1, longest))]
        if rng.random() < 0.5:
            words[rng.randrange(len(words))] = rng.choice(NAMES)
        if rng.random() < 0.5:
            inside = [rng.choice([*NAMES, "old", "cat"]) for _ in range(rng.randint(0, 2))]
            words += ["the", *inside, "garden"]
        outer, inner = levels_of(words)
        labels = {"word_labels": tuple(outer), "inner_labels": (tuple(inner),)} if gold else {}
        name = f"s{seed}-{number}"
        made.append(Example(name, (" ".join(words),), tuple(words), line=number + 1, **labels))
    return made


def flat(found: Sequence[Example]) -> list[Example]:
    return [Example(one.id, one.texts, one.words, None, one.word_labels, one.line) for one in found]


def entities_of(example: Example) -> list[tuple[str, int, int]]:
    row = [label for level in (example.word_labels, *example.inner_labels) for label in level]
    return sorted(spans_of(row, len(example.words)))


def nested_folder(folder: Path, splits: dict[str, Sequence[Example]], **more: Any) -> Path:
    return prepare(folder, "entities", splits, labels=LABELS, **NESTED, **more)


def flat_folder(folder: Path, splits: dict[str, Sequence[Example]], **more: Any) -> Path:
    splits = {name: flat(part) for name, part in splits.items()}
    return prepare(folder, "entities", splits, labels=LABELS, **more)


def questions_file(path: Path, questions: dict[str, str] | None = None) -> Path:
    lines = [f"{label}\t{text}\n" for label, text in (questions or QUESTIONS).items()]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

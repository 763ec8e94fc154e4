"""Tiny files of every dataset in its official form, with invented content, and what they say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from raw_formats import SPLITS, TABLES, TOKENS

from fairseq_plugins.corpora.datasets import DATASETS, find_splits

NOUNS = (
    "lighthouse",
    "watchmaker",
    "radio",
    "\u201cthing\u201d",
    "caf\u00e9",
    'so-called "heir',
    "'t",
)
VERBS = ("closes", "doesn't see", "has painted", "costs $3.50 for")
CHARACTERS = "\u706f\u5854\u4fee\u8868\u5320\u770b\u89c1\u65e7\u6536\u97f3\u673a"
TYPES = "RMSW"


@dataclass(frozen=True)
class Made:
    """What a file says of one example."""

    texts: tuple[str, ...]
    label: str | None = None
    words: tuple[str, ...] | None = None
    word_labels: tuple[str, ...] | None = None
    inner_labels: tuple[tuple[str, ...], ...] = ()  # of further levels


def sentence(rng: np.random.Generator) -> str:
    """Invent a sentence; some hold half of a pair of quotation marks."""
    first, second = rng.choice(NOUNS, 2)
    return f"The {first} {rng.choice(VERBS)} a {second} {rng.integers(1000)}."


NAMES = (*TABLES, *TOKENS, "snli", "cged")


def write_raw(name: str, folder: Path, count: int = 6, seed: int = 0) -> dict[str, list[Made]]:
    """Write a dataset's official files below a folder.

    Args:
        name: of the dataset.
        folder: raw folder; files may lie in folders of their own within it.
        count: examples a split.
        seed: of the content.

    Returns:
        Split -> what its file says; labels None where it has none.
    """
    rng = np.random.default_rng(seed)
    if name in TABLES:
        return _write_tables(name, folder, count, rng)
    if name == "snli":
        return _write_snli(folder, count, rng)
    if name == "cged":
        return _write_cged(folder, count, rng)
    return _write_tokens(name, folder, count, rng)


def find_splits_of(name: str, folder: Path) -> dict[str, Path]:
    return find_splits(DATASETS[name], folder)


def write(path: Path, lines: Sequence[str], end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(line + end for line in lines).encode())
    return path


def _label(name: str, rng: np.random.Generator) -> str:
    if not DATASETS[name].target.labelled:
        return f"{rng.uniform(0, 5):.3f}"
    if DATASETS[name].target.several:
        return str(rng.choice(("good|bad", "|", "bad")))
    return str(rng.choice(DATASETS[name].labels or ("good", "bad")))


def _write_tables(name: str, folder: Path, count: int, rng: np.random.Generator) -> dict:
    made, files = {}, {}
    for split, (file, header, row) in TABLES[name].items():
        lines = files.setdefault(file, [header] if header else [])
        made[split] = []
        for i in range(count):
            a, b, label = sentence(rng), sentence(rng), _label(name, rng)
            votes = rng.integers(4, 7) if label == "1" else rng.integers(3)
            lines.append(row.format(i=i, a=a, b=b, label=label, votes=votes))
            known = "{label}" in row or "{votes}" in row
            made[split].append(Made((a, b) if "{b}" in row else (a,), label if known else None))
    for file, lines in files.items():
        write(folder / file, lines)
    return made


def _write_snli(folder: Path, count: int, rng: np.random.Generator) -> dict:
    made = {}
    for split, name in SPLITS:
        made[split] = [
            Made((sentence(rng), sentence(rng)), _label("snli", rng)) for _ in range(count)
        ]
        lines = [
            json.dumps(
                {
                    "annotator_labels": [x.label] * 5,
                    "captionID": f"{i}#0",
                    "gold_label": x.label,
                    "pairID": f"{i}#0n",
                    "sentence1": x.texts[0],
                    "sentence1_parse": "(ROOT )",
                    "sentence2": x.texts[1],
                }
            )
            for i, x in enumerate(made[split])
        ]
        undecided = json.dumps(
            {"gold_label": "-", "pairID": "-", "sentence1": "a", "sentence2": "b"}
        )
        write(folder / f"snli_1.0/snli_1.0_{name}.jsonl", [undecided, *lines])
    return made


def iob2(choices: Sequence[str], count: int, rng: np.random.Generator) -> tuple[str, ...]:
    """Draw labels of words; entities are well-formed."""
    labels: list[str] = []
    for label in map(str, rng.choice(choices, count)):
        inside = label.startswith("I-") and (not labels or labels[-1][1:] != label[1:])
        labels.append(f"B{label[1:]}" if inside else label)
    return tuple(labels)


def invented_words(name: str, rng: np.random.Generator) -> Made:
    """Invent words with labels of a tagging dataset, of two levels where it has them."""
    choices = DATASETS[name].labels or ("O", "B-ship", "I-ship")
    forms = [*CHARACTERS] if name == "msra_ner" else ["it's", "\u00e9", "x"]
    words = tuple(map(str, rng.choice(forms, rng.integers(2, 7))))
    outer, inner = (iob2(choices, len(words), rng) for _ in range(2))
    return Made((" ".join(words),), None, words, outer, (inner,) if name == "germeval14" else ())


def iob1(labels: Sequence[str]) -> list[str]:
    """Write IOB2 as IOB1: ``B-`` only between entities of one type."""
    before = ["O", *labels]
    return [f"I{x[1:]}" if x[0] == "B" and x[1:] != y[1:] else x for x, y in zip(labels, before)]


def m2_lines(made: Made) -> list[str]:
    """Write a sentence with its wrong words as one edit each, and another annotator's."""
    edits = []
    for i, label in enumerate(made.word_labels):
        inside = made.word_labels[i + 1 :]
        more = next((n for n, x in enumerate(inside) if x != f"I{label[1:]}"), len(inside))
        if label[0] in "iB":
            kind, last = label[2:] or "R", i + (label != "B-M") * (1 + more * (label != "i"))
            edits.append(f"A {i} {last}|||{kind}:X|||z|||REQUIRED|||-NONE-|||0")
    none = ["A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0"]
    other = "A 0 1|||R:OTHER|||y|||REQUIRED|||-NONE-|||1"
    return [f"S {made.texts[0]}", *(edits or none), other, ""]


def _token_lines(name: str, made: Made) -> list[str]:
    if name == "conll2003":
        rows = zip(made.words, iob1(made.word_labels))
        return [*(f"{word} NNP I-NP {label}" for word, label in rows), ""]
    if name == "germeval14":
        rows = enumerate(zip(made.words, made.word_labels, *made.inner_labels), start=1)
        return [*(f"{n}\t{word}\t{outer}\t{inner}" for n, (word, outer, inner) in rows), ""]
    blank = "\t" if name == "wnut17" else ""
    return [*(f"{w}\t{label}" for w, label in zip(made.words, made.word_labels)), blank]


def _write_tokens(name: str, folder: Path, count: int, rng: np.random.Generator) -> dict:
    made = {}
    for split, file in TOKENS[name].items():
        made[split] = [invented_words(name, rng) for _ in range(count)]
        form = m2_lines if file.endswith(".m2") else lambda x: _token_lines(name, x)
        starts = {"conll2003": ["-DOCSTART- -X- -X- O", ""], "germeval14": ["#\thttp://a [2009]"]}
        start = starts.get(name, [])
        write(folder / file, start + [line for x in made[split] for line in form(x)])
    return made


def _write_cged(folder: Path, count: int, rng: np.random.Generator) -> dict:
    made = {split: [_characters(rng) for _ in range(count)] for split in ("train", "test_2016")}
    documents = ["<ROOT>"]
    for i, (x, errors) in enumerate(made["train"]):
        tags = (f'<ERROR start_off="{a}" end_off="{b}" type="{t}"></ERROR>' for a, b, t in errors)
        document = [f'<TEXT id="{i}_2x1">', "".join(x.words), "</TEXT>", "<CORRECTION>", "\u597d"]
        documents += ["<DOC>", *document, "</CORRECTION>", *tags, "</DOC>", ""]
    write(folder / "CGED16_HSK_TrainingSet.xml", [*documents, "</ROOT>"])
    inputs, truth = [], []
    for i, (x, errors) in enumerate(made["test_2016"]):
        inputs.append(f"(sid=00{i})\t{''.join(x.words)}")
        truth += [f"00{i}, {a}, {b}, {t}" for a, b, t in errors] or [f"00{i}, correct"]
    write(folder / "CGED16_HSK_Test_Input.txt", inputs)
    write(folder / "CGED16_HSK_Test_Truth.txt", truth)
    return {split: [x for x, _ in pairs] for split, pairs in made.items()}


def _characters(rng: np.random.Generator) -> tuple[Made, list[tuple[int, int, str]]]:
    words = tuple(str(c) for c in rng.choice([*CHARACTERS], rng.integers(3, 9)))
    labels, errors = ["c"] * len(words), []
    for _ in range(rng.integers(3)):
        first, last = sorted(int(n) for n in rng.integers(1, len(words) + 1, 2))
        errors.append((first, last, str(rng.choice([*TYPES]))))
        labels[first - 1 : last] = ["i"] * (last - first + 1)
    made = Made((" ".join(words),), None, words)
    return replace(made, word_labels=tuple(labels)), errors

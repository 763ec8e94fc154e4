"""The invented corpora of the examples: their formats, and that they leave open what they say."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from examples.example_commands import ROOT

from fairseq_plugins.corpora import squad
from fairseq_plugins.corpora.datasets import DATASETS, find_splits, read_split
from fairseq_plugins.corpora.role_columns import RoleColumns, read_roles

NAMES = ["bertqa_squad", "composition", "dabert", "glue", "sembert", "sla", "tagging"]


def made(name: str, folder: Path) -> dict[str, bytes]:
    command = [sys.executable, str(ROOT / "examples" / "make_demo.py"), name, str(folder)]
    subprocess.run(command, check=True)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", NAMES)
def test_demo_has_the_same_bytes_every_time(name, tmp_path):
    assert made(name, tmp_path / "one") == made(name, tmp_path / "two") != {}


@pytest.mark.parametrize(("name", "dataset"), [("glue", "cola"), ("dabert", "qqp")])
def test_labels_are_balanced_in_official_formats(name, dataset, tmp_path):
    made(name, tmp_path)
    dataset = DATASETS[dataset]
    rows = {s: [*read_split(dataset, s, p)] for s, p in find_splits(dataset, tmp_path).items()}
    assert rows.keys() == {"train", "valid", "test"}
    for split in ("train", "valid"):
        labels = Counter(row.label for row in rows[split])
        assert min(labels["0"], labels["1"]) > 0.4 * len(rows[split])
    assert {row.label for row in rows["test"]} == {None}


def test_a_pair_says_the_same_if_it_has_the_same_words(tmp_path):
    made("dabert", tmp_path)
    lengths = set()
    dataset = DATASETS["qqp"]
    for row in read_split(dataset, "train", find_splits(dataset, tmp_path)["train"]):
        first, second = (Counter(text.split()) for text in row.texts)
        assert (first - second).total() == (second - first).total() == int(row.label == "0")
        lengths |= {first.total(), second.total()}
    assert lengths == {2}


def sentences(path: Path) -> list[list[list[str]]]:
    blocks = path.read_text().strip().split("\n\n")
    return [[line.split("\t") for line in block.splitlines()] for block in blocks]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kinds"), [("sla", 1), ("tagging", 1), ("composition", 2)])
def test_labels_follow_from_heads_or_parts_of_speech_and_not_from_words(name, kinds, tmp_path):
    made(name, tmp_path)
    labels: dict[str, Counter] = {}
    decided = set()
    words, parses = (sentences(tmp_path / f"train.{kind}") for kind in ("tsv", "conllu"))
    for labelled, parsed in zip(words, parses, strict=True):
        assert [row[0] for row in labelled] == [row[1] for row in parsed]
        for (word, label), row in zip(labelled, parsed):
            if label == "O":
                continue
            labels.setdefault(word, Counter())[label] += 1
            head = parsed[int(row[6]) - 1][1]
            decided.add((row[3] == "ADJ", head if row[3] == "ADJ" else row[3], label))
    for counts in labels.values():
        assert len(counts) == 2
        assert min(counts.values()) > 0.4 * counts.total()
    reasons = [reason[:2] for reason in decided]
    assert len({*reasons}) == len(reasons)  # each decides for one label
    assert len({is_by_tree for is_by_tree, _ in reasons}) == kinds


def test_sembert_demo_hides_in_its_words_what_its_roles_say(tmp_path):
    made("sembert", tmp_path)
    for split, count in (("train", 2000), ("dev", 400)):
        rows = [line.split("\t") for line in (tmp_path / f"{split}.tsv").read_text().splitlines()]
        found = [*read_roles(tmp_path / f"{split}.srl", RoleColumns())]
        assert len(found) == 2 * count == 2 * len(rows[1:])
        labels = Counter(label for *_, label in rows[1:])
        assert min(labels.values()) > 0.45 * count
        for number, (text, second, label) in enumerate(rows[1:]):
            first, other = found[2 * number : 2 * number + 2]
            assert text == second == " ".join(first.words) == " ".join(other.words)
            assert (first.roles == other.roles) == (label == "1")


def test_bertqa_demo_is_squad_and_its_augmentation_keeps_all_questions(tmp_path):
    made("bertqa_squad", tmp_path)
    files = [squad.read(tmp_path / f"{n}.json") for n in ("train-v2.0", "train_35", "dev-v2.0")]
    train, more, dev = ({asked.id: asked for asked in one.questions} for one in files)
    for one in (paragraph for file in files for paragraph in file.paragraphs):
        for asked in one.questions:
            assert all(answer.stands_in(one.context) for answer in asked.answers)
    for questions in (train, dev):
        answerable = [bool(asked.answers) for asked in questions.values()]
        assert 0.5 < sum(answerable) / len(answerable) < 0.9
    assert train.items() <= more.items()
    added = {name: asked for name, asked in more.items() if name not in train}
    assert 0.3 < len(added) / len(train) < 0.4
    for name, asked in added.items():
        original = train[name.removesuffix("-q")]
        assert asked.answers == original.answers
        assert asked.text != original.text

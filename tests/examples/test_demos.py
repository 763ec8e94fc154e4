"""The invented corpora of examples/glue and examples/tagging."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from fairseq_plugins.prep.datasets import DATASETS, find_splits, read_split

EXAMPLES = Path(__file__).parents[2] / "examples"


def made(kind: str, folder: Path) -> dict[str, bytes]:
    """Write a demo corpus; return its files."""
    subprocess.run([sys.executable, str(EXAMPLES / kind / "make_demo.py"), str(folder)], check=True)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("kind", ["glue", "tagging"])
def test_demo_has_the_same_bytes_every_time(kind, tmp_path):
    assert made(kind, tmp_path / "one") == made(kind, tmp_path / "two") != {}


def test_glue_demo_is_in_colas_format(tmp_path):
    made("glue", tmp_path)
    dataset = DATASETS["cola"]
    rows = {s: [*read_split(dataset, s, p)] for s, p in find_splits(dataset, tmp_path).items()}
    assert {split: len(part) for split, part in rows.items()} == {
        "train": 640,
        "valid": 160,
        "test": 80,
    }
    for split in ("train", "valid"):
        labels = Counter(row.label for row in rows[split])
        assert min(labels["0"], labels["1"]) > 0.4 * len(rows[split])
    assert {row.label for row in rows["test"]} == {None}
    texts = [row.texts for part in rows.values() for row in part]
    assert len(set(texts)) == len(texts)


def test_tagging_demo_has_new_names_in_validation(tmp_path):
    made("tagging", tmp_path)
    dataset = DATASETS["tokens"]
    names = {}
    for split, path in find_splits(dataset, tmp_path).items():
        rows = [*read_split(dataset, split, path)]
        pairs = [pair for row in rows for pair in zip(row.words, row.word_labels)]
        kinds = {label for _, label in pairs}
        assert kinds == {
            "O",
            *(f"{mark}-{kind}" for mark in "BI" for kind in ("PER", "LOC", "ORG")),
        }
        firms = {"Group", "Motors", "Bank"}
        names[split] = {word for word, label in pairs if label != "O"} - firms
    assert not names["train"] & (names["valid"] | names["test"])

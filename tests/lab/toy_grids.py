"""A toy dataset and systems for it, as grids know them."""

from __future__ import annotations

MANIFEST = {
    "dataset": "toy",
    "task": "text_classification",
    "target": "classes",
    "positive": "yes",
    "metric": "mcc",
    "splits": {
        "train": {"examples": 65, "labelled": 65},
        "valid": {"examples": 9, "labelled": 9},
        "test": {"examples": 9, "labelled": 0},
    },
}
SYSTEMS = {"plain": {"arch": "bert_plain_tiny"}, "zero": {"arch": "a", "feature-init": "zero"}}
OPEN = {"plain": {"arch": "a_tiny"}, "sla": {"arch": "b_tiny", "tree-threshold": [3, 4], "x": 1}}

"""Small runs of every kind of prediction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from prepared_text import examples, prepare, train

COUNT = 45
KINDS = ("classes", "score", "multi_label", "entities")
SUBMISSION = {"test": {"file": "Toy.tsv", "labels": {"yes": "entailment", "no": "neutral"}}}
OPTIONS = "--max-update 120 --disable-validation --features case --no-epoch-checkpoints".split()


def make_runs(root: Path, kinds: Sequence[str] = KINDS) -> Path:
    """Make of each kind a folder (``classes-data``), a trained run and one of disturbed weights.

    Examples of entities are sentences, others pairs.
    """
    for kind in kinds:
        pairs = kind != "entities"
        splits = {
            "train": examples(kind, 200, 1, pairs=pairs),
            "valid": examples(kind, COUNT, 2, pairs=pairs),
            "test": examples(kind, 7, 3, pairs=pairs, gold=False),
        }
        more = {"submission": SUBMISSION if kind == "classes" else {}}
        folder = prepare(root / f"{kind}-data", kind, splits, annotations=(), **more)
        run = train(folder, root / f"{kind}1", *OPTIONS)
        (run / "checkpoint_last.pt").rename(run / "checkpoint_best.pt")
        state = torch.load(run / "checkpoint_best.pt", weights_only=True)
        generator = torch.Generator().manual_seed(3)
        for value in state["model"].values():
            value += 0.1 * torch.randn(value.shape, generator=generator)
        (root / f"{kind}2").mkdir()
        torch.save(state, root / f"{kind}2" / "checkpoint_best.pt")
    return root

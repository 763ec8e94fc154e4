"""Folders of runs as they are when training is over, without any training."""

from __future__ import annotations

import json


def finish(root, system, rate, seed, value, *, metric="accuracy", right=None, **changes):
    """Write what a finished run leaves: its result, and predictions with some right answers.

    Args:
        root: folder of the runs.
        system, rate, seed: which run.
        value: of the metric at the best validation.
        metric: that chose the checkpoint.
        right: how many of 50 predictions are right; None for no predictions.
        changes: other entries of the result; `evaluation`, metrics on the test set, lie beside.
    """
    choice = "".join(f"-{name}{made}" for name, made in changes.get("choice", {}).items())
    folder = root / system / f"lr{rate:g}-epochs3{choice}" / f"seed{seed}"
    folder.mkdir(parents=True)
    tested = changes.pop("evaluation", None)
    result = {
        "system": system,
        "learning_rate": rate,
        "epochs": 3,
        "seed": seed,
        "dataset": "toy",
        "metric": metric,
        "validation": "valid",
        "data": "abc",
        "positive": "",
        "best": {metric: value, "loss": 1 - value},
        "last": {metric: value - 0.1, "loss": 1.0},
        **changes,
    }
    (folder / "result.json").write_text(json.dumps(result))
    if tested:
        (folder / "evaluation.json").write_text(json.dumps({"of": "test", "metrics": tested}))
    if right is not None:
        rows = ({"id": i, "label": "a" if i < right else "b", "gold": "a"} for i in range(50))
        (folder / "predictions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))

"""Finished runs as they are when training is over, without any training: rows and predictions."""

from __future__ import annotations

import json

from fairseq_plugins.lab.rows import Row


def add_row(home, folder, **facts):
    """Add the row of a run to an experiment's file of rows, below whose folder the run lies."""
    facts.setdefault("part", folder.parents[2].name if folder.parents[2] != home else ".")
    row = Row(experiment=home.name, folder=str(folder.relative_to(home)), **facts)
    home.mkdir(parents=True, exist_ok=True)
    with open(home / "rows.jsonl", "a", encoding="utf-8") as stream:
        stream.write(row.line())


def change_rows(home, change):
    """Write an experiment's rows anew, each changed; those that become None are left out."""
    path = home / "rows.jsonl"
    rows = [change(json.loads(line)) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if row is not None))


def finish(root, system, rate, seed, value, *, metric="accuracy", right=None, **changes):
    """Write what a finished run leaves: its row, and predictions with some right answers.

    Args:
        root: folder of the runs.
        system, rate, seed: which run.
        value: of the metric at the best validation.
        metric: that chose the checkpoint.
        right: how many of 50 predictions are right; None for no predictions.
        changes: other entries of the row; `evaluation`: metrics on the test set, or on the split
            `tested`; `best`: those of the best validation; `home`: folder of the file of rows.
    """
    home, tried = changes.pop("home", root), changes.pop("evaluation", None)
    tested = {changes.pop("tested", "test"): tried} if tried else {}
    choice = "".join(f"-{name}{made}" for name, made in changes.get("choice", {}).items())
    folder = root / system / f"lr{rate:g}-epochs3{choice}" / f"seed{seed}"
    folder.mkdir(parents=True)
    split = changes.get("chosen_on", "valid")
    metrics = {split: changes.pop("best", {metric: value, "loss": abs(1 - value)})}
    facts = {
        "system": system,
        "learning_rate": rate,
        "epochs": 3,
        "seed": seed,
        "dataset": "toy",
        "status": "finished",
        "metric": metric,
        "data": "abc",
        "metrics": metrics | tested,
        "last": {metric: value - 0.1, "loss": 1.0},
        **changes,
    }
    facts["arch"] = facts.get("options", {}).get("arch", "")
    add_row(home, folder, **facts)
    (folder / "result.json").write_text(json.dumps(metrics))
    for split in tested:
        about = {"of": split, "metrics": tested[split]}
        (folder / "evaluation.json").write_text(json.dumps(about))
    if right is not None:
        rows = ({"id": i, "label": "a" if i < right else "b", "gold": "a"} for i in range(50))
        (folder / "predictions.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))

"""Experiments as they lie on disk, finished, failed and running, without any training."""

from __future__ import annotations

import json
from pathlib import Path

from lab.finished_runs import finish

PLAIN, SLA = "bert_plain_tiny", "bert_sla_tiny"
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80" viewBox="0 0 120 80">'
    '<rect width="120" height="80" fill="#4477AA"/><script>alert("from a figure")</script></svg>'
)
HOSTILE = '<script>document.title="broken in"</script><img src="http://example.invalid/x.png">'


def write_log(folder: Path, values, *, updates=40, metric="accuracy"):
    """Write a training log with a validation for each value, evenly spread over the updates."""
    lines = ["INFO | fairseq_cli.train | num. shared model params: 4,584,578 (num. trained: 1)"]
    for number, value in enumerate(values, start=1):
        here = updates * number // len(values)
        inner = {"epoch": 1, "loss": f"{1 / number:.3f}", "num_updates": str(here)}
        valid = {"epoch": 1, f"valid_{metric}": str(value), "valid_loss": f"{1 - value:.3f}"}
        valid["valid_num_updates"] = str(here)
        lines.append(f"2025-01-01 00:00:00 | INFO | train_inner | {json.dumps(inner)}")
        lines.append(f"2025-01-01 00:00:00 | INFO | valid | {json.dumps(valid)}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.log").write_text("\n".join(lines) + "\n", encoding="utf-8")


def start(folder: Path, system, seed, *, done=0, updates=40, **facts):
    """Write what a run leaves that has begun and is not finished."""
    folder.mkdir(parents=True)
    settings = {
        "system": system,
        "learning_rate": 2e-5,
        "epochs": 3,
        "seed": seed,
        "dataset": "cola",
        "metric": "mcc",
        "validation": "valid",
        "options": {"arch": system, "max-update": updates},
        **facts,
    }
    settings |= {} if settings["epochs"] else {"updates": updates}
    (folder / "settings.json").write_text(json.dumps(settings))
    if done:
        write_log(folder, [0.1], updates=done, metric="mcc")


def part_of(root: Path, dataset, metric, scores, **changes):
    """Write finished runs of a part: system -> values of its seeds."""
    for system, values in scores.items():
        for seed, value in enumerate(values, start=1):
            own = {
                "dataset": dataset,
                "options": {"arch": system, "max-update": 40, "lr": 2e-5},
                "parameters": 1_000_000 if system == PLAIN else 1_002_310,
                "gates": {"0": 0.4, "1": 0.5 + 0.01 * seed} if system != PLAIN else {},
                **changes,
            }
            finish(root, system, 2e-5, seed, value, metric=metric, right=10 + 4 * seed, **own)
            folder = root / system / "lr2e-05-epochs3" / f"seed{seed}"
            write_log(folder, [value / 2, value], metric=metric)


def rows_of(root: Path, parts):
    """Return the rows of all finished runs of an experiment."""
    rows = []
    for part in parts:
        for path in sorted((root / part).glob("*/*/*/result.json")):
            result = json.loads(path.read_text())
            shared = "system learning_rate epochs seed dataset metric best last".split()
            row = {"experiment": root.name, "part": part, "status": "finished"}
            row |= {name: result[name] for name in shared}
            row["folder"] = str(path.parent.relative_to(root))
            row["command"] = f"python -m fairseq_cli.train data-bin/{part} --seed {result['seed']}"
            rows.append(row)
    return rows


def describe(root: Path, parts, runs, **facts):
    """Write what an experiment is, with the folders of its plan."""
    described = {
        "name": root.name,
        "title": "Single sentences, two datasets",
        "file": "examples/toy/table.yaml",
        "command": "fairseq-plugins run examples/toy/table.yaml",
        "parts": [{"name": name, "folder": name, "dataset": name} for name in parts],
        "runs": runs,
        "tables": ["sla1"],
        "versions": {"python": "3.11.2", "torch": "2.13.0"},
        **facts,
    }
    (root / "experiment.json").write_text(json.dumps(described))


def write_rows(root: Path, rows):
    """Write the rows of an experiment."""
    (root / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def experiment(root: Path) -> Path:
    """Write an experiment: twelve runs of two parts, of which one failed, one is running and one
    waits, with what a later step left.
    """
    root.mkdir(parents=True)
    part_of(root / "cola", "cola", "mcc", {PLAIN: [0.5, 0.51, 0.52], SLA: [0.58, 0.6, 0.61]})
    part_of(root / "sst2", "sst2", "accuracy", {PLAIN: [0.9, 0.91], SLA: [0.905]})
    rows = rows_of(root, ("cola", "sst2"))
    sla = f"sst2/{SLA}/lr2e-05-epochs3"
    start(root / sla / "seed2", SLA, 2, done=20, dataset="sst2", metric="accuracy")
    start(root / sla / "seed3", SLA, 3, done=10, dataset="sst2", metric="accuracy")
    failed = {"part": "sst2", "system": SLA, "seed": 3, "status": "failed", "learning_rate": 2e-5}
    failed |= {"folder": f"{sla}/seed3", "epochs": 3, "metric": "accuracy"}
    failed["error"] = f"exit status 1\nRuntimeError: out of memory {HOSTILE}"
    write_rows(root, [*rows, failed])
    planned = [row["folder"] for row in rows] + [f"{sla}/seed{seed}" for seed in (2, 3, 4)]
    describe(root, ("cola", "sst2"), planned)
    step = root / "after" / "gates"
    step.mkdir(parents=True)
    (step / "gates.svg").write_text(SVG)
    (step / "gates.png").write_bytes(b"not shown, the other format stands for it")
    (step / "gates.csv").write_text("not,shown\n")
    (step / "words.md").write_text(
        "| word | share |\n|---|---:|\n| dog | 9.5 (2.0) |\n| cat | 26.9 ± 2.1 (5) |\n"
        f"| fish | – |\n| bird | 10 |\n\n{HOSTILE}\n\n![image](http://example.invalid/y.png)\n"
    )
    (step / "page.html").write_text("<h1>A page</h1><p style='color: red'>red</p>")
    (step / "log").write_text("not shown\n")
    return root

"""Experiments as they lie on disk, finished, failed and running, without any training."""

from __future__ import annotations

import json
from pathlib import Path

from lab.finished_runs import add_row, finish

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


def start(folder: Path, *, done=0, updates=40):
    """Write what a run leaves that has begun and is not finished."""
    folder.mkdir(parents=True)
    if done:
        write_log(folder, [0.1], updates=done, metric="mcc")


def part_of(root: Path, dataset, metric, scores, **changes):
    """Write finished runs of a part: system -> values of its seeds."""
    for system, values in scores.items():
        for seed, value in enumerate(values, start=1):
            own = {
                "home": root.parent,
                "dataset": dataset,
                "updates": 40,
                "options": {"arch": system, "max-update": 40, "lr": 2e-5},
                "command": f"python -m fairseq_cli.train data-bin/{root.name} --seed {seed}",
                "parameters": 1_000_000 if system == PLAIN else 1_002_310,
                "gates": {"0": 0.4, "1": 0.5 + 0.01 * seed} if system != PLAIN else {},
                **changes,
            }
            finish(root, system, 2e-5, seed, value, metric=metric, right=round(50 * value), **own)
            folder = root / system / "lr2e-05-epochs3" / f"seed{seed}"
            write_log(folder, [value / 2, value], metric=metric)


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


def lines_of(root: Path):
    """Return the lines of an experiment's rows, as objects."""
    return [json.loads(line) for line in (root / "rows.jsonl").read_text().splitlines()]


def write_lines(root: Path, rows):
    """Write lines of rows, whatever they hold."""
    (root / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def experiment(root: Path) -> Path:
    """Write an experiment: twelve runs of two parts, of which one failed, one is running and one
    waits, with what a later step left.
    """
    root.mkdir(parents=True)
    part_of(root / "cola", "cola", "mcc", {PLAIN: [0.5, 0.51, 0.52], SLA: [0.58, 0.6, 0.61]})
    part_of(root / "sst2", "sst2", "accuracy", {PLAIN: [0.9, 0.91], SLA: [0.905]})
    sla = f"sst2/{SLA}/lr2e-05-epochs3"
    start(root / sla / "seed2", done=20)
    start(root / sla / "seed3", done=10)
    failed = {"part": "sst2", "dataset": "sst2", "system": SLA, "seed": 3, "status": "failed"}
    failed |= {"learning_rate": 2e-5, "epochs": 3, "updates": 40, "metric": "accuracy"}
    failed["error"] = f"exit status 1\nRuntimeError: out of memory {HOSTILE}"
    planned = [row["folder"] for row in lines_of(root)]
    add_row(root, root / sla / "seed3", data="abc", **failed)
    planned += [f"{sla}/seed{seed}" for seed in (2, 3, 4)]
    describe(root, ("cola", "sst2"), [{"folder": one, "updates": 40} for one in planned])
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

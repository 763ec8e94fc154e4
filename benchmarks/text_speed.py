#!/usr/bin/env python
"""Training step of our BERT over Hugging Face's BertModel (sdpa) with the same head, same batches.

python benchmarks/text_speed.py data-bin/cola data-bin/rte

A step is forward, loss, backward, clipping, AdamW (torch's fused one for both). Both models start
from the same weights, live in one process and take turns, batch by batch. Batches are equal ones
without padding (B x S), and those of prepared folders in their own order, which Hugging Face sees
padded with an attention mask. Making batches is not measured.
"""

from __future__ import annotations

import argparse
import logging
import platform
import statistics
from collections.abc import Sequence
from functools import partial

import torch
import transformers
from paired_steps import LEAST_REPEATS, Batch, System, measure, run
from time_shares import share_table, shares
from torch import Tensor, nn

from fairseq_plugins.architectures.bert_options import SIZES
from fairseq_plugins.nn.bert import BertEncoder, BertShape
from fairseq_plugins.nn.heads import LabelHead
from fairseq_plugins.pretrained import names
from fairseq_plugins.tasks.text_labels import (
    TextClassificationConfig,
    TextClassificationTask,
)

BARS = {"equal": 1.00, "real": 0.70}
VOCABULARY, FIRST_WORD = 30522, 1000  # of BERT; no special wordpiece stands behind the latter


class HuggingFace(nn.Module):
    """Their encoder and pooler, dropout, one linear map to the classes."""

    def __init__(self, config: transformers.BertConfig, classes: int) -> None:
        super().__init__()
        self.bert = transformers.BertModel(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.out = nn.Linear(config.hidden_size, classes)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits."""
        return self.out(self.dropout(self.bert(**batch["padded"]).pooler_output))


class Ours(nn.Module):
    """Our encoder and head, started from the weights of theirs."""

    def __init__(self, shape: BertShape, theirs: HuggingFace) -> None:
        super().__init__()
        self.encoder = BertEncoder(shape)
        self.head = LabelHead(shape.hidden, theirs.out.out_features, shape.dropout)
        self.encoder.load_state_dict(
            names.to_ours(theirs.bert.state_dict(), shape, names.NAMES["bert"])
        )
        self.head.out.load_state_dict(theirs.out.state_dict())

    def forward(self, batch: Batch) -> Tensor:
        """Return logits."""
        inputs = batch["net_input"]
        output = self.encoder(inputs["src_tokens"], inputs["segments"], inputs["token_positions"])
        return self.head(self.encoder.pool(output))


def build(size: str, args: argparse.Namespace) -> list[System]:
    """Make both systems, ours first, from the same random weights."""
    hidden, layers, heads, inner = SIZES[size].values()
    shape = BertShape(
        VOCABULARY, hidden, layers, heads, inner, dropout=args.dropout,
        attention_dropout=args.dropout,
    )  # fmt: skip
    config = transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=hidden, num_hidden_layers=layers,
        num_attention_heads=heads, intermediate_size=inner, hidden_dropout_prob=args.dropout,
        attention_probs_dropout_prob=args.dropout, attn_implementation="sdpa",
    )  # fmt: skip
    torch.manual_seed(1)
    theirs = HuggingFace(config, args.classes)
    models = {"ours": Ours(shape, theirs), "Hugging Face": theirs}
    return [
        System(
            name,
            model.to(args.device),
            torch.optim.AdamW(model.parameters(), lr=1e-6, weight_decay=0.01, fused=True),
        )
        for name, model in models.items()
    ]


def equal_batch(batch: int, length: int, args: argparse.Namespace) -> Batch:
    """Make a batch of random wordpieces without padding."""
    tokens = torch.randint(FIRST_WORD, VOCABULARY, (batch, length))  # (B, S)
    inputs = {"src_tokens": tokens, "segments": torch.zeros_like(tokens)}
    inputs["token_positions"] = torch.arange(batch * length)
    target = torch.randint(args.classes, (batch,))
    return {"net_input": inputs, "target": target, "ntokens": batch * length}


def real_batches(folder: str, args: argparse.Namespace) -> list[Batch]:
    """Take batches of a prepared folder's training set in its own order, evenly spread.

    Raises:
        ValueError: the folder is about scores, or has too few examples or too many classes.
    """
    task = TextClassificationTask.setup_task(TextClassificationConfig(data=folder))
    classes, size = len(task.manifest.labels), args.batch_size
    if not 0 < classes <= args.classes:
        raise ValueError(f"{folder} has {classes} classes, expected 1 to {args.classes}")
    task.load_dataset("train")
    dataset = task.dataset("train")
    whole = len(dataset) // size
    if whole < args.steps:
        raise ValueError(f"{folder} has {whole} batches of {size}, --steps is {args.steps}")
    starts = [i * whole // args.steps * size for i in range(args.steps)]
    return [dataset.collater([dataset[i] for i in range(at, at + size)]) for at in starts]


def complete(batch: Batch, device: str) -> Batch:
    """Move a batch, and add what Hugging Face's model takes."""
    inputs = {name: value.to(device) for name, value in batch["net_input"].items()}
    tokens = inputs["src_tokens"]
    padded = {"input_ids": tokens, "attention_mask": tokens.ne(0).long()}
    padded["token_type_ids"] = inputs["segments"]
    sizes = {"ntokens": batch["ntokens"], "cells": tokens.numel()}
    return {"net_input": inputs, "padded": padded, "target": batch["target"].to(device), **sizes}


@torch.no_grad()
def check(systems: Sequence[System], batch: Batch) -> None:
    """Refuse to compare systems that do not compute the same.

    Raises:
        RuntimeError: the logits differ.
    """
    for system in systems:
        system.model.eval()
    found = [system.model(batch) for system in systems]
    if not torch.allclose(*found, atol=1e-4):
        gap = (found[0] - found[1]).abs().max().item()
        raise RuntimeError(f"the systems' logits differ by {gap:.2g}")
    for system in systems:
        system.model.train()


def row(name: str, bar: float, batches: Sequence[Batch], seconds: list[list[float]]) -> str:
    """Write medians, and the median of the repeats' own ratios, as a row of the table."""
    ratios = [ours / theirs for ours, theirs in zip(*seconds)]
    ratio = statistics.median(ratios)
    real = sum(b["ntokens"] for b in batches) / sum(b["cells"] for b in batches)
    ours, theirs = (statistics.median(found) * 1000 for found in seconds)
    return (
        f"| {name} | {real:.0%} | {ours:,.0f} | {theirs:,.0f} | {ratio:.3f} | "
        f"{min(ratios):.3f} to {max(ratios):.3f} | <= {bar} {'met' if ratio <= bar else 'MISSED'} |"
    )


HEADER = """\
| batches | real tokens | ours, ms a step | Hugging Face | ratio | range | bar |
|---|---:|---:|---:|---:|---|---|"""


def conditions(size: str, systems: Sequence[System], args: argparse.Namespace) -> str:
    """Say under what the figures hold."""
    device = platform.processor() or platform.machine()
    if args.device == "cuda":
        device = torch.cuda.get_device_name()
    parameters = sum(p.numel() for p in systems[0].model.parameters())
    return (
        f"Size {size}, {parameters:,} parameters. {device}, {torch.get_num_threads()} thread(s), "
        f"float32, torch {torch.__version__}, transformers {transformers.__version__} (sdpa). "
        f"Fused AdamW, gradients clipped, dropout {args.dropout}; folders: {args.steps} batches of "
        f"{args.batch_size} examples a repeat. {args.repeats} interleaved repeats, medians."
    )


def report(size: str, work: dict[str, list[Batch]], args: argparse.Namespace) -> None:
    """Measure one size on all batches and print its table."""
    systems = build(size, args)
    print(conditions(size, systems, args), HEADER, sep="\n\n", flush=True)
    for batches in work.values():
        check(systems, batches[0])
    found = {}
    for name, batches in work.items():
        bar = BARS["real" if name in args.data else "equal"]
        print(row(name, bar, batches, measure(systems, batches, args.repeats)), flush=True)
        if args.profile:
            for system in systems:
                found[f"{system.name}, {name}"] = shares(partial(run, system, batches))
    if found:
        print("", share_table(found), sep="\n")
    print(flush=True)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", help="prepared folders with classes")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["minilm"])
    parser.add_argument("--equal", nargs="*", default=["32x32", "8x128"], metavar="BxS")
    parser.add_argument("--batch-size", type=int, default=32, help="examples of the folders")
    parser.add_argument("--steps", type=int, default=8, help="batches of a folder in a repeat")
    parser.add_argument("--repeats", type=int, default=9, help=f"at least {LEAST_REPEATS} count")
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--threads", type=int, help="CPU threads (default: torch's choice)")
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def main() -> None:
    """Measure and print the tables."""
    args = parse_args()
    logging.disable(logging.INFO)
    if args.threads:
        torch.set_num_threads(args.threads)
    work = {size: [equal_batch(*map(int, size.split("x")), args)] for size in args.equal}
    work |= {folder: real_batches(folder, args) for folder in args.data}
    work = {name: [complete(b, args.device) for b in found] for name, found in work.items()}
    for size in args.sizes:
        report(size, work, args)
    if args.repeats < LEAST_REPEATS:
        print(f"Fewer than {LEAST_REPEATS} repeats: a look, not a measurement.")


if __name__ == "__main__":
    main()

#!/usr/bin/env python
"""Training step of SLA, DABERT and their rivals over our plain BERT; what the tree masks cost.

python benchmarks/syntax_speed.py data-bin/cola --sizes minilm base --equal 8x128 32x32
python benchmarks/syntax_speed.py --sizes base --equal 8x128 --systems DABERT DABERT-literal

A step is forward, loss, backward, clipping, fused AdamW. The systems start from the same weights,
live in one process and take turns, batch by batch. Equal batches (B x S) have no padding and random
trees of one word a token; prepared folders give batches in their own order with their own parses.
Then the masks of one batch, made from its heads, against the training step of SLA and against the
plain NumPy twin, sentence by sentence, on the same trees.
"""

from __future__ import annotations

import argparse
import copy
import logging
import platform
import random
import statistics
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from paired_steps import LEAST_REPEATS, Batch, System, measure, now
from torch import Tensor, nn

from fairseq_plugins.architectures.bert_options import KINDS, SIZES
from fairseq_plugins.architectures.syntax_plan import attention, top
from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.nn.bert import BertEncoder, BertShape
from fairseq_plugins.nn.context import AttentionContext
from fairseq_plugins.nn.heads import LabelHead
from fairseq_plugins.nn.packing import BatchLayout
from fairseq_plugins.nn.tree_masks import TreeRule
from fairseq_plugins.syntax.needs import Needs
from fairseq_plugins.tasks.text_labels import (
    TextClassificationConfig,
    TextClassificationTask,
)

VOCABULARY, FIRST_WORD, CLASSES = 30522, 1000, 2
RULE = TreeRule()
SYSTEMS = {
    "plain": "bert_plain",
    "SLA": "bert_sla",
    "WLA": "bert_wla",
    "LISA": "bert_lisa",
    "SGNet": "bert_sgnet",
    "DABERT": "dabert",
    "DABERT-literal": "dabert_literal",
}
BAR_SIZE = "base"
BARS = {"SLA": 1.10, "DABERT": 1.15}


class Classifier(nn.Module):
    """An encoder and a classification head."""

    def __init__(self, shape: BertShape, system: str) -> None:
        super().__init__()
        options = BertConfig(**KINDS[SYSTEMS[system]], num_hidden_layers=shape.layers)
        self.encoder = BertEncoder(shape, attention(options, shape), top=top(options, shape))
        self.head = LabelHead(shape.hidden, CLASSES, shape.dropout)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits; LISA's loss joins them so that its gradient is computed."""
        inputs = batch["net_input"]
        output = self.encoder(
            inputs["src_tokens"],
            inputs["segments"],
            inputs["token_positions"],
            words=inputs["word_of"],
            heads=inputs["heads"],
        )
        logits = self.head(self.encoder.pool(output))
        if output.outputs.parent_losses:
            logits = logits + torch.stack(output.outputs.parent_losses).mean()
        return logits


def build(size: str, args: argparse.Namespace, systems: Sequence[str]) -> list[System]:
    """Make systems with the random weights of the first where they share parts."""
    hidden, layers, heads, inner = SIZES[size].values()
    shape = BertShape(
        VOCABULARY, hidden, layers, heads, inner, dropout=args.dropout,
        attention_dropout=args.dropout,
    )  # fmt: skip
    torch.manual_seed(1)
    models = {name: Classifier(shape, name) for name in systems}
    first = copy.deepcopy(models[systems[0]].state_dict()) if len(systems) > 1 else {}
    for model in models.values():
        model.load_state_dict(first, strict=False)
        model.to(args.device)
    return [
        System(name, model, torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True))
        for name, model in models.items()
    ]


def random_tree(size: int, dice: random.Random) -> list[int]:
    """Draw heads as a parser gives them: 0 at the root, else the head's number from 1."""
    order = dice.sample(range(size), size)
    heads = [0] * size
    for place, word in enumerate(order[1:], 1):
        heads[word] = dice.choice(order[max(0, place - 4) : place]) + 1
    return heads


def equal_batch(batch: int, length: int, args: argparse.Namespace) -> Batch:
    """Make a batch without padding: random wordpieces, one a word, and random trees."""
    dice, words = random.Random(1), length - 2
    trees = [random_tree(words, dice) for _ in range(batch)]
    tokens = torch.randint(FIRST_WORD, VOCABULARY, (batch, length))  # (B, S)
    word_of = torch.full_like(tokens, -1)
    word_of[:, 1:-1] = torch.arange(words)
    heads = torch.tensor([[h - 1 if h else i for i, h in enumerate(t)] for t in trees])  # (B, W)
    inputs = {"src_tokens": tokens, "segments": torch.zeros_like(tokens), "word_of": word_of}
    inputs |= {"token_positions": torch.arange(batch * length), "heads": heads}
    inputs = {name: value.to(args.device) for name, value in inputs.items()}
    target = torch.randint(CLASSES, (batch,)).to(args.device)
    return {"net_input": inputs, "target": target, "trees": trees}


def real_batches(folder: str, args: argparse.Namespace) -> list[Batch]:
    """Take batches of a prepared folder's training set in its own order, evenly spread."""
    task = TextClassificationTask.setup_task(TextClassificationConfig(data=folder))
    needs = Needs(layers=("heads",), words=True)
    task.inputs.serve(needs, 512)
    task.load_dataset("train")
    dataset, size = task.dataset("train"), args.batch_size
    whole = len(dataset) // size
    starts = [i * whole // args.steps * size for i in range(args.steps)]
    found = [dataset.collater([dataset[i] for i in range(at, at + size)]) for at in starts]
    for batch in found:
        batch["net_input"] = {k: v.to(args.device) for k, v in batch["net_input"].items()}
        batch["target"] = batch["target"].to(args.device)
    return found


def masks(batch: Batch, *, added: bool) -> None:
    """Make the masks of one training step, as truth values or as what is added to scores."""
    inputs = batch["net_input"]
    layout = BatchLayout.of(inputs["src_tokens"].eq(0), inputs["token_positions"])
    context = AttentionContext(layout, inputs["segments"], inputs["word_of"], inputs["heads"])
    for block in layout.blocks:
        context.additive_mask(RULE, block) if added else context.allowed(RULE, block)


def tree_allowed(heads: Sequence[int]) -> np.ndarray:
    """Return where `RULE` lets words of one tree look, in NumPy, (W, W)."""
    words, numbers = np.arange(len(heads)), np.asarray(heads)
    parents = np.where(numbers == 0, words, numbers - 1)  # (W,) a root's own for a root
    above, ancestors = parents, np.eye(len(heads), dtype=bool)  # (W, W)
    while not ancestors[words, above].all():
        ancestors[words, above] = True
        above = parents[above]
    shared = ancestors.astype(np.float32)
    depth, common = shared.sum(axis=1), shared @ shared.T  # of the lowest common ancestor
    near = (common > 0) & (depth[:, None] + depth - 2 * common <= RULE.threshold)
    allowed = near.copy()
    allowed[1:] |= near[:-1]
    allowed[:-1] |= near[1:]
    return allowed


def twin(batch: Batch) -> np.ndarray:
    """Make the same masks in NumPy, (B, S, S)."""
    found = np.ones((len(batch["trees"]), *[batch["net_input"]["src_tokens"].shape[1]] * 2), bool)
    for table, heads in zip(found, batch["trees"]):
        table[1:-1, 1:-1] = tree_allowed(heads)
    return found


def seconds_of(work: Callable[[], object], repeats: int) -> float:
    """Return the median time of some work."""
    work()
    spent = []
    for _ in range(repeats):
        start = now()
        work()
        spent.append(now() - start)
    return statistics.median(spent)


def report_steps(
    size: str, name: str, batches: Sequence[Batch], args: argparse.Namespace
) -> dict[str, float]:
    """Print a row for each system; return the median seconds of a step."""
    systems = build(size, args, ["plain", *args.systems])
    seconds = measure(systems, batches, args.repeats)
    medians = {s.name: statistics.median(found) for s, found in zip(systems, seconds)}
    for system, found in list(zip(systems, seconds))[1:]:
        ratios = [ours / plain for ours, plain in zip(found, seconds[0])]
        ratio = statistics.median(ratios)
        bar = BARS.get(system.name) if size == BAR_SIZE else None
        verdict = "" if bar is None else f"<= {bar} {'met' if ratio <= bar else 'MISSED'}"
        print(
            f"| {size} | {name} | {system.name} | {medians[system.name] * 1000:,.0f} | "
            f"{medians['plain'] * 1000:,.0f} | {ratio:.3f} | "
            f"{min(ratios):.3f} to {max(ratios):.3f} | {verdict} |",
            flush=True,
        )
    return medians


def report_masks(args: argparse.Namespace, steps: dict[str, float]) -> None:
    """Print what the masks cost."""
    for name in args.equal:
        batch = equal_batch(*map(int, name.split("x")), args)
        whole = seconds_of(partial(masks, batch, added=True), 5 * args.repeats)
        ours = seconds_of(partial(masks, batch, added=False), 5 * args.repeats)
        theirs = seconds_of(partial(twin, batch), args.repeats)
        shares = ", ".join(
            f"{whole / step:.2%} of an SLA step ({size})"
            for size, step in steps.items()
            if size.endswith(f" {name}")
        )
        print(
            f"Masks of {name}: {whole * 1000:.2f} ms, {shares or 'no step measured'} (bar 2 %); "
            f"as truth values {ours * 1000:.2f} ms, NumPy {theirs * 1000:.1f} ms, "
            f"{theirs / ours:.1f} times as long (bar 10)."
        )


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", help="prepared folders with classes and parses")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["minilm"])
    parser.add_argument("--equal", nargs="*", default=["8x128", "32x32"], metavar="BxS")
    rivals = list(SYSTEMS)[1:]
    parser.add_argument("--systems", nargs="*", choices=rivals, default=rivals)
    parser.add_argument("--batch-size", type=int, default=32, help="examples of the folders")
    parser.add_argument("--steps", type=int, default=4, help="batches of a folder in a repeat")
    parser.add_argument("--repeats", type=int, default=9, help=f"at least {LEAST_REPEATS} count")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--masks-only", action="store_true")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def main() -> None:
    """Measure and print the tables."""
    args = parse_args()
    logging.disable(logging.INFO)
    device = platform.processor() or platform.machine()
    print(
        f"{device}, {torch.get_num_threads()} thread(s), float32, torch {torch.__version__}, "
        f"dropout {args.dropout}, {args.repeats} interleaved repeats, medians.\n"
    )
    steps = {}
    if not args.masks_only:
        print("| size | batches | system | ms a step | plain | ratio | range | bar |")
        print("|---|---|---|---:|---:|---:|---|---|")
        for size in args.sizes:
            work = {name: [equal_batch(*map(int, name.split("x")), args)] for name in args.equal}
            work |= {folder: real_batches(folder, args) for folder in args.data}
            for name, batches in work.items():
                found = report_steps(size, name, batches, args)
                if "SLA" in found:
                    steps[f"{size} {name}"] = found["SLA"]
        print()
    if args.masks_only or "SLA" in args.systems:
        report_masks(args, steps)
    if args.repeats < LEAST_REPEATS:
        print(f"Fewer than {LEAST_REPEATS} repeats: a look, not a measurement.")


if __name__ == "__main__":
    main()

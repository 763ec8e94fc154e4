#!/usr/bin/env python
"""Training step of directed coattention over the same made of torch's `nn.MultiheadAttention`.

python benchmarks/coattention_speed.py --sizes minilm base --equal 8x16+112
python benchmarks/coattention_speed.py data-bin/squad2 --sizes minilm

Coattention alone: blocks, merge and simple skip on given states of a BERT, with forward, loss,
backward, clipping and fused AdamW. The twin has the same weights and gives the same numbers
(checked first): question and context in padded batches of their own, `nn.MultiheadAttention` with a
key padding mask, linear maps, `nn.LayerNorm`, `nn.Dropout`, `nn.Conv1d`. Both take turns, batch by
batch. Equal batches (B x question + context) have no padding; a prepared folder gives its own.
The published wiring is timed beside them, without a bar.
"""

from __future__ import annotations

import argparse
import logging
import platform
import statistics
from collections.abc import Sequence

import torch
from paired_steps import LEAST_REPEATS, Batch, System, measure
from torch import Tensor, nn
from torch.nn import functional

from fairseq_plugins.architectures.bert_options import SIZES
from fairseq_plugins.nn.bert import BertLayer, BertShape
from fairseq_plugins.nn.coattention import DirectedCoattention
from fairseq_plugins.nn.context import AttentionContext
from fairseq_plugins.nn.packing import BatchLayout, Sides
from fairseq_plugins.syntax.needs import Needs
from fairseq_plugins.tasks.extractive_qa import ExtractiveQAConfig, ExtractiveQATask

CLASSES, BAR = 2, 1.0
TOLERANCE = 1e-4


class Ours(nn.Module):
    """Our coattention and a linear map."""

    def __init__(self, shape: BertShape, blocks: int, wiring: str) -> None:
        super().__init__()
        self.coattention = DirectedCoattention(shape, blocks, wiring)
        self.out = nn.Linear(shape.hidden, CLASSES)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits of the first tokens, (B, C)."""
        context = AttentionContext(batch["layout"], batch["segments"])
        rows, _ = self.coattention(batch["rows"], context)
        return self.out(rows.index_select(0, batch["layout"].first_rows))


class TwinLayer(nn.Module):
    """One stream of a block, of torch's own layers."""

    def __init__(self, layer: BertLayer, shape: BertShape) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(
            shape.hidden, shape.heads, dropout=shape.attention_dropout, batch_first=True
        )
        ours = layer.attention
        state = {
            "in_proj_weight": torch.cat([ours.query.weight, ours.key_value.weight]),
            "in_proj_bias": torch.cat([ours.query.bias, ours.key_value.bias]),
            "out_proj.weight": ours.out.weight,
            "out_proj.bias": ours.out.bias,
        }
        self.attention.load_state_dict(state)
        self.inner = nn.Linear(shape.hidden, shape.intermediate)
        self.outer = nn.Linear(shape.intermediate, shape.hidden)
        self.first, self.second = (
            nn.LayerNorm(shape.hidden, eps=shape.norm_epsilon) for _ in range(2)
        )
        pairs = ((self.inner, layer.inner), (self.outer, layer.outer))
        pairs += ((self.first, layer.attention_norm), (self.second, layer.output_norm))
        for mine, theirs in pairs:
            mine.load_state_dict(theirs.state_dict())
        self.dropout = nn.Dropout(shape.dropout)

    def forward(self, own: Tensor, other: Tensor, padding: Tensor | None) -> Tensor:
        """Return the new states of one side, (B, T, D)."""
        attended, _ = self.attention(
            own, other, other, key_padding_mask=padding, need_weights=False
        )
        own = self.first(own + self.dropout(attended))
        return self.second(own + self.dropout(self.outer(functional.gelu(self.inner(own)))))


class Twin(nn.Module):
    """The same of torch's own layers, on padded batches."""

    def __init__(self, ours: Ours, shape: BertShape) -> None:
        super().__init__()
        source = ours.coattention
        self.context = nn.ModuleList(TwinLayer(block.context, shape) for block in source.blocks)
        self.question = nn.ModuleList(TwinLayer(block.question, shape) for block in source.blocks)
        sizes = (2 * shape.hidden, shape.hidden * 3 // 2, shape.hidden)
        self.merge = nn.ModuleList(nn.Conv1d(a, b, 3, padding=1) for a, b in zip(sizes, sizes[1:]))
        for mine, theirs in zip(self.merge, source.merge.layers):
            mine.load_state_dict(theirs.map.state_dict())
        self.norm = nn.LayerNorm(shape.hidden, eps=shape.norm_epsilon)
        self.norm.load_state_dict(source.norm.state_dict())
        self.out = nn.Linear(shape.hidden, CLASSES)
        self.out.load_state_dict(ours.out.state_dict())

    def forward(self, batch: Batch) -> Tensor:
        """Return logits of the first tokens, (B, C)."""
        states, question_mask, context_mask = batch["states"], batch["question"], batch["context"]
        question, context = states[:, : question_mask.shape[1]], batch["passage"]
        masks = [None if mask is None or not mask.any() else mask for mask in batch["padding"]]
        for first, second in zip(self.context, self.question):
            context, question = (
                first(context, question, masks[0]),
                second(question, context, masks[1]),
            )
        both = states.new_zeros(*states.shape[:2], 2 * states.shape[2])
        width = states.shape[2]
        both[..., :width][batch["at_context"]] = context[~context_mask]
        both[..., width:][batch["at_question"]] = question[~question_mask]
        values = self.merge[0](both.transpose(1, 2)) * batch["real"]
        merged = self.merge[1](values).transpose(1, 2)
        return self.out(self.norm(merged + states)[:, 0])


def dressed(layout: BatchLayout, segments: Tensor, width: int, device: str) -> Batch:
    """Make a batch of random states, packed for ours and padded for the twin."""
    layout = BatchLayout.of(layout.padding_mask.to(device))
    segments = segments.to(device)
    sides = Sides.of(layout, segments)
    rows = torch.randn(len(layout.token_positions), width, device=device)
    real = ~layout.padding_mask
    masks = sides.question.layout.padding_mask, sides.context.layout.padding_mask
    return {
        "layout": layout,
        "segments": segments,
        "rows": rows,
        "states": layout.pad(rows),
        "passage": sides.context.layout.pad(sides.context.take(rows)),
        "question": masks[0],
        "context": masks[1],
        "padding": masks,
        "at_context": real & segments.bool(),
        "at_question": real & ~segments.bool(),
        "real": real[:, None].float(),
        "target": torch.randint(CLASSES, (layout.shape[0],), device=device),
    }


def equal_batch(text: str) -> tuple[BatchLayout, Tensor]:
    """Lay out ``8x16+112``: eight rows of 16 tokens of question and 112 of context."""
    batch, _, sizes = text.partition("x")
    question, _, context = sizes.partition("+")
    length = int(question) + int(context)
    layout = BatchLayout.of(torch.zeros(int(batch), length, dtype=torch.bool))
    segments = (torch.arange(length) >= int(question)).long().expand(int(batch), -1)
    return layout, segments


def real_batches(folder: str, args: argparse.Namespace) -> list[tuple[BatchLayout, Tensor]]:
    """Take batches of a prepared folder's training set in its own order, evenly spread."""
    task = ExtractiveQATask.setup_task(ExtractiveQAConfig(data=folder))
    task.inputs.serve(Needs(), 512)
    task.load_dataset("train")
    dataset, size = task.dataset("train"), args.batch_size
    whole = len(dataset) // size
    starts = [i * whole // args.steps * size for i in range(args.steps)]
    found = [dataset.collater([dataset[i] for i in range(at, at + size)]) for at in starts]
    inputs = [batch["net_input"] for batch in found]
    return [(BatchLayout.of(each["src_tokens"].eq(0)), each["segments"]) for each in inputs]


def build(size: str, args: argparse.Namespace) -> list[System]:
    """Make the systems, the first two with the same weights."""
    hidden, layers, heads, inner = SIZES[size].values()
    shape = BertShape(
        1, hidden, layers, heads, inner, dropout=args.dropout, attention_dropout=args.dropout
    )
    torch.manual_seed(1)
    ours = Ours(shape, args.blocks, "query")
    models = {"torch": Twin(ours, shape), "query": ours}
    models["literal"] = Ours(shape, args.blocks, "literal")
    return [
        System(name, model, torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True))
        for name, model in ((name, model.to(args.device)) for name, model in models.items())
    ]


def check_equal(systems: Sequence[System], batch: Batch) -> None:
    """See that ours and the twin give the same numbers; SystemExit if they do not."""
    with torch.no_grad():
        twin, ours = (system.model.eval()(batch) for system in systems[:2])
    for system in systems:
        system.model.train()
    difference = float((twin - ours).abs().max())
    if difference > TOLERANCE:
        raise SystemExit(f"ours and the twin differ by {difference}")


def report(
    size: str, name: str, laid_out: Sequence[tuple[BatchLayout, Tensor]], args: argparse.Namespace
) -> None:
    """Measure one kind of batches and print a row for each of our wirings."""
    systems = build(size, args)
    width = SIZES[size]["hidden_size"]
    batches = [dressed(*each, width, args.device) for each in laid_out]
    check_equal(systems, batches[0])
    seconds = measure(systems, batches, args.repeats)
    twin = statistics.median(seconds[0])
    for system, found in list(zip(systems, seconds))[1:]:
        ratios = [ours / theirs for ours, theirs in zip(found, seconds[0])]
        ratio = statistics.median(ratios)
        verdict = (
            f"<= {BAR} {'met' if ratio <= BAR else 'MISSED'}" if system.name == "query" else ""
        )
        print(
            f"| {size} | {name} | {system.name} | {statistics.median(found) * 1000:,.0f} | "
            f"{twin * 1000:,.0f} | {ratio:.3f} | {min(ratios):.3f} to {max(ratios):.3f} | "
            f"{verdict} |",
            flush=True,
        )


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", help="folders of `prepare questions`")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["minilm"])
    parser.add_argument("--equal", nargs="*", default=["8x16+112"], metavar="BxQ+C")
    parser.add_argument("--blocks", type=int, default=7)
    parser.add_argument("--batch-size", type=int, default=6, help="questions of the folders")
    parser.add_argument("--steps", type=int, default=4, help="batches of a folder in a repeat")
    parser.add_argument("--repeats", type=int, default=9, help=f"at least {LEAST_REPEATS} count")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def main() -> None:
    """Measure and print the table."""
    args = parse_args()
    logging.disable(logging.INFO)
    device = platform.processor() or platform.machine()
    print(
        f"{device}, {torch.get_num_threads()} thread(s), float32, torch {torch.__version__}, "
        f"{args.blocks} blocks, dropout {args.dropout}, {args.repeats} interleaved repeats, "
        "medians.\n"
    )
    print("| size | batches | wiring | ms a step | torch's | ratio | range | bar |")
    print("|---|---|---|---:|---:|---:|---|---|")
    for size in args.sizes:
        work = {name: [equal_batch(name)] for name in args.equal}
        work |= {folder: real_batches(folder, args) for folder in args.data}
        for name, laid_out in work.items():
            report(size, name, laid_out, args)
    if args.repeats < LEAST_REPEATS:
        print(f"Fewer than {LEAST_REPEATS} repeats: a look, not a measurement.")


if __name__ == "__main__":
    main()

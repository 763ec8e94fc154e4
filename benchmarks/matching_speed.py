#!/usr/bin/env python
"""Training step of our `esim` over a plain ESIM of torch's own layers with the same weights.

python benchmarks/matching_speed.py --equal 32x14+8
python benchmarks/matching_speed.py data-bin/sick

The whole model of the paper's size, word embeddings included, with forward, loss, backward,
clipping and fused AdamW. The twin gives the same numbers (checked first) and does what programs for
it do: it lays both sentences out as padded batches, packs each for `nn.LSTM`
(`pack_padded_sequence`, not sorted), pads its states again, aligns them with masked softmaxes, and
maps padding as well. Both take turns, batch by batch. Equal batches (B x first + second) are of
random words without padding; a prepared folder gives its own training batches.
"""

from __future__ import annotations

import argparse
import logging
import platform
import statistics

import torch
from paired_steps import LEAST_REPEATS, Batch, System, measure
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from fairseq_plugins.architectures.matching_model import PairModel
from fairseq_plugins.architectures.matching_options import ARCHITECTURES, MatchingOptions
from fairseq_plugins.pretrained.vocabulary import Vocabulary
from fairseq_plugins.syntax.needs import Needs
from fairseq_plugins.tasks.text_labels import TextClassificationConfig, TextClassificationTask

BAR, TOLERANCE = 1.0, 1e-4
WORDS = 20_000  # of equal batches
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LABELS = '["0", "1", "2"]'


class Ours(nn.Module):
    """Our model, fed with batches of this file."""

    def __init__(self, vocabulary: Vocabulary, dropout: float) -> None:
        super().__init__()
        presets = {**ARCHITECTURES["esim"], "dropout": dropout, "labels": LABELS}
        self.model = PairModel(MatchingOptions(**presets), vocabulary, [])

    def forward(self, batch: Batch) -> Tensor:
        """Return logits, (B, C)."""
        return self.model(**batch["net_input"])[0]


class Twin(nn.Module):
    """The same of torch's own layers, on padded batches."""

    def __init__(self, ours: Ours, dropout: float) -> None:
        super().__init__()
        source = ours.model.body
        self.words = nn.Embedding.from_pretrained(source.table.weight.detach().clone(), False, 0)
        hidden = source.matcher.outputs
        self.encoder = nn.LSTM(self.words.embedding_dim, hidden, bidirectional=True)
        self.composer = nn.LSTM(hidden, hidden, bidirectional=True)
        self.compare, self.pool = nn.Linear(8 * hidden, hidden), nn.Linear(8 * hidden, hidden)
        self.out = nn.Linear(hidden, ours.model.head.out.out_features)
        for mine, theirs in (
            (self.encoder, source.matcher.encoder.lstm),
            (self.composer, source.matcher.composer.lstm),
            (self.compare, source.matcher.compare),
            (self.pool, source.matcher.pool),
            (self.out, ours.model.head.out),
        ):
            mine.load_state_dict(theirs.state_dict())
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: Batch) -> Tensor:
        """Return logits, (B, C)."""
        sides = list(zip(batch["sides"], batch["lengths"]))
        masks = [tokens.ne(0) for tokens, _ in sides]
        a, b = (
            _read(self.encoder, self.dropout(self.words(tokens)), lengths)
            for tokens, lengths in sides
        )
        scores = a @ b.transpose(1, 2)
        of_a = scores.masked_fill(~masks[1][:, None], -1e9).softmax(-1) @ b
        of_b = scores.transpose(1, 2).masked_fill(~masks[0][:, None], -1e9).softmax(-1) @ a
        vectors = []
        for states, other, (_, lengths), mask in zip((a, b), (of_a, of_b), sides, masks):
            both = torch.cat([states, other, states - other, states * other], -1)
            compared = torch.relu(self.compare(self.dropout(both)))
            composed = _read(self.composer, self.dropout(compared), lengths)
            vectors.append(composed.sum(1) / mask.sum(1, keepdim=True))
            vectors.append(composed.masked_fill(~mask[..., None], -1e9).max(1).values)
        joined = torch.tanh(self.pool(self.dropout(torch.cat(vectors, -1))))
        return self.out(self.dropout(joined))


def _read(lstm: nn.LSTM, padded: Tensor, lengths: Tensor) -> Tensor:
    """Read a padded batch (B, S, D); return states (B, S, 2 H), zeros at padding."""
    packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(lstm(packed)[0], batch_first=True)[0]


def equal_batch(text: str) -> Batch:
    """Make ``32x14+8``: 32 pairs of 14 and of 8 random words, separators included."""
    batch, _, sizes = text.partition("x")
    first, second = map(int, sizes.split("+"))
    tokens = torch.randint(len(SPECIALS), WORDS, (int(batch), 1 + first + second))
    segments = (torch.arange(tokens.shape[1]) > first).long().expand(int(batch), -1)
    return {"src_tokens": tokens, "segments": segments}


def real_batches(task: TextClassificationTask, args: argparse.Namespace) -> list[Batch]:
    """Take batches of a prepared folder's training set in its own order, evenly spread."""
    task.inputs.serve(Needs(pairs=True), 2**17)
    task.load_dataset("train")
    dataset, size = task.dataset("train"), args.batch_size
    whole = len(dataset) // size
    starts = [i * whole // args.steps * size for i in range(args.steps)]
    return [
        dataset.collater([dataset[i] for i in range(at, at + size)])["net_input"] for at in starts
    ]


def dressed(net_input: Batch, args: argparse.Namespace) -> Batch:
    """Add what the twin reads: both sentences padded, their lengths, and random labels."""
    tokens, segments = net_input["src_tokens"], net_input["segments"]
    real = tokens.ne(0)
    real[:, 0] = False
    sides, lengths = [], []
    for number in (0, 1):
        own = real & segments.eq(number)
        rows = [row[mask] for row, mask in zip(tokens, own)]
        sides.append(nn.utils.rnn.pad_sequence(rows, batch_first=True).to(args.device))
        lengths.append(own.sum(1))
    placed = {name: value.to(args.device) for name, value in net_input.items()}
    target = torch.randint(3, (len(tokens),), device=args.device)
    return {"net_input": placed, "sides": sides, "lengths": lengths, "target": target}


def build(vocabulary: Vocabulary, args: argparse.Namespace) -> list[System]:
    """Make both systems with the same weights."""
    torch.manual_seed(1)
    ours = Ours(vocabulary, args.dropout)
    models = {"torch": Twin(ours, args.dropout), "esim": ours}
    return [
        System(name, model, torch.optim.AdamW(model.parameters(), lr=1e-6, fused=True))
        for name, model in ((name, model.to(args.device)) for name, model in models.items())
    ]


def report(
    name: str, inputs: list[Batch], vocabulary: Vocabulary, args: argparse.Namespace
) -> None:
    """Measure one kind of batches and print its row."""
    systems = build(vocabulary, args)
    batches = [dressed(one, args) for one in inputs]
    with torch.no_grad():
        twin, ours = (system.model.eval()(batches[0]) for system in systems)
    difference = float((twin - ours).abs().max())
    if difference > TOLERANCE:
        raise SystemExit(f"ours and the twin differ by {difference}")
    for system in systems:
        system.model.train()
    theirs, own = measure(systems, batches, args.repeats)
    ratios = [first / second for first, second in zip(theirs, own)]
    ratio = statistics.median(ratios)
    print(
        f"| {name} | {statistics.median(own) * 1000:,.1f} | "
        f"{statistics.median(theirs) * 1000:,.1f} | {ratio:.2f} | {min(ratios):.2f} to "
        f"{max(ratios):.2f} | >= {BAR} {'met' if ratio >= BAR else 'MISSED'} |",
        flush=True,
    )


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="*", help="folders of `prepare text` with pairs")
    parser.add_argument("--equal", nargs="*", default=["32x14+8"], metavar="BxA+B")
    parser.add_argument("--batch-size", type=int, default=32, help="pairs of the folders")
    parser.add_argument("--steps", type=int, default=8, help="batches of a folder in a repeat")
    parser.add_argument("--repeats", type=int, default=9, help=f"at least {LEAST_REPEATS} count")
    parser.add_argument("--dropout", type=float, default=0.5)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def main() -> None:
    """Measure and print the table."""
    args = parse_args()
    logging.disable(logging.INFO)
    device = platform.processor() or platform.machine()
    print(
        f"{device}, {torch.get_num_threads()} thread(s), float32, torch {torch.__version__}, "
        f"dropout {args.dropout}, {args.repeats} interleaved repeats, medians.\n"
    )
    print("| batches | ms a step | torch's | speed | range | bar |")
    print("|---|---:|---:|---:|---|---|")
    words = [*SPECIALS, *(f"w{i}" for i in range(WORDS - len(SPECIALS)))]
    vocabulary = Vocabulary("".join(f"{word}\n" for word in words).encode())
    for name in args.equal:
        report(name, [equal_batch(name)], vocabulary, args)
    for folder in args.data:
        task = TextClassificationTask.setup_task(TextClassificationConfig(data=folder))
        vocabulary = task.source_dictionary.vocabulary
        report(folder, real_batches(task, args), vocabulary, args)
    if args.repeats < LEAST_REPEATS:
        print(f"Fewer than {LEAST_REPEATS} repeats: a look, not a measurement.")


if __name__ == "__main__":
    main()

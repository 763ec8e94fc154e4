#!/usr/bin/env python
"""Speed of syntax_transformer over fairseq's own transformer of the same width, on the same data.

python benchmarks/translation_speed.py data-bin/multi30k

Both models live in one process and take turns, batch by batch, over the same data: collation,
forward, backward and update by fairseq's Trainer, then beam search of a fixed number of steps.
"""

from __future__ import annotations

import argparse
import logging
import platform
import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from fairseq import options, tasks, utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.logging import metrics
from fairseq.trainer import Trainer

from fairseq_plugins.data.manifest import Manifest
from fairseq_plugins.registration import register

Work = Callable[[int], int]  # number of a batch -> target tokens made of it

BAR = 0.97
LEAST_REPEATS = 7
# Size -> architecture of ours, of fairseq's own.
SIZES = {
    "tiny": ("syntax_transformer_tiny", "transformer_tiny"),
    "iwslt": ("syntax_transformer_iwslt_en_de", "transformer_iwslt_de_en"),
    "base": ("syntax_transformer", "transformer"),
    "big": ("syntax_transformer_wmt_en_de_big", "transformer_wmt_en_de_big"),
}
FEATURES = ["--features", "pos,case,subword", "--feature-merge", "concat"]
FEATURES += ["--feature-combine", "sum", "--feature-embed-dim", "20"]


@dataclass
class System:
    """A model in training, and the batches it is measured on.

    Args:
        name: what the table calls it.
        trainer: fairseq's Trainer.
        batches: sentence numbers of the chosen batches.
    """

    name: str
    trainer: Trainer
    batches: list[Any]

    def collated(self, number: int) -> dict[str, Any]:
        """Make a batch from the binary files."""
        dataset = self.trainer.task.dataset("train")
        return dataset.collater([dataset[i] for i in self.batches[number]])


def build(name: str, args: argparse.Namespace, arguments: Sequence[str]) -> System:
    """Set up task, model, criterion, Adam and batches as fairseq-train does."""
    fixed = f"--optimizer adam --lr 5e-4 --criterion label_smoothed_cross_entropy --seed 1 \
        --label-smoothing 0.1 --dropout {args.dropout} --share-decoder-input-output-embed \
        --upsample-primary 1 --max-tokens {args.max_tokens} --required-batch-size-multiple 1"
    fixed += " --cpu" if args.cpu else ""
    fixed += " --fp16" if args.fp16 else ""
    parser = options.get_training_parser()
    parsed = options.parse_args_and_arch(parser, [args.data, *arguments, *fixed.split()])
    cfg = convert_namespace_to_omegaconf(parsed)
    utils.set_torch_seed(cfg.common.seed)
    task = tasks.setup_task(cfg.task)
    trainer = Trainer(cfg, task, task.build_model(cfg.model), task.build_criterion(cfg.criterion))
    batches = list(trainer.get_train_iterator(epoch=1).frozen_batches)
    spread = sorted(batches, key=lambda batch: (len(batch), tuple(batch)))  # long to short lines
    chosen = [spread[i * len(spread) // args.steps] for i in range(args.steps)]
    trainer.begin_epoch(1)
    return System(name, trainer, chosen)


def training(system: System) -> Work:
    """Return what takes one update on a batch."""

    def update(number: int) -> int:
        batch = system.collated(number)
        with metrics.aggregate(new_root=True):
            system.trainer.train_step([batch])
        return batch["ntokens"]

    return update


def generation(system: System, args: argparse.Namespace) -> Work:
    """Return what translates a batch; every sentence is decoded for the same steps."""
    task, model = system.trainer.task, system.trainer.model
    model.prepare_for_inference_(system.trainer.cfg)
    model.eval()
    length = {"beam": args.beam, "max_len_a": 0, "max_len_b": args.length, "min_len": args.length}
    generator = task.build_generator([model], Namespace(**length))

    def translate(number: int) -> int:
        batch = system.collated(number)
        if not args.cpu:
            batch = utils.move_to_cuda(batch)
        found = task.inference_step(generator, [model], batch)
        return sum(len(hypotheses[0]["tokens"]) for hypotheses in found)

    return translate


def measure(works: Sequence[Work], args: argparse.Namespace) -> list[list[float]]:
    """Let the works take turns, batch by batch; return tokens a second in each repeat.

    Raises:
        RuntimeError: they do not make the same number of tokens.
    """
    speeds: list[list[float]] = [[] for _ in works]
    for repeat in range(-1, args.repeats):  # the first only allocates
        tokens, seconds = [0] * len(works), [0.0] * len(works)
        for number in range(args.steps):
            turns = list(range(len(works)))
            for i in turns if (repeat + number) % 2 else reversed(turns):
                start = _now(args)
                tokens[i] += works[i](number)
                seconds[i] += _now(args) - start
        if len(set(tokens)) > 1:
            raise RuntimeError(f"the systems made {tokens} tokens from the same batches")
        for i in range(len(works)) if repeat >= 0 else ():
            speeds[i].append(tokens[i] / seconds[i])
    return speeds


def _now(args: argparse.Namespace) -> float:
    if not args.cpu:
        torch.cuda.synchronize()
    return time.perf_counter()


def table(results: dict[str, list[list[float]]], systems: Sequence[System]) -> str:
    """Write medians, and the median of the repeats' own ratios, as a Markdown table."""
    lines = [f"| target subwords/s | {systems[0].name} | {systems[1].name} | ratio | range | bar |"]
    lines.append("|---|---:|---:|---:|---|---|")
    for name, (ours, theirs) in results.items():
        ratios = [a / b for a, b in zip(ours, theirs)]
        ratio = statistics.median(ratios)
        verdict = "met" if ratio >= BAR else "MISSED"
        lines.append(
            f"| {name} | {statistics.median(ours):,.0f} | {statistics.median(theirs):,.0f} | "
            f"{ratio:.3f} | {min(ratios):.3f} to {max(ratios):.3f} | >= {BAR} {verdict} |"
        )
    return "\n".join(lines)


def conditions(args: argparse.Namespace, systems: Sequence[System]) -> str:
    """Say under what the figures hold."""
    device = platform.processor() or platform.machine()
    if not args.cpu:
        device = torch.cuda.get_device_name()
    sizes = ", ".join(
        f"{system.name} {sum(p.numel() for p in system.trainer.model.parameters()):,}"
        for system in systems
    )
    sentences = sum(map(len, systems[0].batches))
    return (
        f"Size {args.size}; parameters: {sizes}. {device}, {torch.get_num_threads()} thread(s), "
        f"{'float16' if args.fp16 else 'float32'}, torch {torch.__version__}. Adam, dropout "
        f"{args.dropout}; {args.steps} batches of at most {args.max_tokens} tokens "
        f"({sentences} sentences) a repeat; beam {args.beam}, {args.length} steps. "
        f"{args.repeats} interleaved repeats, medians."
    )


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", help="prepared folder")
    parser.add_argument("--size", choices=SIZES, default="iwslt")
    parser.add_argument("--repeats", type=int, default=9, help=f"at least {LEAST_REPEATS} count")
    parser.add_argument("--steps", type=int, default=4, help="batches in a repeat")
    parser.add_argument("--max-tokens", type=int, default=2048)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--length", type=int, default=20, help="decoding steps")
    parser.add_argument("--threads", type=int, help="CPU threads (default: torch's choice)")
    parser.add_argument("--fp16", action="store_true", help="half precision (GPU)")
    parser.add_argument("--cpu", action="store_true", default=not torch.cuda.is_available())
    return parser.parse_args()


def main() -> None:
    """Measure both models and print the table."""
    register()
    args = parse_args()
    logging.disable(logging.INFO)
    if args.threads:
        torch.set_num_threads(args.threads)
    ours, theirs = SIZES[args.size]
    pair = Manifest.load(Path(args.data))
    languages = ["--source-lang", pair.source_lang, "--target-lang", pair.target_lang]
    systems = [
        build(ours, args, ["--task", "syntax_translation", "--arch", ours, *FEATURES]),
        build(theirs, args, ["--task", "translation", "--arch", theirs, *languages]),
    ]
    results = {"training": measure([training(s) for s in systems], args)}
    results["generation"] = measure([generation(s, args) for s in systems], args)
    print(conditions(args, systems), table(results, systems), sep="\n\n")
    if args.repeats < LEAST_REPEATS:
        print(f"\nFewer than {LEAST_REPEATS} repeats: a look, not a measurement.")


if __name__ == "__main__":
    main()

#!/usr/bin/env python
"""Translation bundles over the checkpoint that they are of: are translations the same, how fast?

python benchmarks/translation_bundles.py runs/mine/checkpoint_best.pt data-bin/multi30k \
    --reference test.de

A split is translated by fairseq's own search, as fairseq-generate does it, and by the checkpoint's
bundles in float32 and int8, from the same ids, batch by batch in turns: on one thread by the time
that the processor spends on them, whoever else is at work, on several by the clock, which tells
something on a quiet machine alone. Sentences are sorted by length for all; what is measured is the
search and the making of text.
"""

from __future__ import annotations

import argparse
import logging
import platform
import statistics
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from sacrebleu.metrics import BLEU

from fairseq_plugins.bundles.ctranslate2_model import Search
from fairseq_plugins.bundles.translation import Translator
from fairseq_plugins.inference.prepared_splits import read_split
from fairseq_plugins.inference.translation_attention import load
from fairseq_plugins.inference.translation_export import export_translation

Translate = Callable[[list[int]], list[str]]  # numbers of sentences -> text
BARS = {"float32": (99.5, 3.0), "int8": (0.3, 4.0)}


def by_fairseq(hub: Any, split: str, args: argparse.Namespace) -> Translate:
    """Return what translates by fairseq's search."""
    task, model = hub.task, hub.models[0]
    task.load_dataset(split)
    pairs = task.dataset(split)
    generator = task.build_generator([model], Namespace(beam=args.beam, lenpen=args.lenpen))

    def translate(numbers: list[int]) -> list[str]:
        batch = pairs.collater([pairs[i] for i in numbers])
        with torch.inference_mode():
            found = task.inference_step(generator, [model], batch)
        texts = [hub.decode(nbest[0]["tokens"]) for nbest in found]
        return [text for _, text in sorted(zip(map(numbers.index, batch["id"].tolist()), texts))]

    return translate


def by_bundle(translator: Translator, rows: Sequence[Any], args: argparse.Namespace) -> Translate:
    """Return what translates by a bundle."""
    search = Search(beam=args.beam, lenpen=args.lenpen)

    def translate(numbers: list[int]) -> list[str]:
        return [nbest[0].text for nbest in translator.of_ids([rows[i] for i in numbers], search)]

    return translate


def batches_of(lengths: Sequence[int], max_tokens: int) -> list[list[int]]:
    """Return the numbers of sentences by length, of so many tokens with padding."""
    found: list[list[int]] = [[]]
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if lengths[i] * (len(found[-1]) + 1) > max_tokens and found[-1]:
            found.append([])
        found[-1].append(i)
    return found


def measure(
    systems: dict[str, Translate],
    batches: list[list[int]],
    repeats: int,
    clock: Callable[[], float],
) -> tuple[dict[str, dict[int, str]], dict[str, list[float]]]:
    """Let systems take turns; return their translations, and the seconds of each repeat."""
    texts: dict[str, dict[int, str]] = {name: {} for name in systems}
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for repeat in range(repeats):
        spent = dict.fromkeys(systems, 0.0)
        for k, numbers in enumerate(batches):
            order = list(systems) if (repeat + k) % 2 else list(systems)[::-1]
            for name in order:
                start = clock()
                found = systems[name](numbers)
                spent[name] += clock() - start
                texts[name] |= dict(zip(numbers, found, strict=True))
        for name, total in spent.items():
            seconds[name].append(total)
    return texts, seconds


def table(
    texts: dict[str, dict[int, str]], seconds: dict[str, list[float]], references: Sequence[str]
) -> str:
    """Write translations and speeds as a Markdown table; ratios are those of the repeats."""
    lines = ["| | BLEU | as fairseq's | seconds | times as fast (range) | bars |"]
    lines.append("|---|---:|---:|---:|---|---|")
    size, base = len(references), texts["fairseq"]
    for name, found in texts.items():
        bleu = BLEU().corpus_score([found[i] for i in range(size)], [references]).score
        same = 100 * sum(found[i] == base[i] for i in range(size)) / size
        ratios = [a / b for a, b in zip(seconds["fairseq"], seconds[name])]
        middle = statistics.median(seconds[name])
        bar = ">= {} %, >= {}".format(*BARS[name]) if name == "float32" else ""
        bar = "lost <= {}, >= {}".format(*BARS[name]) if name == "int8" else bar
        speed = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        lines.append(f"| {name} | {bleu:.2f} | {same:.1f} % | {middle:.1f} | {speed} | {bar} |")
    return "\n".join(lines)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("data", help="prepared folder")
    parser.add_argument("--split", default="test")
    parser.add_argument("--reference", help="raw references (default: the folder's target side)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--beam", type=int, default=4)
    parser.add_argument("--lenpen", type=float, default=0.6)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--max-tokens", type=int, default=8000, help="of a batch of fairseq")
    return parser.parse_args()


def main() -> None:
    """Export, measure, print the table."""
    args = parse_args()
    logging.disable(logging.WARNING)
    torch.set_num_threads(args.threads)
    hub = load(args.checkpoint, args.data)
    systems = {"fairseq": by_fairseq(hub, args.split, args)}
    with tempfile.TemporaryDirectory() as place:
        for name in BARS:
            output = Path(place) / name
            export_translation(args.checkpoint, output, data=args.data, int8=name == "int8")
            translator = Translator.open(output, threads=args.threads)
            sentences = read_split(translator, args.data, args.split)
            systems[name] = by_bundle(translator, [row for _, row, _ in sentences], args)
        references = [target for _, _, target in sentences]
        if args.reference:
            references = Path(args.reference).read_text(encoding="utf-8").split("\n")[:-1]
        lengths = [len(ids) for _, (ids, _), _ in sentences]
        batches = batches_of(lengths, args.max_tokens)
        clock = time.process_time if args.threads == 1 else time.perf_counter
        measure(systems, batches[:1], 1, clock)  # the first only allocates
        found = measure(systems, batches, args.repeats, clock)
    print(
        f"{platform.processor() or platform.machine()}, {args.threads} thread(s); "
        f"{len(references)} sentences, beam {args.beam}, lenpen {args.lenpen}, "
        f"batches of at most {args.max_tokens} tokens; "
        f"{args.repeats} interleaved repeats, medians.\n"
    )
    print(table(*found, references))


if __name__ == "__main__":
    main()

#!/usr/bin/env python
"""Answers of a plain text model: our bundles beside Hugging Face and ONNX Runtime, same batches.

python benchmarks/inference_speed.py runs/cola data-bin/cola --split valid

The run is exported in every form into a temporary folder. Batches are consecutive examples of the
split, padded for the others, packed by ours; making them is not measured. All forms take turns, in
both orders, by the time that the processor spends on them, whoever else is at work. Loading is
measured in processes of their own.
"""

from __future__ import annotations

import argparse
import logging
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
import transformers
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor

from fairseq_plugins import load
from fairseq_plugins.inference.export import export_checkpoint
from fairseq_plugins.inference.options import ANSWERING
from fairseq_plugins.inference.prediction import load as load_predictor

HEADS = {
    "text_classification": transformers.AutoModelForSequenceClassification,
    "sequence_labeling": transformers.AutoModelForTokenClassification,
    ANSWERING: transformers.AutoModelForQuestionAnswering,
}
OURS, OURS_BFLOAT16, OURS_INT8 = "ours, float32", "ours, bfloat16", "ours, int8"
THEIRS, RUNTIME, RUNTIME_INT8 = "Hugging Face", "ONNX Runtime", "ONNX Runtime, int8"
LOADED = """
import sys, time
start = time.perf_counter()
from fairseq_plugins import load
load(sys.argv[1], int8=sys.argv[2] == "int8")
spent = time.perf_counter() - start
with open("/proc/self/status") as lines:
    print(spent, *(line.split()[1] for line in lines if line.startswith("VmHWM")))
"""

Batch = dict[str, Tensor]
Answer = Callable[[Batch], Any]


def main() -> None:
    """Export, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path, help="of a plain model")
    parser.add_argument("data", type=Path, help="prepared folder")
    parser.add_argument("--split", default="valid")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--examples", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    torch.set_num_threads(args.threads)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for form in ("bundle", "huggingface", "onnx"):
            export_checkpoint(args.run, folder / form, args.data, form)
        batches = batches_of(folder / "bundle", args)
        systems = systems_of(folder, args)
        seconds = measure(systems, batches, args.repeats)
        print(report(args, seconds, len(batches) * args.batch_size))
        for name in ("float32", "int8"):
            words = [sys.executable, "-c", LOADED, str(folder / "bundle"), name]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            spent, size = map(float, done.stdout.split())
            print(f"\nimport and load, {name}: {spent:.2f} s, peak {size / 1024:.0f} MB")


def batches_of(bundle: Path, args: argparse.Namespace) -> list[tuple[Batch, Batch]]:
    """Return batches as ours and as the others take them."""
    predictor = load_predictor(bundle, args.data, cpu=True, wanted=tuple(HEADS))
    dataset = predictor.load_split(args.split)
    found = []
    for begin in range(0, min(len(dataset), args.examples), args.batch_size):
        numbers = range(begin, min(begin + args.batch_size, len(dataset)))
        ours = predictor.batch(dataset, numbers)["net_input"]
        tokens = ours["src_tokens"]
        theirs = {"input_ids": tokens, "attention_mask": tokens.ne(dataset.form.pad).long()}
        found.append((ours, theirs | {"token_type_ids": ours["segments"]}))
    return found


def systems_of(folder: Path, args: argparse.Namespace) -> dict[str, Answer]:
    """Return what answers a batch, by name."""
    ours = {name: load(folder / "bundle", int8=name == OURS_INT8) for name in (OURS, OURS_INT8)}
    predictors = {name: getattr(one, "predictor", one) for name, one in ours.items()}
    theirs = HEADS[predictors[OURS].manifest.task].from_pretrained(folder / "huggingface").eval()
    known = signature(theirs.forward).parameters
    small = folder / "onnx" / "int8.onnx"
    quantize_dynamic(folder / "onnx" / "model.onnx", small, weight_type=QuantType.QInt8)
    sessions = {
        RUNTIME: session(folder / "onnx" / "model.onnx", args.threads),
        RUNTIME_INT8: session(small, args.threads),
    }

    def lower(batch: Batch) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            return predictors[OURS].models[0](**batch)[0]

    return {
        OURS: lambda batch: predictors[OURS].models[0](**batch)[0],
        OURS_BFLOAT16: lower,
        OURS_INT8: lambda batch: predictors[OURS_INT8].models[0](**batch)[0],
        THEIRS: lambda batch: theirs(**taken(batch, known)),
        **{name: runner(one) for name, one in sessions.items()},
    }


def session(path: Path, threads: int) -> Any:
    """Open an ONNX model for so many threads."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    return onnxruntime.InferenceSession(str(path), options)


def runner(one: Any) -> Answer:
    """Return what answers a batch by ONNX Runtime."""
    names = [given.name for given in one.get_inputs()]
    return lambda batch: one.run(None, {k: v.numpy() for k, v in taken(batch, names).items()})


def taken(batch: Batch, names: Iterable[str]) -> Batch:
    """Return the part of a batch that somebody takes."""
    return {name: value for name, value in batch.items() if name in names}


@torch.inference_mode()
def measure(
    systems: dict[str, Answer], batches: list[tuple[Batch, Batch]], repeats: int
) -> dict[str, list[float]]:
    """Let systems take turns; return the seconds of each repeat."""
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for repeat in range(repeats + 1):  # the first warms up
        spent = dict.fromkeys(systems, 0.0)
        for number, (ours, theirs) in enumerate(batches):
            order = list(systems) if (repeat + number) % 2 else list(systems)[::-1]
            for name in order:
                batch = ours if name.startswith("ours") else theirs
                start = time.process_time()
                systems[name](batch)
                spent[name] += time.process_time() - start
        for name, total in spent.items() if repeat else ():
            seconds[name].append(total)
    return seconds


def report(args: argparse.Namespace, seconds: dict[str, list[float]], count: int) -> str:
    """Return the table; ratios are medians over the repeats, taken within each."""
    lines = [
        f"{platform.processor() or platform.machine()}, torch {torch.__version__}, "
        f"{args.threads} thread(s), {args.data.name} {args.split}, about {count} examples, "
        f"batches of {args.batch_size}, {args.repeats} repeats\n",
        f"| | examples a CPU second | times as fast as {THEIRS} (range) | than {RUNTIME_INT8} |",
        "|---|---:|---:|---:|",
    ]
    for name, found in seconds.items():
        ratios = {
            other: [b / a for a, b in zip(found, seconds[other])]
            for other in (THEIRS, RUNTIME_INT8)
        }
        median, low, high = _spread(ratios[THEIRS])
        other = statistics.median(ratios[RUNTIME_INT8])
        rate = count / statistics.median(found)
        spread = f"{median:.2f} ({low:.2f} to {high:.2f})"
        lines.append(f"| {name} | {rate:.0f} | {spread} | {other:.2f} |")
    return "\n".join(lines)


def _spread(values: list[float]) -> tuple[float, float, float]:
    return statistics.median(values), float(np.min(values)), float(np.max(values))


if __name__ == "__main__":
    main()

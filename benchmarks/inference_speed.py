#!/usr/bin/env python
"""Predictions of plain models: our bundles beside Hugging Face, ONNX Runtime and CTranslate2, and
what 8 bits cost.

python benchmarks/inference_speed.py runs/cola data-bin/cola mcc runs/rte data-bin/rte accuracy \
    runs/wnut17 data-bin/wnut17 entity_f1 runs/squad data-bin/squad2 f1 --threads 1 2
python benchmarks/inference_speed.py runs/cola data-bin/cola mcc --batch-size 1 --no-points

Each run is exported in every form into a temporary folder. Batches hold consecutive examples of the
split, in the order of the file and sorted by length, for all systems alike; they are padded for the
others and packed by ours, and making them is not measured. CTranslate2 computes the encoder alone.
All systems take turns, in both orders: on one thread the processor's time is measured, on several
threads the clock, which needs a quiet machine. Points are those of the named metric on the whole
split, by ``predict`` or ``answer`` in float32 and in 8 bits. Loading is measured in processes of
its own.
"""

from __future__ import annotations

import argparse
import json
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

import ctranslate2
import numpy as np
import onnxruntime
import torch
import transformers
from ctranslate2.converters import TransformersConverter
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor

from fairseq_plugins import load
from fairseq_plugins.data.manifests import read_manifest
from fairseq_plugins.data.text_manifest import TextManifest
from fairseq_plugins.inference.answer_files import answer_files
from fairseq_plugins.inference.export import export_checkpoint
from fairseq_plugins.inference.options import ANSWERING, AnswerOptions, PredictionOptions
from fairseq_plugins.inference.prediction import load as load_predictor
from fairseq_plugins.inference.prediction_files import predict_files

HEADS = {
    "text_classification": transformers.AutoModelForSequenceClassification,
    "sequence_labeling": transformers.AutoModelForTokenClassification,
    ANSWERING: transformers.AutoModelForQuestionAnswering,
}
INT8 = ", int8"
OURS, THEIRS, RUNTIME, CTRANSLATE = "ours", "Hugging Face", "ONNX Runtime", "CTranslate2"
SYSTEMS = (OURS, THEIRS, RUNTIME, CTRANSLATE, *(f"{n}{INT8}" for n in (OURS, RUNTIME, CTRANSLATE)))
FILE, LENGTH = ORDERS = ("file", "length")
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
    args = parse_args()
    logging.disable(logging.WARNING)
    for run, data, metric in zip(args.runs[::3], args.runs[1::3], args.runs[2::3]):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            for form in ("bundle", "huggingface", "onnx"):
                export_checkpoint(Path(run), folder / form, Path(data), form)
            for threads in args.threads:
                for order in args.orders if args.batch_size > 1 else ORDERS[:1]:
                    print(speeds(folder, Path(data), threads, order, args), flush=True)
            if args.points:
                print(points(folder, data, metric, args.split), flush=True)
            if args.loading:
                print(loading(folder / "bundle"), flush=True)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    yes_or_no = argparse.BooleanOptionalAction
    parser.add_argument("runs", nargs="+", help="RUN DATA METRIC, as often as wanted")
    parser.add_argument("--split", default="valid")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--examples", type=int, default=1024)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--orders", nargs="+", choices=ORDERS, default=ORDERS, help="of examples")
    parser.add_argument("--points", action=yes_or_no, default=True, help="score both forms")
    parser.add_argument("--loading", action=yes_or_no, default=True, help="measure loading")
    args = parser.parse_args()
    if len(args.runs) % 3:
        parser.error("give RUN DATA METRIC, as often as wanted")
    return args


def speeds(folder: Path, data: Path, threads: int, order: str, args: argparse.Namespace) -> str:
    """Measure all systems; return a table."""
    torch.set_num_threads(threads)
    batches = batches_of(folder / "bundle", data, order, args)
    clock = time.process_time if threads == 1 else time.perf_counter
    seconds = measure(systems_of(folder, threads), batches, args.repeats, clock)
    count = sum(len(ours["src_tokens"]) for ours, _ in batches)
    title = (
        f"\n{platform.processor() or platform.machine()}, torch {torch.__version__}, "
        f"{threads} thread(s), {data.name} {args.split}, {count} rows, "
        f"batches of {args.batch_size}, order of {order}, {args.repeats} repeats\n"
    )
    unit = "rows a CPU second" if threads == 1 else "rows a second"
    return "\n".join([title, report(seconds, count, unit)])


def points(folder: Path, data: str, metric: str, split: str) -> str:
    """Return what a metric loses in 8 bits, in percent."""
    found = {}
    for name in ("float32", "int8"):
        how: dict[str, Any] = {"data": data, "split": split, "cpu": True, "int8": name == "int8"}
        made = folder / name
        made.mkdir()
        if read_manifest(Path(data), TextManifest).task == ANSWERING:
            answer_files(AnswerOptions(path=f"{folder / 'bundle'}", output_dir=f"{made}", **how))
            found[name] = json.loads((made / "metrics.json").read_text())[metric]
        else:
            where = {"metrics": f"{made / 'metrics.json'}", "output": f"{made / 'answers'}"}
            predict_files(PredictionOptions(checkpoint=f"{folder / 'bundle'}", **where, **how))
            found[name] = 100 * json.loads((made / "metrics.json").read_text())["metrics"][metric]
    one, two = found["float32"], found["int8"]
    return f"\n{metric} of {split}: float32 {one:.2f}, int8 {two:.2f}, lost {one - two:.2f}"


def loading(bundle: Path) -> str:
    """Return time and memory of loading in processes of their own."""
    lines = []
    for name in ("float32", "int8"):
        words = [sys.executable, "-c", LOADED, str(bundle), name]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        spent, size = map(float, done.stdout.split())
        lines.append(f"import and load, {name}: {spent:.2f} s, peak {size / 1024:.0f} MB")
    return "\n" + "\n".join(lines)


def batches_of(
    bundle: Path, data: Path, order: str, args: argparse.Namespace
) -> list[tuple[Batch, Batch]]:
    """Return batches in our form and in that of the others; of questions, all windows."""
    predictor = load_predictor(bundle, data, cpu=True, wanted=tuple(HEADS))
    dataset = predictor.load_split(args.split)
    chosen = np.arange(min(len(dataset), args.examples))
    if order == LENGTH:
        chosen = chosen[np.argsort(-dataset.sizes[chosen], kind="stable")]
    found = []
    for begin in range(0, len(chosen), args.batch_size):
        ours = predictor.batch(dataset, chosen[begin : begin + args.batch_size])["net_input"]
        tokens = ours["src_tokens"]
        theirs = {"input_ids": tokens, "attention_mask": tokens.ne(dataset.form.pad).long()}
        found.append((ours, theirs | {"token_type_ids": ours["segments"]}))
    return found


def systems_of(folder: Path, threads: int) -> dict[str, Answer]:
    """Return what answers a batch, by name."""
    ours = {name: load(folder / "bundle", int8=name.endswith(INT8)) for name in (OURS, OURS + INT8)}
    predictors = {name: getattr(one, "predictor", one) for name, one in ours.items()}
    theirs = HEADS[predictors[OURS].manifest.task].from_pretrained(folder / "huggingface").eval()
    known = signature(theirs.forward).parameters
    small, converted = folder / "onnx" / "int8.onnx", folder / "ctranslate2"
    if not small.exists():
        quantize_dynamic(folder / "onnx" / "model.onnx", small, weight_type=QuantType.QInt8)
        TransformersConverter(str(folder / "huggingface")).convert(str(converted))
    return {
        OURS: lambda batch: predictors[OURS].models[0](**batch)[0],
        OURS + INT8: lambda batch: predictors[OURS + INT8].models[0](**batch)[0],
        THEIRS: lambda batch: theirs(**taken(batch, known)),
        RUNTIME: runner(session(folder / "onnx" / "model.onnx", threads)),
        RUNTIME + INT8: runner(session(small, threads)),
        CTRANSLATE: encoder(converted, threads, "float32"),
        CTRANSLATE + INT8: encoder(converted, threads, "int8"),
    }


def encoder(path: Path, threads: int, form: str) -> Answer:
    """Return what encodes a batch by CTranslate2."""
    how = {"compute_type": form, "inter_threads": 1, "intra_threads": threads}
    made = ctranslate2.Encoder(str(path), **how)

    def answer(batch: Batch) -> Any:
        tokens, lengths = (
            ctranslate2.StorageView.from_array(values.numpy().astype(np.int32))
            for values in (batch["input_ids"], batch["attention_mask"].sum(1))
        )
        return made.forward_batch(tokens, lengths, batch["token_type_ids"].tolist())

    return answer


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
    systems: dict[str, Answer],
    batches: list[tuple[Batch, Batch]],
    repeats: int,
    clock: Callable[[], float],
) -> dict[str, list[float]]:
    """Let systems take turns; return the seconds of each repeat."""
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for repeat in range(repeats + 1):  # the first warms up
        spent = dict.fromkeys(systems, 0.0)
        for number, (ours, theirs) in enumerate(batches):
            order = list(systems) if (repeat + number) % 2 else list(systems)[::-1]
            for name in order:
                batch = ours if name.startswith("ours") else theirs
                start = clock()
                systems[name](batch)
                spent[name] += clock() - start
        for name, total in spent.items() if repeat else ():
            seconds[name].append(total)
    return seconds


def report(seconds: dict[str, list[float]], count: int, unit: str) -> str:
    """Return the table; ratios are medians over the repeats, taken within each."""
    lines = [
        f"| | {unit} | times as fast as {THEIRS} (range) | as {RUNTIME} | as {CTRANSLATE} |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, found in seconds.items():
        form = INT8 if name.endswith(INT8) else ""
        others = (THEIRS, RUNTIME + form, CTRANSLATE + form)
        shown = [_spread([b / a for a, b in zip(found, seconds[other])]) for other in others]
        lines.append(f"| {name} | {count / statistics.median(found):.0f} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


if __name__ == "__main__":
    main()

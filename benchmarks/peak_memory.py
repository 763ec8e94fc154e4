#!/usr/bin/env python
"""Peak memory of a training step of SLA, DABERT and their rivals over our plain BERT.

python benchmarks/peak_memory.py --sizes base --equal 8x128 --systems DABERT

Every system has a process of its own, which takes a few training steps (forward, loss, backward,
clipping, fused AdamW) on one batch. What counts is the most memory that the process held, less what
it held before the model was made; on a GPU, the most that torch held.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import resource
from multiprocessing.connection import Connection
from pathlib import Path

import torch
from paired_steps import run
from syntax_speed import BAR_SIZE, SIZES, SYSTEMS, build, equal_batch

BARS = {"DABERT": 1.25}
MEBIBYTE = 2**20


def held() -> int:
    """Return the bytes of memory that this process holds now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def peak() -> int:
    """Return the most bytes of memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(
    size: str, name: str, system: str, args: argparse.Namespace, answer: Connection
) -> None:
    """Train in this process; send the bytes that it took."""
    logging.disable(logging.INFO)
    batch = equal_batch(*map(int, name.split("x")), args)
    before = held()
    (trained,) = build(size, args, [system])
    run(trained, [batch] * args.steps)
    found = peak() - before if args.device == "cpu" else torch.cuda.max_memory_allocated()
    answer.send(found)


def in_own_process(size: str, name: str, system: str, args: argparse.Namespace) -> int:
    """Return the bytes that training a system takes."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=measure, args=(size, name, system, args, theirs)
    )
    process.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        raise SystemExit(f"error: training {system} failed; see above") from None
    finally:
        process.join()


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=["minilm"])
    parser.add_argument("--equal", nargs="*", default=["8x128"], metavar="BxS")
    rivals = list(SYSTEMS)[1:]
    parser.add_argument("--systems", nargs="*", choices=rivals, default=rivals)
    parser.add_argument("--steps", type=int, default=3, help="training steps of each system")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def main() -> None:
    """Measure and print the table."""
    args = parse_args()
    print("| size | batches | system | MiB | plain | ratio | bar |")
    print("|---|---|---|---:|---:|---:|---|")
    for size in args.sizes:
        for name in args.equal:
            plain = in_own_process(size, name, "plain", args)
            for system in args.systems:
                found = in_own_process(size, name, system, args)
                bar = BARS.get(system) if size == BAR_SIZE else None
                ratio = found / plain
                verdict = "" if bar is None else f"<= {bar} {'met' if ratio <= bar else 'MISSED'}"
                print(
                    f"| {size} | {name} | {system} | {found / MEBIBYTE:,.0f} | "
                    f"{plain / MEBIBYTE:,.0f} | {ratio:.3f} | {verdict} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()

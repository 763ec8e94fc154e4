"""Speed on one GPU in at most eight minutes: ``python -m benchmarks.gpu.speed``."""

from __future__ import annotations

import argparse
import logging
import sys

from benchmarks.speed import __main__ as speed

from .figures import Figure, Recorder, add_flags

METHODS = "plain sla wla lisa sgnet dabert dabert-literal second-affinity masks --sizes base"
PRESET = (  # calls of `benchmarks.speed`, the most important first
    f"{METHODS} --batches 32x128 --precision bfloat16 float32",
    "translation --sizes base big --max-tokens 4096 16384 --precision float16",
    f"{METHODS} --batches 32xcola 32xrte --precision bfloat16",
    "translation --sizes base big --max-tokens 16384 --precision bfloat16",
    "generation --sizes base --max-tokens 4096 --precision float16",
    "masks-numpy esim",
    "coattention coattention-literal inference compiled --sizes base --precision bfloat16",
    "sla dabert --sizes base --batches 32x128 --precision bfloat16 --memory",
    "translation --sizes base big --max-tokens 16384 --precision float16 --memory",
)


def main() -> int:
    """Measure the list; what fails is recorded, and the rest goes on. Return 1 for a missed bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_flags(parser)
    args = parser.parse_args()
    recorder = Recorder(args.output, args.device)
    for words in PRESET:
        given = [*words.split(), "--device", args.device, *["--tiny"] * args.tiny]
        try:
            speed.run(speed.parse_args(given), recorder)
        except Exception as error:
            note = f"{type(error).__name__}: {error}"
            recorder.add(Figure("speed", words, 1, "failure", bar="<= 0", note=note))
    print(f"\n{recorder.table()}")
    return int(any(figure.holds is False for figure in recorder.figures))


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    sys.exit(main())

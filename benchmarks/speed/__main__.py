"""Speed and memory of our models over their rivals, case by case (`cases.py`).

python -m benchmarks.speed plain sla dabert --sizes base --batches 8x128 data-bin/cola
python -m benchmarks.speed translation generation --sizes base --max-tokens 4096 --precision float16

The systems of a case have the same starting weights where they share parts, live in one process and
take turns, batch by batch. Figures are medians of the repeats' own ratios, with their range.
"""

from __future__ import annotations

import argparse
import logging
import statistics
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import torch

from benchmarks.gpu.figures import Figure, Recorder, add_flags
from fairseq_plugins.pretrained.families import FAMILIES

from .cases import CASES, SEARCH, UPDATE, Case
from .turns import LEAST_REPEATS, Setting, measure, memory

TINY = {"32x32": "2x8", "8x128": "2x6", "32x128": "2x8", "8x16+112": "2x4+6", "32x14+8": "2x4+3"}
BATCHES = "BxS, BxA+B of pairs, Bxcola or Bxrte (lengths as there), or prepared folders"
PRECISIONS = ("float32", "bfloat16", "float16")


def plan(args: argparse.Namespace) -> dict[tuple, list[Case]]:
    """Return settings with the cases whose systems take turns there."""
    found: dict[tuple, list[Case]] = {}
    for case in [CASES[name] for name in args.cases]:
        kind = case.kind
        sizes = [size for size in args.sizes if size in kind.sizes] or kind.sizes[:1]
        batches = [name for name in args.batches if kind.takes(name)] or kind.batches
        if args.tiny:
            sizes = ["tiny"] if "tiny" in kind.sizes else sizes
            batches = [*dict.fromkeys(TINY.get(name, name) for name in batches)]
        translates = kind in (UPDATE, SEARCH)
        whole = translates and args.device == "cpu"  # where fairseq has no half precision
        precisions = ["float32"] if whole else args.precision
        most = args.max_tokens if translates else [0]
        for key in product([kind], sizes, batches, precisions, most):
            found.setdefault(key, []).append(case)
    named = {*args.sizes, *args.batches} if not args.tiny else set()
    if lost := named - {part for _, *key in found for part in key}:
        raise SystemExit(f"error: no chosen case is about {', '.join(sorted(lost))}")
    return found


def measured(key: tuple, cases: Sequence[Case], args: argparse.Namespace, recorder: Recorder):
    """Measure the systems of cases in one setting, and record their figures."""
    kind, size, name, precision, most = key
    own = {"size": size, "batches": name, "precision": precision, "max_tokens": most}
    setting = Setting(**{**vars(args), **own, "asks": kind.task == "extractive_qa"})
    names = [*dict.fromkeys(name for case in cases for name in (case.rival, case.system))]
    if args.memory:
        taken = {name: memory(kind.module, name, setting) for name in names}
        for case in cases:
            recorder.add(memory_figure(case, setting, taken))
        return
    batches = kind.module.batches(setting)
    systems = [*kind.module.build(names, setting, batches[0])]
    seconds, tokens = measure(systems, batches, args.repeats)
    for case in cases:
        recorder.add(speed_figure(case, setting, seconds, tokens))
    for one in systems if args.profile else ():
        with torch.profiler.profile() as profile:
            one.work(batches[0])
        found = profile.key_averages().table(sort_by="self_cpu_time_total", row_limit=15)
        print(one.name, found, sep="\n")


def _named(case: Case, setting: Setting, what: str) -> str:
    most = f"{setting.max_tokens} tokens" if setting.max_tokens else ""
    batches, compiled = Path(setting.batches).name, setting.compile * "compiled"
    family = setting.family * (setting.family != "bert")
    where = (family, setting.size, batches, most, setting.precision, compiled)
    return f"{case.system} over {case.rival}, {what}, {', '.join(filter(None, where))}"


def speed_figure(
    case: Case, setting: Setting, seconds: dict[str, list[float]], tokens: float
) -> Figure:
    """Return the median of the repeats' own ratios, from the seconds and tokens a batch."""
    own, other = seconds[case.system], seconds[case.rival]
    of_speeds = case.kind.of_speeds
    ratios = [b / a if of_speeds else a / b for a, b in zip(own, other)]
    medians = [statistics.median(one) for one in (own, other)]
    note = "{:,.2f} over {:,.2f} ms a batch, ".format(*(1000 * one for one in medians))
    note += "{:,.0f} over {:,.0f} tokens a second, ".format(*(tokens / one for one in medians))
    looks = len(ratios) < LEAST_REPEATS
    note += f"{len(ratios)} repeats{' (a look, not a measurement)' * looks}"
    spread, unit = (min(ratios), max(ratios)), "of the speed" if of_speeds else "of the time"
    what, bar = _named(case, setting, case.kind.about), "" if looks else case.bar(setting)
    return Figure("speed", what, statistics.median(ratios), unit, spread, bar, note)


def memory_figure(case: Case, setting: Setting, taken: dict[str, int]) -> Figure:
    """Return the ratio of peak memories in bytes."""
    own, other = taken[case.system], taken[case.rival]
    note, bar = f"{own / 2**20:,.0f} over {other / 2**20:,.0f} MiB", case.memory(setting)
    what = _named(case, setting, "peak memory")
    return Figure("speed", what, own / other, "of the memory", bar=bar, note=note)


def parse_args(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    how = {"description": __doc__, "formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = argparse.ArgumentParser("python -m benchmarks.speed", **how)
    parser.add_argument("cases", nargs="*", metavar="CASES", help=f"of {', '.join(CASES)} (all)")
    parser.add_argument("--sizes", nargs="+", default=[])
    parser.add_argument("--family", choices=[*FAMILIES], default="bert", help="of models of texts")
    parser.add_argument("--batches", nargs="+", default=[], help=BATCHES)
    parser.add_argument("--precision", nargs="+", choices=PRECISIONS, default=["float32"])
    parser.add_argument("--compile", action="store_true", help="torch.compile everywhere")
    parser.add_argument("--repeats", type=int, default=9, help=f"at least {LEAST_REPEATS} count")
    parser.add_argument("--steps", type=int, default=4, help="batches in a repeat")
    parser.add_argument("--batch-size", type=int, default=32, help="examples of the folders")
    parser.add_argument("--max-tokens", type=int, nargs="+", default=[2048], help="translation")
    parser.add_argument("--length", type=int, default=20, help="decoding steps")
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--threads", type=int, help="CPU threads (default: torch's choice)")
    parser.add_argument("--memory", action="store_true", help="peak memory in place of time")
    parser.add_argument("--profile", action="store_true", help="say where the time goes")
    add_flags(parser)
    args = parser.parse_args(words)
    if unknown := {*args.cases} - CASES.keys():
        parser.error(f"no case {', '.join(sorted(unknown))}; choices: {', '.join(CASES)}")
    args.cases = args.cases or [*CASES]
    if args.tiny:
        args.repeats, args.steps, args.max_tokens, args.length = 1, 1, [100], 4
    return args


def run(args: argparse.Namespace, recorder: Recorder) -> None:
    """Measure the chosen cases."""
    torch.set_num_threads(args.threads or torch.get_num_threads())
    for key, cases in plan(args).items():
        if find_spec("transformers") is None:
            for case in [case for case in cases if case.rival.startswith("Hugging Face")]:
                recorder.add(Figure("speed", case.rival, None, "", note="it is not installed"))
                cases.remove(case)
        if cases:
            measured(key, cases, args, recorder)


def main(words: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    args = parse_args(words)
    recorder = Recorder(args.output, args.device)
    run(args, recorder)
    print(f"\n{recorder.table()}")


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    main()

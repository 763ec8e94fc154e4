#!/usr/bin/env python3
"""Generate the English-German sample: train, valid and test, raw text, one sentence per line.

The same options give the same bytes on every machine. Without options it rewrites the committed
files:  python generate.py --ambiguous-report
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ambiguous import write_report
from grammar.corpus import CorpusSampler, Pair
from tagging import agreement, report

HERE = Path(__file__).resolve().parent


def parse_args(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=HERE, help="folder to write to")
    parser.add_argument("--seed", type=int, default=1, help="seed (default: %(default)s)")
    for split, number in (("train", 4000), ("valid", 500), ("test", 500)):
        text = f"sentences of {split} (default: %(default)s)"
        parser.add_argument(f"--{split}", type=int, default=number, help=text)
    text = "also write test.ambiguous.tsv, for score_ambiguous.py"
    parser.add_argument("--ambiguous-report", action="store_true", help=text)
    text = "write nothing; tag the sentences and compare with the grammar (needs fairseq_plugins)"
    parser.add_argument("--check-tags", action="store_true", help=text)
    parser.add_argument("--spacy-model", default="bundled", help="pipeline for --check-tags")
    return parser.parse_args(arguments)


def split_pairs(pairs: Sequence[Pair], sizes: dict[str, int]) -> dict[str, Sequence[Pair]]:
    """Cut the pairs into splits of these sizes."""
    splits, start = {}, 0
    for name, size in sizes.items():
        splits[name] = pairs[start : start + size]
        start += size
    return splits


def write_split(folder: Path, name: str, pairs: Sequence[Pair]) -> None:
    """Write ``name.en`` and ``name.de``."""
    folder.mkdir(parents=True, exist_ok=True)
    for language, texts in (("en", [p.english for p in pairs]), ("de", [p.german for p in pairs])):
        text = "".join(line + "\n" for line in texts)
        (folder / f"{name}.{language}").write_bytes(text.encode("utf-8"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Generate and write, or generate and check."""
    args = parse_args(arguments)
    sizes = {"train": args.train, "valid": args.valid, "test": args.test}
    sampler = CorpusSampler(args.seed)
    held_out = sampler.pairs(args.valid + args.test, usual=False)
    pairs = sampler.pairs(args.train, usual=True) + held_out
    if args.check_tags:
        lines, words = [p.english for p in pairs], [p.ambiguous for p in pairs]
        print(report(*agreement(lines, words, args.spacy_model)))
        return
    splits = split_pairs(pairs, sizes)
    for name, found in splits.items():
        write_split(args.output, name, found)
    if args.ambiguous_report:
        write_report(args.output / "test.ambiguous.tsv", [p.ambiguous for p in splits["test"]])
    print(f"{', '.join(f'{name} {len(found)}' for name, found in splits.items())} -> {args.output}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Count how often translations of the sample's test set have the right sense of ambiguous words.

    python score_ambiguous.py baseline.txt syntax.txt
    python score_ambiguous.py baseline.txt syntax.txt --example    # one to look at

Each file holds one translation per line, in the order of ``test.en``, detokenised or not.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ambiguous import Row, is_confused, read_report, score

HERE = Path(__file__).resolve().parent
REPORT = HERE / "test.ambiguous.tsv"


def read_lines(path: Path) -> list[str]:
    """Read the lines of a file; they end at the newline alone."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def by_word(counts: Counter) -> Counter:
    """Add up the readings of each word."""
    words = Counter()
    for (word, *_), number in counts.items():
        words[word] += number
    return words


def table(systems: Sequence[str], results: Sequence[tuple[Counter, Counter]]) -> str:
    """Write a row for each word and one for all, a column for each system."""
    seen = by_word(results[0][0])
    hits = [by_word(hit) for _, hit in results]
    lines = [f"{'word':10} {'count':>6}  " + "  ".join(f"{name:>12}" for name in systems)]
    for word in (*sorted(seen), "all"):
        number = seen.total() if word == "all" else seen[word]
        rights = [hit.total() if word == "all" else hit[word] for hit in hits]
        cells = "  ".join(f"{right / max(number, 1):12.1%}" for right in rights)
        lines.append(f"{word:10} {number:6}  {cells}")
    return "\n".join(lines)


def example(first: Sequence[str], last: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the shortest sentence of the test set that ``last`` translates as the reference does,
    while ``first`` takes a word of it for another reading, with its reference in the next line; ""
    if there is none."""
    sources, references = (read_lines(HERE / f"test.{language}") for language in ("en", "de"))
    found = [
        f"{sources[row.line - 1]}\n{references[row.line - 1]}"
        for row in rows
        if last[row.line - 1] == references[row.line - 1]
        and is_confused(first[row.line - 1], row, rows)
    ]
    return min(found, key=len, default="")


def main(arguments: Sequence[str] | None = None) -> None:
    """Score one or more systems."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("translations", type=Path, nargs="+", help="one translation per line")
    parser.add_argument("--report", type=Path, default=REPORT, help="list of ambiguous words")
    text = "print a sentence, with reference, in which the first system alone mistakes a word"
    parser.add_argument("--example", action="store_true", help=text)
    args = parser.parse_args(arguments)
    rows = read_report(args.report)
    systems = [read_lines(path) for path in args.translations]
    results = [score(lines, rows) for lines in systems]
    if args.example:
        print(example(systems[0], systems[-1], rows))
        return
    print(table([path.stem[:12] for path in args.translations], results))


if __name__ == "__main__":
    main()

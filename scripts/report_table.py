"""Lay the runs of several datasets out as one table: systems down, datasets across.

python scripts/report_table.py runs/cola runs/rte runs/wnut17 --output runs/table
python scripts/report_table.py runs --layout sla1
python scripts/report_table.py runs/dabert_rte --layout dabert5

Best setting of every system on the validation set; mean and deviation over seeds; an arrow where a
system is better than BERT of its size with p < 0.05; beside them the papers' figures.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairseq_plugins.evaluation.text_files import write_text
from fairseq_plugins.experiments.paper_tables import LAYOUTS
from fairseq_plugins.experiments.table_formats import format_csv, format_markdown
from fairseq_plugins.experiments.table_making import (
    find_outcomes,
    make_tables,
    over_drawn_examples,
    over_seeds,
    without_paper,
)


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="RUNS", help="folders of runs, or above them")
    add("--layout", default="", help=f"{' | '.join(LAYOUTS)} (default: all that fit)")
    add("--test", default="seeds", choices=("seeds", "examples"), help="Welch's t, or bootstrap")
    add("--samples", type=int, default=1000, help="resamples of the bootstrap")
    add("--seed", type=int, default=12345, help="of the bootstrap")
    add("--no-paper", action="store_true", help="leave the paper's figures out")
    add("--output", metavar="STEM", help="also write STEM.md and STEM.csv")
    return parser.parse_args()


def main() -> int:
    """Report."""
    args = parse_args()
    test, name = over_seeds, "two-sided Welch's t-test over seeds"
    if args.test == "examples":
        test = over_drawn_examples(args.samples, args.seed)
        name = f"paired bootstrap over examples ({args.samples:,} samples, seed {args.seed})"
    try:
        tables = make_tables(find_outcomes(args.folders), args.layout, test)
        if args.no_paper:
            tables = [without_paper(table) for table in tables]
    except (ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    text = format_markdown(tables, name)
    if args.output:
        write_text(f"{args.output}.md", text)
        write_text(f"{args.output}.csv", format_csv(tables))
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

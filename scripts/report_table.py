"""Lay the runs of several datasets out as one table: systems down, datasets across.

python scripts/report_table.py runs/cola runs/rte runs/wnut17 --output runs/table
python scripts/report_table.py runs --layout sla1
python scripts/report_table.py runs/dabert_rte --layout dabert5
python scripts/report_table.py runs/bertqa_large --ensemble runs/bertqa_large/answers

Best setting of every system on the validation set; mean and deviation over seeds; an arrow where a
system is better than BERT of its size with p < 0.05; beside them the papers' figures.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairseq_plugins.evaluation.text_files import write_text
from fairseq_plugins.experiments import bertqa_models
from fairseq_plugins.experiments.outcomes import Outcomes
from fairseq_plugins.experiments.paper_tables import LAYOUTS
from fairseq_plugins.experiments.table_formats import format_csv, format_markdown
from fairseq_plugins.experiments.table_making import (
    find_outcomes,
    make_tables,
    over_drawn_examples,
    over_seeds,
    without_paper,
)

TABLES = [bertqa_models.TABLE, *LAYOUTS]


def parse_args() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("folders", nargs="+", type=Path, metavar="RUNS", help="folders of runs, or above them")
    add("--layout", default="", help=f"{' | '.join(TABLES)} (default: all that fit)")
    add(
        "--ensemble",
        nargs="+",
        default=(),
        metavar="DIR",
        help="answers of some of the runs together, folders of predict_squad.py",
    )
    add("--test", default="seeds", choices=("seeds", "examples"), help="Welch's t, or bootstrap")
    add("--samples", type=int, default=1000, help="resamples of the bootstrap")
    add("--seed", type=int, default=12345, help="of the bootstrap")
    add("--no-paper", action="store_true", help="leave the paper's figures out")
    add("--output", metavar="STEM", help="also write STEM.md and STEM.csv")
    return parser.parse_args()


def models_table(found: list[Outcomes], layout: str) -> tuple[list[str], list[str]]:
    """Return Table 1 of BERTQA as Markdown and as CSV, if its models are there.

    Raises:
        ValueError: they are asked for, and none is there.
    """
    models = bertqa_models.models_of(found)
    if layout and not models:
        raise ValueError(f"--layout {layout!r}: no run is called model1, model2 or model3")
    if not models:
        return [], []
    return [bertqa_models.format_markdown(models)], [bertqa_models.format_csv(models)]


def main() -> int:
    """Report."""
    args = parse_args()
    test, name = over_seeds, "two-sided Welch's t-test over seeds"
    if args.test == "examples":
        test = over_drawn_examples(args.samples, args.seed)
        name = f"paired bootstrap over examples ({args.samples:,} samples, seed {args.seed})"
    try:
        found = find_outcomes(args.folders)
        for folder in args.ensemble:
            found = bertqa_models.with_ensemble(found, folder)
        texts, rows = [], []
        if args.layout in ("", bertqa_models.TABLE):
            texts, rows = models_table(found, args.layout)
        if args.layout != bertqa_models.TABLE:
            tables = make_tables(found, args.layout, test)
            tables = [without_paper(table) for table in tables] if args.no_paper else tables
            texts.append(format_markdown(tables, name))
            rows.append(format_csv(tables))
    except (ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    text = "\n".join(texts)
    if args.output:
        write_text(f"{args.output}.md", text)
        write_text(f"{args.output}.csv", rows[-1])
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

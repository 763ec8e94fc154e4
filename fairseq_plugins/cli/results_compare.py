"""Report a grid's runs: mean, deviation and best over seeds, and which differences are significant.

    fairseq-plugins results compare runs/cola
    fairseq-plugins results compare examples/evidence/rows/wnut17.jsonl --output wnut17

Written are seeds.md, comparisons.csv and seeds.png, and shares.png of runs on several shares of the
data. Kept rows are enough for that: the pictures then name their file and its SHA-256 in their
metadata ("Source").
"""

import argparse
from pathlib import Path
from typing import Any

from . import command

READ = ("folder",)
PLACES = ("output", "folder")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", type=Path, help="folder of the runs, or a file of their rows (rows.jsonl)")
    metric = (
        "metric to show (default: BLEU of translations, else the one that chose the checkpoints)"
    )
    add("--metric", default="", help=metric)
    add("--baseline", default="", metavar="NAME", help="system the others are compared with")
    others = "show only these systems and the baseline"
    add("--systems", nargs="+", default=[], metavar="NAME", help=others)
    add("--samples", type=int, default=1000, help="number of bootstrap resamples over examples")
    add("--seed", type=int, default=12345, help="random seed of the bootstrap")
    where = "folder to write to (default: that of the runs; of a file, FILE_seeds beside it)"
    add("--output", type=Path, metavar="DIR", help=where)


def run(args: argparse.Namespace) -> None:
    """Compare the systems, write and print the results."""
    command.check_least(args, samples=1, seed=0)
    from ..files import write_text
    from ..lab.figures.curves import plot_curves
    from ..lab.figures.drawing import save
    from ..lab.figures.seeds import plot_seeds
    from ..lab.results import seed_report
    from ..lab.results.origins import made_of_rows
    from ..lab.results.part_tables import share_curves
    from ..lab.results.tables import name_of

    options = vars(args)
    folder, output = (options.pop(name) for name in ("folder", "output"))
    report = seed_report.make_report(folder, **options)
    output = output or (folder if folder.is_dir() else folder.with_name(f"{folder.stem}_seeds"))
    text = seed_report.format_markdown(report)
    how: Any = {"kinds": ["png"], "made_of": made_of_rows(folder)}
    save(plot_seeds(report.scores, report.shown), output / "seeds", **how)
    if report.runs.fraction.nunique() > 1:
        curves, shown = share_curves(report.runs)
        save(
            plot_curves(curves, f"{name_of(shown.metric)}, {shown.split}"), output / "shares", **how
        )
    write_text(output / "seeds.md", text)
    table = report.comparisons.drop(columns=["examples", "samples"])
    write_text(output / "comparisons.csv", table.to_csv(index=False))
    print(text, end="")

"""Report the runs of a grid: mean, deviation and best over seeds, and what differences mean.

python scripts/report_seeds.py runs/cola     # writes report.md, settings.csv, comparisons.csv there
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairseq_plugins.evaluation.text_files import write_text
from fairseq_plugins.experiments.seed_report import (
    comparisons_csv,
    format_markdown,
    make_report,
    settings_csv,
)


def main() -> int:
    """Report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("folder", type=Path, help="folder of the runs")
    add("--metric", default="", help="default: the one that chose the checkpoints")
    add("--baseline", default="", metavar="NAME", help="system the others are compared with")
    add("--samples", type=int, default=1000, help="resamples of the bootstrap over examples")
    add("--seed", type=int, default=12345, help="of the bootstrap")
    args = vars(parser.parse_args())
    folder = args.pop("folder")
    try:
        report = make_report(folder, **args)
    except (ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    text = format_markdown(report)
    write_text(folder / "report.md", text)
    write_text(folder / "settings.csv", settings_csv(report))
    write_text(folder / "comparisons.csv", comparisons_csv(report))
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

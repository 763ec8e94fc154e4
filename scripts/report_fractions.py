"""Print and plot BLEU against the fraction of training data of a finished or running sweep.

python scripts/report_fractions.py runs/sweep      # writes table.md, curve.png, curve.svg there
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fairseq_plugins.experiments.fractions import format_table, read_scores
from fairseq_plugins.experiments.plots import plot_curves


def main() -> int:
    """Read the scores, print the table, draw the curve."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="output folder of sweep_fractions.sh")
    folder = parser.parse_args().folder
    try:
        rows = read_scores(folder)
    except FileNotFoundError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    table = format_table(rows)
    (folder / "table.md").write_text(table, encoding="utf-8")
    print(table, end="")
    plot_curves(rows, folder / "curve")
    return 0


if __name__ == "__main__":
    sys.exit(main())

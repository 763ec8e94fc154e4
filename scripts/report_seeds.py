"""Report the runs of a grid: mean, deviation and best over seeds, and what differences mean.

python scripts/report_seeds.py runs/cola     # writes seeds.md, settings.csv, comparisons.csv there
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from fairseq_plugins import command
from fairseq_plugins.files import write_text
from fairseq_plugins.lab.results.seed_report import (
    comparisons_csv,
    format_markdown,
    make_report,
    settings_csv,
)


def parse_args() -> dict[str, Any]:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("folder", type=Path, help="folder of the runs")
    add("--metric", default="", help="default: the one that chose the checkpoints")
    add("--baseline", default="", metavar="NAME", help="system the others are compared with")
    add("--samples", type=int, default=1000, help="resamples of the bootstrap over examples")
    add("--seed", type=int, default=12345, help="of the bootstrap")
    return vars(parser.parse_args())


def report_on(folder: Path, **options: Any) -> None:
    """Compare the systems, write everything, print it."""
    report = make_report(folder, **options)
    text = format_markdown(report)
    write_text(folder / "seeds.md", text)
    write_text(folder / "settings.csv", settings_csv(report))
    write_text(folder / "comparisons.csv", comparisons_csv(report))
    print(text, end="")


def main() -> int:
    """Report; what goes wrong is one line on stderr."""
    args = parse_args()
    return command.run(lambda: report_on(**args), args["folder"])


if __name__ == "__main__":
    sys.exit(main())

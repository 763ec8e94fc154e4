"""Write a page on papers' claims: what they say, every seed as a dot, tests, and the conclusions.

fairseq-plugins evidence examples/evidence/claims.yaml docs/replication.md

The file of claims names files of rows that `keep` wrote. Figures, tables and the sentences about
them are made from these rows, and the same command makes them again, without training. The page's
pictures are in a folder beside it.
"""

import argparse
from pathlib import Path

READ = ("file",)
PLACES = ("file", "page")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="YAML file of claims")
    parser.add_argument("page", type=Path, help="Markdown file (.md) to write")


def run(args: argparse.Namespace) -> None:
    """Write the page, say which files it has."""
    from ..lab.report.replication import write_page

    print(*write_page(args.file, args.page), sep="\n")

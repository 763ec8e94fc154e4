"""Write a page of claims: what papers say, every seed as a dot, tests, and what may be concluded.

fairseq-plugins evidence examples/evidence/claims.yaml docs/replication.md

The file names kept rows (`keep`); figures, tables and sentences about them are made of these, and
the same command makes them again, without training. The page's pictures lie in a folder beside it.
"""

import argparse
from pathlib import Path

PLACES = ("file", "page")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="claims (YAML)")
    parser.add_argument("page", type=Path, help="Markdown file to write")


def run(args: argparse.Namespace) -> None:
    """Write the page, say which files it has."""
    from ..lab.report.replication import write_page

    print(*write_page(args.file, args.page), sep="\n")

"""Verify prepared folders: every file against its SHA-256, every number against its inventory.

    fairseq-plugins check data-bin/mine

Nothing is changed. The first folder that is not as it was written ends the command with one line
and exit status 1. Folders of older releases carry no hashes; of them the numbers are checked.
"""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="+", help="prepared folder")


def run(args: argparse.Namespace) -> None:
    """Check one folder after another."""
    from ..prep.folder_check import check_folder

    for folder in args.folder:
        print(check_folder(folder))

"""Verify prepared folders: every file by its SHA-256 hash, every id by its vocabulary or labels.

    fairseq-plugins check data-bin/mine

Nothing is changed. The command stops at the first folder that is not as it was written, with one
line that says why and exit status 1. Folders made by older releases have no hashes; only their ids
are checked.
"""

import argparse

READ = ("folder",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="+", help="prepared folders")


def run(args: argparse.Namespace) -> None:
    """Check one folder after another."""
    from ..prep.folder_check import check_folder

    for folder in args.folder:
        print(check_folder(folder))

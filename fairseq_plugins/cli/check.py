#!/usr/bin/env python
"""Verify prepared folders: every file against its SHA-256, every number against its inventory.

    python scripts/check_folder.py data-bin/mine

Nothing is changed. The first folder that is not as it was written ends the command with one line
and exit status 1. Folders of older releases carry no hashes; of them the numbers are checked.
"""

import argparse
import sys

from fairseq_plugins import command
from fairseq_plugins.prep.folder_check import check_folder


def main() -> int:
    """Check; what goes wrong is one line on stderr."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="+", help="prepared folder")
    folders = parser.parse_args().folder
    return command.run(lambda: [print(check_folder(folder)) for folder in folders])


if __name__ == "__main__":
    sys.exit(main())

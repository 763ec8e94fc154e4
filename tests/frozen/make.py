"""Put on record what the code does today: only where a change of behaviour is meant.

PYTHONPATH=.:tests python tests/frozen/make.py folders             what differs from the record
PYTHONPATH=.:tests python tests/frozen/make.py folders --replace   a new record

The record is what users have on their disks. Whoever replaces it says in CHANGELOG.md why their
folders, checkpoints or command lines are to change.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from cli.commands import differences
from frozen import checkpoints, experiments, flags, shown
from frozen.recipes import FOLDERS
from frozen.workshop import Workshop, read_frozen, record, write_frozen


def make_folders(workshop: Workshop) -> Any:
    """Prepare every folder."""
    return {name: record(workshop.folder(name)) for name in FOLDERS}


PARTS = {
    "folders": make_folders,
    "outputs": checkpoints.make_outputs,
    "experiments": experiments.make_experiments,
    "flags": flags.make_flags,
    "options": flags.make_options,
}


def main() -> int:
    """Make one part anew; compare it with the record, or replace that."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=(*PARTS, "checkpoints", "results"))
    parser.add_argument("--replace", action="store_true", help="replace what is on record")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        workshop = Workshop(Path(place) / "place")
        if args.part == "checkpoints":
            return checkpoints.make_checkpoints(workshop, replace=args.replace)
        if args.part == "results":
            return shown.make_results(workshop, replace=args.replace)
        made = json.loads(json.dumps(PARTS[args.part](workshop)))
    if args.replace:
        print(f"written: {write_frozen(args.part, made)}")
        return 0
    found = differences(read_frozen(args.part), made)
    print("".join(f"{place}\n" for place in found) or "as on record")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

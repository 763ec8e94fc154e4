#!/usr/bin/env python
"""Write the invented corpus of an example.

python examples/make_demo.py NAME DIR      # same bytes every time

What a corpus is stands at the top of its module in examples/demos. None says anything about natural
text: in each the answer lies in what one method reads, and what the others read leaves it open.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

from demos import acceptability, pairs, questions, roles, words

DEMOS: dict[str, Callable[[random.Random], dict[str, str]]] = {  # name -> file -> text
    "bertqa_squad": questions.files,
    "composition": partial(words.files, by=("tree", "pos")),
    "dabert": pairs.files,
    "glue": acceptability.files,
    "sembert": roles.files,
    "sla": partial(words.files, by=("tree",)),
    "tagging": partial(words.files, by=("pos",)),
}


def main() -> None:
    """Write the files of a corpus."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=sorted(DEMOS))
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    for name, text in DEMOS[args.name](random.Random(1)).items():
        (args.folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

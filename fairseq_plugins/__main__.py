"""Print the directory to hand to ``--user-dir``: ``--user-dir "$(python -m fairseq_plugins)"``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from .installation import FAIRSEQ_MISSING


def main() -> int:
    """Print this package's directory; say how to install fairseq when it is missing."""
    if importlib.util.find_spec("fairseq") is None:
        print(FAIRSEQ_MISSING, file=sys.stderr)
        return 1
    print(Path(__file__).resolve().parent)
    return 0


if __name__ == "__main__":
    sys.exit(main())

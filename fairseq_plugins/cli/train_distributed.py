#!/usr/bin/env python
"""What train_distributed.sh does once it has found the environment; see there."""

import os
import sys

from fairseq_plugins import command
from fairseq_plugins.lab.execution.distributed import launch


def main() -> int:
    """Run fairseq-train; what goes wrong is one line on stderr."""
    processes, *arguments = sys.argv[1:]
    return command.run(lambda: launch(int(processes), arguments, os.environ.get("TORCHRUN", "")))


if __name__ == "__main__":
    sys.exit(main())

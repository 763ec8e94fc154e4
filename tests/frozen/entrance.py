"""Run as a script: becomes the command that its first argument names in `commands`."""

from __future__ import annotations

import sys

from frozen import commands

commands.enter(sys.argv[1], sys.argv[2:])

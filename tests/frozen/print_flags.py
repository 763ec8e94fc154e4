"""Run as a script: prints the flags of the commands that its arguments name, as JSON.

Whoever asks for help gets the parser's own; it is caught on its way to the screen.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys

from frozen import actions, commands

found = {}
for name in sys.argv[1:]:

    def catch(parser: argparse.ArgumentParser, file: object = None, name: str = name) -> None:
        """Describe the flags in place of the help."""
        found[name] = actions.described(parser)

    argparse.ArgumentParser.print_help = catch
    with contextlib.suppress(SystemExit):
        commands.enter(name, ["--help"])
print(json.dumps(found))

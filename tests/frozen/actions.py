"""An argparse flag as plain values."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

CORES = len(os.sched_getaffinity(0))
MACHINE = "of the machine"


def described(parser: argparse.ArgumentParser) -> list[dict[str, Any]]:
    """Describe all flags of a parser but ``--help``."""
    return [
        {
            "names": list(action.option_strings),
            "dest": action.dest,
            "default": MACHINE if action.dest == "workers" else _plain(action.default),
            "choices": action.choices and [str(choice) for choice in action.choices],
            "required": action.required,
            "nargs": action.nargs,
            "const": _plain(action.const),
        }
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction)
    ]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    return value if type(value) in (bool, int, float, str, type(None)) else str(value)

"""Names that users type: flags of our commands, options of what we register with fairseq."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from frozen import commands
from frozen.workshop import Workshop

HERE = Path(__file__).parent


def make_flags(workshop: Workshop) -> Any:
    """Ask every command for its flags: command -> its flags."""
    printed = commands.run_file(HERE / "print_flags.py", *commands.COMMANDS, cwd=workshop.place)
    return json.loads(printed.splitlines()[-1])


def make_options(workshop: Workshop) -> Any:
    """Ask fairseq for the options of all that we register with it, and its presets."""
    printed = commands.run_file(HERE / "print_options.py", cwd=workshop.place)
    return json.loads(printed.splitlines()[-1])


def lost(old: dict[str, Any], new: list[dict[str, Any]]) -> dict[str, Any]:
    """Say what a flag of before is no more.

    Args:
        old: the flag as it is on record.
        new: the flags of today.

    Returns:
        Property -> its value today, where that is another; ``names`` if there is no such flag.
        A flag may have gained further spellings and choices, and take several values.
    """
    same = [flag for flag in new if flag["dest"] == old["dest"] or old["names"]]
    same = [flag for flag in same if set(old["names"]) <= set(flag["names"])]
    same = [flag for flag in same if bool(flag["names"]) == bool(old["names"])]
    if not same:
        return {"names": None}
    flag = same[0]
    changed = {key: flag[key] for key, value in old.items() if flag[key] != value}
    changed.pop("names", None)
    if (old.get("nargs"), flag.get("nargs")) == (None, "+"):
        changed.pop("nargs", None)
    if old["choices"] and set(old["choices"]) <= set(flag["choices"] or ()):
        changed.pop("choices", None)
    if old["names"]:
        changed.pop("dest", None)
    return changed

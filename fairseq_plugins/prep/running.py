"""Options of a preparation that do not change its result."""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import InputError
from ..option_flags import option

# cores of this process, perhaps fewer than the machine has
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_FIELDS: dict[str, tuple[Any, ...]] = {  # help and default
    "workers": ("number of parallel processes", CORES),
    "overwrite": (
        "replace the files in the folder, even if another preparation or tool made them",
        False,
    ),
    "shard": (
        "prepare only part i of n, given as i/n, for example 2/3: the same command with 1/3 and "
        "3/3 prepares the other parts, also on other machines",
        "",
    ),
    "merge": ("merge the parts of all --shard commands and finish the folder", False),
}
RUNNING = ("destdir", *_FIELDS)


def recorded(options: Any, *without: str) -> dict[str, Any]:
    """Return the options that decide the content, except those named in ``without``."""
    found = asdict(options)
    return {name: found[name] for name in found if name not in (*RUNNING, *without)}


def running(name: str) -> Any:
    """Return the field of an option of all preparations."""
    return option(*_FIELDS[name], least=1 if name == "workers" else None)


@dataclass(frozen=True)
class Shard:
    """The part of a preparation that a command does: all, one shard, or the merge."""

    number: int = 0  # of the shard, from 1; 0 without shards
    of: int = 1  # number of shards
    merge: bool = False  # whether to merge all shards

    @classmethod
    def asked(cls, options: Any) -> Shard:
        """Read ``--shard i/n`` (or nothing) and ``--merge``."""
        shard = options.shard
        if not shard:
            return cls(merge=options.merge)
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", shard)
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise InputError(f"--shard {shard!r}: give i/n with i from 1 to n, for example 2/3")
        if options.merge:
            raise InputError(
                f"--shard {shard} makes one part and --merge puts all together: give one of them"
            )
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

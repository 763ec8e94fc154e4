"""UDPipe models from elsewhere, tried in another process: UDPipe's native code trusts its files."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from ..files import sha256
from . import udpipe_trial
from .kind import Kind

SECONDS = 5 * udpipe_trial.SECONDS  # limit of a trial on a busy machine


def problems(path: Path) -> Iterator[str]:
    """Yield the problem of a model that ends a process."""
    if not survives(path, sha256(path)):
        yield "a process that only tries it was ended by it, or by its limits of memory and time"


@lru_cache(maxsize=64)
def survives(path: Path, digest: str) -> bool:
    """Whether a process with limits survives a trial of a model; once per digest."""
    about = json.dumps(sys.path), str(path.stat().st_size)
    command = [sys.executable, "-I", udpipe_trial.__file__, str(path), *about]
    try:
        return subprocess.run(command, capture_output=True, timeout=SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


UDPIPE = Kind(problems)

"""How many processes train together, and what that changes in a training command.

A run has the same batches however many processes share them: the batch of an update is what the
grid says, and every process takes its part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .grid import Options


@dataclass(frozen=True)
class Workers:
    """The processes of one run.

    Args:
        nodes: machines. With more than one the environment variable TORCHRUN has to hold
            torchrun's rendezvous.
        processes: on each of them, one a GPU.
    """

    nodes: int = 1
    processes: int = 1

    @property
    def count(self) -> int:
        """All of them."""
        return self.nodes * self.processes


ALONE = Workers()


def share_batches(options: Options, workers: Workers, system: str) -> Options:
    """Return the options of each process, so that an update sees as much as with one process.

    Args:
        options: of one process.
        workers: that share the work.
        system: whose options they are, for the message.

    Raises:
        ValueError: neither the batches of an update nor the examples of a batch can be dealt out
            evenly.
    """
    count = workers.count
    if count == 1:
        return options
    several = int(options.get("update-freq", 1))
    shared = math.gcd(several, count)
    rest, own = count // shared, {"update-freq": several // shared}
    if rest == 1:
        return {**options, **own}
    examples = options.get("batch-size")
    if isinstance(examples, int) and examples % rest == 0:
        own["batch-size"] = examples // rest
        if "max-tokens" in options:
            own["max-tokens"] = int(options["max-tokens"]) // rest
        return {**options, **own}
    given = {name: options[name] for name in ("update-freq", "batch-size") if name in options}
    raise ValueError(
        f"{system}: {count} processes cannot share {given or 'its batches'} evenly: choose a "
        "number of processes that divides update-freq or batch-size"
    )

"""The kept share of a training set, and the share held out to choose checkpoints and rates."""

from typing import NamedTuple

from ..errors import InputError

SELECT = "select"  # the held-out split


class Share(NamedTuple):
    """A part of a training set."""

    fraction: float = 1.0  # of the lines or examples that are not held out, above 0, at most 1
    seed: int = 1  # of the selection
    select: float = 0.0  # held-out share, from 0 to below 1

    def counts(self, examples: int) -> dict[str, int]:
        """Return the number of kept lines or examples, and of held-out ones if any."""
        if not 0 < self.fraction <= 1:
            raise InputError(f"fraction {self.fraction}: must be above 0 and at most 1")
        if not 0 <= self.select < 1:
            raise InputError(f"select fraction {self.select}: must be from 0 to below 1")
        held = max(1, round(examples * self.select)) if self.select else 0
        if held and held >= examples:
            raise InputError(f"select fraction {self.select}: leaves none of {examples} examples")
        kept = max(1, round((examples - held) * self.fraction))
        return {"train": kept, **({SELECT: held} if held else {})}


WHOLE = Share()

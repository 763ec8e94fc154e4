"""What a run was trained with: everything about it but its seed."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..plan.grid import Choice


class Setting(NamedTuple):
    """Everything about a run but its seed."""

    system: str
    learning_rate: float
    epochs: int
    choice: Choice = ()
    fraction: float = 1.0
    updates: int = 0

    @property
    def values(self) -> str:
        """The learning rate and whatever else was chosen; of an ensemble what it is."""
        made = [f"{name} {value}" for name, value in self.choice]
        if math.isnan(self.learning_rate):
            return ", ".join(made)
        length = f"{self.updates:,} updates" if self.updates else f"{self.epochs} epochs"
        share = [] if self.fraction == 1 else [f"{self.fraction * 100:g} % of the data"]
        return ", ".join([f"lr {self.learning_rate:g}", length, *share, *made])

    @property
    def choices(self) -> str:
        """What was chosen of the system's options."""
        return " ".join(f"{name}={value}" for name, value in self.choice)

    @property
    def title(self) -> str:
        """The system and what was chosen of its options, to be read."""
        share = "" if self.fraction == 1 else f"{self.fraction * 100:g} %"
        return " ".join(filter(None, (self.system, share, self.choices)))

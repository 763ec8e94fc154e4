"""What the shades of maps of weights stand for, in figures and on pages."""

from collections.abc import Sequence

import numpy as np


def colour_range(matrices: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return what the lightest and the darkest colour stand for, one scale for all.

    From 0, but where all weights are alike (the least is above half of the greatest) from the
    least: differences would not be seen otherwise.
    """
    low, top = min(map(np.min, matrices)), max(map(np.max, matrices)) or 1.0
    return (float(low) if top / 2 < low < top else 0.0), float(top)

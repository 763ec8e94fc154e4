"""The colour scale of weight maps, in figures and on pages."""

from collections.abc import Sequence

import numpy as np


def colour_range(matrices: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return the weights of the lightest and the darkest colour, one scale for all.

    The scale starts at 0, or at the least weight if all weights are similar (the least above half
    of the greatest), to show differences.
    """
    low, top = min(map(np.min, matrices)), max(map(np.max, matrices)) or 1.0
    return (float(low) if top / 2 < low < top else 0.0), float(top)

"""How much models look locally, layer by layer: numbers to the table behind the figure.

Li et al. 2020, "Improving BERT with Syntax-aware Local Attention", Figure 2: gate values averaged
over all input tokens of each layer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..results import tables

COLUMNS = ("dataset", "system", "layer", "mean", "min", "max", "runs", "tokens", "values")

Curves = Mapping[str, Mapping[float, Sequence[float]]]  # system -> place across -> its seeds


@dataclass(frozen=True)
class GateShare:
    """What one run says about one layer.

    Args:
        dataset: what the tokens are from.
        system: the run's system; runs of one system are its seeds.
        layer: number of the layer, from 0.
        share: mean share of local attention over all tokens, in [0, 1].
        tokens: how many tokens.
    """

    dataset: str
    system: str
    layer: int
    share: float
    tokens: int


def grouped(shares: Sequence[GateShare]) -> dict[str, Curves]:
    """Group shares by dataset, system (both in order of appearance) and layer.

    Raises:
        ValueError: no shares, or one that is no number from 0 to 1.
    """
    if not shares:
        raise ValueError("no gate values")
    found: dict[str, dict[str, dict[int, list[float]]]] = {}
    for one in shares:
        if not 0 <= one.share <= 1:
            raise ValueError(f"a gate value must be from 0 to 1: {one}")
        layers = found.setdefault(one.dataset, {}).setdefault(one.system, {})
        layers.setdefault(one.layer, []).append(one.share)
    return found


def to_csv(shares: Sequence[GateShare]) -> str:
    """Write the numbers of the figure as CSV, the runs' own values joined by blanks at the end.

    Raises:
        ValueError: see `grouped`.
    """
    tokens = {(one.dataset, one.system, one.layer): one.tokens for one in reversed(shares)}
    rows = []
    for dataset, series in grouped(shares).items():
        for system, layers in series.items():
            for layer, values in sorted(layers.items()):
                numbers = (sum(values) / len(values), min(values), max(values), *values)
                mean, low, high, *own = (f"{value:.6f}" for value in numbers)
                place = (dataset, system, layer)
                row = (*place, mean, low, high, len(values), tokens[place], " ".join(own))
                rows.append(dict(zip(COLUMNS, row)))
    return tables.to_csv(rows)

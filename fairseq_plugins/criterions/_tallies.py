"""Counts of a batch, summed by fairseq's logs to the metrics of a whole split.

MCC, F1 or Spearman of a split is no mean of the batches' values. So every batch gives counts
(`targets.target.Tally`); fairseq sums them over batches and workers, and metrics are derived from
the sums: exactly the same for any batches and any number of workers. Numbers of single examples are
kept in vectors as long as the split; each batch fills the places of its own examples.

Counts are named ``_...``, so that fairseq keeps them out of its logs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from fairseq.logging import metrics
from torch import Tensor

from ..targets.target import Tally

Counts = Mapping[str, Any]


def counted(
    tally: Tally, logits: Tensor, extra: Counts, sample: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the counts of a batch as fairseq logs and sums them."""
    found = tally.count(logits, extra, sample)
    if tally.by_example:
        return scattered(found, sample)
    return {f"_{k}": _column(v) if torch.is_tensor(v) else v for k, v in found.items()}


def sums(logging_outputs: Sequence[Mapping[str, Any]], names: tuple[str, ...]) -> dict[str, float]:
    """Return sums of logged numbers, in double precision, with one wait for a GPU.

    Args:
        logging_outputs: of batches, with equal names, or their sum over workers.
        names: prefixes of the summed names.
    """
    found = [name for name in (logging_outputs or [{}])[0] if name.startswith(names)]
    numbers = [output[name] for name in found for output in logging_outputs]
    # a sum over workers has the type `_Column`, like the counts beside it
    tensors = [one.as_subclass(Tensor).double() for one in numbers if torch.is_tensor(one)]
    moved = iter(torch.stack(tensors).tolist() if tensors else ())
    known = [next(moved) if torch.is_tensor(number) else float(number) for number in numbers]
    count = len(logging_outputs)
    return {name: sum(known[i * count : (i + 1) * count]) for i, name in enumerate(found)}


def log(tally: Tally, logging_outputs: Sequence[Mapping[str, Any]]) -> None:
    """Log the counts of batches, and metrics derived from their sums.

    Args:
        tally: source of the counts.
        logging_outputs: of batches, or their sum over workers; nothing is logged without counts.
    """
    names = [name for name in logging_outputs[0] if name.startswith("_")] if logging_outputs else []
    for name in names:
        total: Any = sum(output[name] for output in logging_outputs)
        if torch.is_tensor(total):
            total = total.as_subclass(Tensor).double() if total.dim() else total.item()
        metrics.log_scalar_sum(name, total)
    if names:
        for metric in tally.metrics:
            metrics.log_derived(metric, _derived(tally, names, metric))


def _derived(tally: Tally, names: Sequence[str], metric: str) -> Callable[[Any], float]:
    def derive(meters: Any) -> float:
        sums = {name: meters[name].sum for name in names}
        plain = gathered(sums) if tally.by_example else {k[1:]: v for k, v in sums.items()}
        return tally.score(plain)[metric]

    return derive


def scattered(values: Counts, sample: Mapping[str, Any]) -> dict[str, Tensor]:
    """Put a batch's values into vectors as long as the split, each at its example's place.

    Args:
        values: name -> numbers of the batch's examples, (n,).

    Returns:
        Counts of each value, and how often each example was seen, each (total,).
    """
    # The length is part of the name: validation splits of several lengths share their meters.
    total, ids = sample["total"], sample["id"].cpu()
    values = {**values, "seen": torch.ones(len(ids))}
    each = {name: torch.as_tensor(value).double().cpu() for name, value in values.items()}
    return {
        f"_{name}_{total}": _column(torch.zeros(total).double().index_copy(0, ids, value))
        for name, value in each.items()
    }


def gathered(counts: Counts) -> dict[str, Tensor]:
    """Return the values that `scattered` spread, for the seen examples, in order."""
    values = {name.split("_")[1]: vector.as_subclass(Tensor) for name, vector in counts.items()}
    seen = values["seen"] > 0
    return {name: vector[seen] / values["seen"][seen] for name, vector in values.items()}


class _Column(Tensor):
    """A tensor shown by its shape in progress bars: fairseq-validate prints every value."""

    def tolist(self) -> str:
        return f"{tuple(self.shape)}"


def _column(values: Tensor) -> Tensor:
    return values.double().cpu().as_subclass(_Column)

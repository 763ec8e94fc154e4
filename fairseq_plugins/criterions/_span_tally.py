"""How the best spans of a split fare, whatever its batches.

The threshold of no answer and the best one need all questions at once. So every question leaves
what its best span scores, what silence would, and its null odds, each at its own place; the metrics
are `evaluation.squad`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from ..evaluation import squad
from ..evaluation.answers import decode, limits_of, windows_of
from ..nn.span_search import best_spans
from . import _tallies


class Spans:
    """Scores of the best span of every question.

    Args:
        threshold: no answer is given where the null odds exceed it.
        longest: most wordpieces of an answer.
    """

    metrics = squad.LOGGED

    def __init__(self, threshold: float, longest: int) -> None:
        self.threshold = threshold
        self.longest = longest

    def count(self, logits: Tensor, sample: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns of `evaluation.squad.Judged`, and what was seen, each (total,).

        Raises:
            ValueError: the batch holds no passages.
        """
        if "passages" not in sample:
            raise ValueError(
                "the questions' texts were not read, as this is the training split: it can be "
                "validated if --valid-subset names it"
            )
        judged = torch.tensor(list(self._judged(logits, sample)), dtype=torch.float64)  # (n, 5)
        columns = dict(zip(_COLUMNS, judged.reshape(-1, len(_COLUMNS)).unbind(1)))
        columns["odds"] = columns["odds"].nan_to_num(torch.inf, torch.inf, -torch.inf)
        return _tallies.scattered(columns, sample)

    def _judged(self, logits: Tensor, sample: Mapping[str, Any]) -> Iterator[squad.Judged]:
        passages, logits = sample["passages"], logits.float()
        limits = map(torch.from_numpy, limits_of(passages))  # (B, 2) each
        spans = best_spans(logits, *limits, n_best=1, longest=self.longest)  # (B, 1) each
        found = [*spans, logits[:, 0].sum(-1)]
        counts = sample["windows_per_example"].tolist()
        columns = [windows_of(column.cpu().numpy(), counts) for column in found]
        for passage, *parts in zip(passages, *columns):
            answered = decode(passage, *parts)
            yield squad.judge(passage.answers or (), answered.best_text, answered.null_odds)

    def score(self, counts: _tallies.Counts) -> dict[str, float]:
        """Return the metrics of `evaluation.squad.LOGGED`."""
        values = _tallies.gathered(counts)
        rows: Sequence[list[float]] = [values[name].tolist() for name in _COLUMNS]
        return squad.log_metrics(map(squad.Judged, *rows), self.threshold)


_COLUMNS = tuple(name.replace("_", "") for name in squad.Judged._fields)

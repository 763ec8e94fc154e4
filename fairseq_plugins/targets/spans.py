"""Answers to questions: spans of a passage, or none.

A target is a row that a model reads:

    loss of a row = (-log p_start(first position) - log p_end(last position)) / 2
                    + weight x binary cross-entropy of "this row shows the answer"

p is a softmax over all positions of the row; both positions are [CLS], position 0, if the row does
not show the answer. Rows of a question whose answer no row shows do not count.

The threshold of no answer and its best value need all questions at once. So each question leaves
the score of its best span, the score of no answer, and its null odds, at its own place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from . import squad
from .answers import decode, limits_of, windows_of
from .counts import CountKind, Counts
from .gold import Gold
from .target import OF_SPANS, Losses, Row, Said, Target, Weights

if TYPE_CHECKING:
    from torch import Tensor

IGNORED = -100
_COLUMNS = tuple(name.replace("_", "") for name in squad.Judged._fields)


def _of_questions(one: Counts, weights: np.ndarray, _: Iterable[str]) -> dict[str, float]:
    return squad.span_metrics(one.table[:, :2], one.table[:, 2] > 0, weights)


# exact match, F1, whether there is an answer; no exact match without F1
QUESTION = CountKind("spans", 3, of_all=_of_questions, parts=((0, 1),), most=1, fractions=True)


class SpanTally:
    """Scores of the best span of every question."""

    by_example = True
    metrics = squad.LOGGED

    def __init__(self, threshold: float, longest: int) -> None:
        self.threshold, self.longest = threshold, longest

    def count(self, logits: Tensor, extra: Said, sample: Said) -> Said:
        """Return the columns of `squad.Judged`, (n,) each."""
        if "passages" not in sample:
            raise InputError(
                "the questions' texts were not read, as this is the training split: it can be "
                "validated if --valid-subset names it"
            )
        judged = np.array([*self._judged(logits.float(), sample)], dtype=float)  # (n, 5)
        columns = dict(zip(_COLUMNS, judged.reshape(-1, len(_COLUMNS)).T))
        odds = columns["odds"]
        return {**columns, "odds": np.where(np.isnan(odds), np.inf, odds)}

    def _judged(self, logits: Tensor, sample: Mapping[str, Any]) -> Iterator[squad.Judged]:
        import torch

        from ..nn.span_search import best_spans

        passages = sample["passages"]
        limits = map(torch.from_numpy, limits_of(passages))  # (B, 2) each
        spans = best_spans(logits, *limits, n_best=1, longest=self.longest)  # (B, 1) each
        found = [*spans, logits[:, 0].sum(-1)]
        counts = sample["windows_per_example"].tolist()
        columns = [windows_of(column.cpu().numpy(), counts) for column in found]
        for passage, *parts in zip(passages, *columns):
            answered = decode(passage, *parts)
            yield squad.judge(passage.answers or (), answered.best_text, answered.null_odds)

    def score(self, counts: Said) -> dict[str, float]:
        rows: Sequence[list[float]] = [counts[name].tolist() for name in _COLUMNS]
        return squad.log_metrics(map(squad.Judged, *rows), self.threshold)


class SpanStreams(Gold):
    """Answers as spans of the wordpieces of passages; `data.qa_columns` reads them."""

    STREAMS = ("paragraph", "answers")
    TEXTS = ("contexts.jsonl",)


class Spans(Target):
    """The answer to a question."""

    name, task, said, key = "spans", "extractive_qa", "answers", "answer"
    # metrics at the best threshold in hindsight choose no checkpoint
    metrics = tuple(name for name in squad.LOGGED if not name.startswith("tuned_"))
    formats = ()
    kinds = (QUESTION,)
    gold = SpanStreams
    labelled = False
    asks = True
    passages = True
    head = OF_SPANS
    share = "exact_span"

    def counts(self, gold: Row, predicted: Row, labels: Row, positive: str) -> dict[str, Counts]:
        """Return exact match and F1 of each question, and whether it has an answer."""
        rows = [(*squad.scores_of(*pair), bool(pair[0])) for pair in zip(gold, predicted)]
        return {"": Counts(QUESTION, np.array(rows, dtype=float))}

    def sides(self, record: Said) -> tuple[Any, Any]:
        gold, answer = record.get("gold"), record[self.key]
        golds = [] if gold is None else gold
        if not isinstance(golds, list) or not all(isinstance(one, str) for one in (answer, *golds)):
            raise TypeError
        return gold, answer

    def losses(self, logits: Tensor, extra: Said, sample: Said, weights: Weights) -> Losses:
        """Return the loss of starts and ends, and of ``answerability`` if the model has it."""
        from torch.nn import functional

        how: dict[str, Any] = {"ignore_index": IGNORED, "reduction": "sum"}
        loss = functional.cross_entropy(logits, sample["target"], **how) / 2
        if "answerability" not in extra:
            return loss, {}
        counted = sample["counted"]  # (n,)
        shown = (sample["target"][counted, 0] > 0).float()
        judged = extra["answerability"].float()[counted]
        own = functional.binary_cross_entropy_with_logits(judged, shown, reduction="sum")
        return loss, {"answerability": weights["answerability"] * own}

    def size(self, sample: Mapping[str, Any]) -> int:
        """Return the number of rows that count."""
        return len(sample["counted"])

    def right(self, logits: Tensor, target: Tensor) -> Tensor:
        """Count rows with both positions correct; ignored rows never match."""
        return (logits.argmax(1) == target).all(1).sum()

    def tally(
        self, labels: Sequence[str], *, threshold: float = 0.0, longest: int = 30, **how: Any
    ) -> SpanTally:
        return SpanTally(threshold, longest)


SPANS = Spans()

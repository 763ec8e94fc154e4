"""A score of a sentence or a pair, a number on the scale of the training data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..messages import quoted
from .counts import CountKind, Counts, ratio
from .gold import Numbers
from .labeling import check_equal
from .prediction import Prediction, is_number, sentences_of
from .target import About, Losses, Row, Said, Target, Weights, mean

if TYPE_CHECKING:
    from torch import Tensor

SCALE = (0.0, 5.0)  # of STS-B, GLUE's only task with scores; the server refuses other values


class ScorePrediction(Prediction):
    """A score."""

    FIELDS = ("id", "score", "gold", "texts")
    HEAD = ("id", "score", "gold")

    score = property(attrgetter("answer"))

    @property
    def text(self) -> str:
        return f"score {self.answer:.3f}"

    def rows(self) -> Iterable[tuple[Any, ...]]:
        yield f"{self.answer:.6f}", "" if self.gold is None else self.gold

    def glue(self, names: Mapping[str, str]) -> str:
        """Return the score on the server's scale."""
        low, high = SCALE
        return f"{min(max(low, self.answer), high):.6f}"


def mean_squared_error(gold: Sequence[float], predicted: Sequence[float]) -> float:
    check_equal(gold, predicted)
    return ratio(math.fsum((g - p) ** 2 for g, p in zip(gold, predicted)), len(gold))


def _correlation(statistic: str, first: Sequence[float], second: Sequence[float]) -> float:
    """Return a correlation of scipy; 0.0 for a constant or too short column."""
    check_equal(first, second)
    if len(first) < 2 or any(min(column) == max(column) for column in (first, second)):
        return 0.0
    from scipy import stats  # slow to import, not needed for help

    value = float(getattr(stats, statistic)(first, second).statistic)
    return value if math.isfinite(value) else 0.0


SCORE_METRICS = {  # of two columns of numbers; Spearman's ranks average ties
    "pearson": partial(_correlation, "pearsonr"),
    "spearman": partial(_correlation, "spearmanr"),
    "mse": mean_squared_error,
}


def score_metrics(
    gold: Sequence[float], predicted: Sequence[float], names: Iterable[str] = ()
) -> dict[str, float]:
    """Return metrics of two columns of numbers (default: all)."""
    return {name: SCORE_METRICS[name](gold, predicted) for name in names or SCORE_METRICS}


def _of_columns(one: Counts, weights: np.ndarray, names: Iterable[str]) -> dict[str, float]:
    gold, predicted = (np.repeat(column, weights).tolist() for column in one.table.T)
    return score_metrics(gold, predicted, names)


NUMBERS = CountKind("score", 2, of_all=_of_columns, fractions=True, signed=True)


class ScoreTally:
    """Gold and predicted scores, each at its example's place."""

    by_example = True
    metrics = tuple(SCORE_METRICS)

    def count(self, logits: Tensor, extra: Said, sample: Said) -> Said:
        """Return gold and predicted scores, (n,) each."""
        return {"gold": sample["target"], "predicted": logits[:, 0]}

    def score(self, counts: Said) -> dict[str, float]:
        """Return Pearson and Spearman correlation and mean squared error."""
        return score_metrics(counts["gold"].tolist(), counts["predicted"].tolist())


class Score(Target):
    """One number per example."""

    name, task, said, key = "score", "text_classification", "scores", "score"
    metrics = tuple(SCORE_METRICS)
    prediction = ScorePrediction
    compared = frozenset({"src"})
    needed = ("id", "score")
    kinds = (NUMBERS,)
    gold = Numbers
    labelled = False
    share, problem = "", "regression"

    def spelt(self, text: str, known: Callable[[str], str]) -> str:
        """Return the number as written; refuse a text that is no finite number."""
        try:
            finite = math.isfinite(float(text)) and "_" not in text
        except ValueError:
            finite = False
        if not finite:
            raise InputError(f"score {quoted(text)} is no finite number")
        return text

    def counts(self, gold: Row, predicted: Row, labels: Row, positive: str) -> dict[str, Counts]:
        return {"": Counts(NUMBERS, np.array([gold, predicted], dtype=float).T)}

    def read(self, record: Said, where: str, line: int) -> Prediction:
        gold, answer = record.get("gold"), record["score"]
        for value in (answer, *([] if gold is None else [gold])):
            if not is_number(value):
                raise InputError(f"{where}: {quoted(value)} is no number")
        texts = sentences_of(record, where)
        return ScorePrediction(str(record["id"]), answer, gold, texts, line=line)

    def rate(self, one: Prediction) -> float:
        """Return the negative distance from the true score."""
        return -abs(one.answer - one.gold)

    def shown(self, one: Prediction, positive: str = "") -> tuple[list[tuple[str, bool]], str]:
        """Return the score, and its difference from the true score."""
        off = "no gold" if one.gold is None else f"{one.answer - one.gold:+.3f}"
        return [(f"{one.answer:.3f}", True)], off

    def losses(self, logits: Tensor, extra: Said, sample: Said, weights: Weights) -> Losses:
        """Return the sum of squared errors."""
        from torch.nn import functional

        target = sample["target"].float()
        return functional.mse_loss(logits[:, 0], target, reduction="sum"), {}

    def tally(self, labels: Sequence[str], **how: Any) -> ScoreTally:
        return ScoreTally()

    def join(self, logits: Sequence[Tensor]) -> Tensor:
        """Return mean scores, (R, 1)."""
        return mean([found.double().cpu() for found in logits])

    def value(self, label: str) -> Any:
        return float(label)

    def predict(self, rows: Any, about: About) -> Prediction:
        gold = None if about.gold is None else float(about.gold)
        return ScorePrediction(about.id, rows.item(), gold)


SCORE = Score()

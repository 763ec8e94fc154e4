"""SQuAD's exact match and F1 as in the official evaluation of version 2.0.

Texts are compared in lower case, without ASCII punctuation, without a, an, the. A question counts
its best gold answer; gold answers that become empty are dropped, and without any left, as for a
question without an answer, no answer is correct. HasAns depends on the answers as given. Files use
percentages and the official names, fairseq's logs fractions and our names.

A system says "no answer" by an empty text, or by odds above a threshold; the best threshold is
searched as in the official script: from "never answer", answering questions in the order of odds.
"""

import math
import re
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError

OFFICIAL_THRESHOLD = 1.0  # of the official script, made for probabilities
LOGGED = (
    *("exact", "f1", "has_answer_exact", "has_answer_f1", "no_answer_exact", "no_answer_f1"),
    *("tuned_exact", "tuned_f1", "tuned_threshold"),  # best_f1 is taken by fairseq
)

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)

Gold = Mapping[str, Sequence[str]]  # id -> texts of its answers; empty: no answer


class Judged(NamedTuple):
    """The scores of a question's best span."""

    has_answer: bool  # whether there is a gold answer
    exact: float  # 1.0 if the span is a gold answer
    f1: float  # of the span
    silence: float  # the score of no answer: 1.0 if correct
    odds: float  # the system's score of no answer minus the span's


def normalized(text: str) -> str:
    """Return the normal form of an answer: lower case, no punctuation, no articles."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(gold: str, predicted: str) -> float:
    """Return 1.0 for equal answers, else 0.0."""
    return float(normalized(gold) == normalized(predicted))


def token_f1(gold: str, predicted: str) -> float:
    """Return the F1 of the words of two answers; an empty answer matches only empty ones."""
    wanted, found = normalized(gold).split(), normalized(predicted).split()
    if not wanted or not found:
        return float(wanted == found)
    common = sum((Counter(wanted) & Counter(found)).values())
    if not common:
        return 0.0
    precision, recall = common / len(found), common / len(wanted)
    return 2 * precision * recall / (precision + recall)


def scores_of(golds: Sequence[str], predicted: str) -> tuple[float, float]:
    """Return exact match and F1 of a prediction against the best of its gold answers."""
    golds = [gold for gold in golds if normalized(gold)] or [""]
    exact = max(exact_match(gold, predicted) for gold in golds)
    return exact, max(token_f1(gold, predicted) for gold in golds)


def judge(golds: Sequence[str], best_text: str, odds: float) -> Judged:
    """Score the best span of a question (empty if there is none), and no answer."""
    return Judged(bool(golds), *scores_of(golds, best_text), scores_of(golds, "")[0], odds)


def best_threshold(
    scores: ArrayLike,
    odds: ArrayLike,
    has_answer: ArrayLike,
    answered: ArrayLike,
) -> tuple[float, float]:
    """Find the odds above which not to answer.

    Args:
        scores: of the N predicted texts.
        answered: whether the predicted text is not empty.

    Returns:
        The best mean score and its threshold; 0.0 if never answering is best. Questions with equal
        odds are tried one by one, in the given order, as in the official script.
    """
    known, ranks = np.asarray(has_answer, dtype=bool), np.asarray(odds, dtype=float)
    gains = np.where(known, scores, np.where(answered, -1.0, 0.0))
    order = np.argsort(ranks, kind="stable")
    sums = np.cumsum([(~known).sum(), *gains[order]])
    best = int(sums.argmax())
    threshold = float(ranks[order[best - 1]]) if best else 0.0
    return float(sums[best] / len(known)), threshold


def span_metrics(
    scores: np.ndarray, has_answer: np.ndarray, weights: np.ndarray | None = None
) -> dict[str, float]:
    """Return the metrics of answers as fractions; 0.0 for an empty group.

    Args:
        scores: exact match and F1 of each question, (n, 2).
        has_answer: whether it has an answer, (n,).
        weights: of each question, (n,) (default: 1).
    """
    weights = np.ones(len(scores)) if weights is None else weights
    found = {}
    for part, group in (("", True), ("has_answer_", has_answer), ("no_answer_", ~has_answer)):
        kept = weights * group  # (n,)
        means = (kept @ scores / kept.sum()).tolist() if kept.any() else (0.0, 0.0)
        found |= {f"{part}{name}": mean for name, mean in zip(("exact", "f1"), means)}
    return found


def log_metrics(judged: Iterable[Judged], threshold: float = 0.0) -> dict[str, float]:
    """Return the metrics of a split by their names in fairseq's logs (`LOGGED`), as fractions."""
    rows = np.array([tuple(row) for row in judged], dtype=float).reshape(-1, len(Judged._fields))
    has_answer, *scores, silence, odds = rows.T
    given = np.where(odds > threshold, silence, scores).T  # (n, 2)
    metrics = span_metrics(given, has_answer > 0)
    found = (0.0, 0.0)
    for name, column in zip(("exact", "f1"), scores):
        if len(rows):
            found = best_threshold(column, odds, has_answer, ~np.isposinf(odds))
        metrics[f"tuned_{name}"] = found[0]
    return metrics | {"tuned_threshold": found[1]}


def evaluate(
    gold: Gold,
    predictions: Mapping[str, str],
    odds: Mapping[str, float] | None = None,
    threshold: float = OFFICIAL_THRESHOLD,
) -> dict[str, float]:
    """Return the results of the official script, in percent, by its names.

    Args:
        gold: the questions.
        predictions: id -> text, of all of them.
        odds: id -> odds of no answer; the order decides among equal odds.
        threshold: odds above it mean no answer.

    Returns:
        ``exact``, ``f1``, ``total``; the same with ``HasAns_`` and ``NoAns_`` if there are such
        questions; with odds ``best_exact``, ``best_exact_thresh``, ``best_f1``, ``best_f1_thresh``.
    """
    if not gold:
        raise InputError("there are no questions to score")
    scores = np.array([scores_of(golds, predictions[name]) for name, golds in gold.items()])
    has_answer = np.array([bool(golds) for golds in gold.values()])
    given, found = scores, {}  # (n, 2)
    if odds is not None:
        silent = np.array([odds[name] > threshold for name in gold])
        given = np.where(silent[:, None], ~has_answer[:, None], scores)
    groups = {"": has_answer | True, "HasAns_": has_answer, "NoAns_": ~has_answer}
    for prefix, group in groups.items():
        if count := int(group.sum()):
            exact, f1 = (100.0 * sum(column) / count for column in given[group].T.tolist())
            found |= {f"{prefix}exact": exact, f"{prefix}f1": f1, f"{prefix}total": count}
    return found if odds is None else found | _best(gold, predictions, odds, scores)


def _best(
    gold: Gold, predictions: Mapping[str, str], odds: Mapping[str, float], scores: np.ndarray
) -> dict[str, float]:
    """Return the best of the scores (n, 2) with their thresholds."""
    places = {name: place for place, name in enumerate(gold)}
    names = [name for name in odds if name in places]
    has_answer, answered = ([bool(of[name]) for name in names] for of in (gold, predictions))
    known, found = [odds[name] for name in names], {}
    for metric, column in zip(("exact", "f1"), scores[[places[name] for name in names]].T):
        best, threshold = best_threshold(column, known, has_answer, answered)
        found |= {f"best_{metric}": 100.0 * best, f"best_{metric}_thresh": threshold}
    return found


def as_text(scores: Mapping[str, float], threshold: float | None = None) -> str:
    """Return the result of `evaluate` as a table for a terminal, in percent."""
    lines = [f"{'':14}{'exact':>8}{'F1':>8}{'questions':>11}"]
    for title, prefix in (("all", ""), ("answerable", "HasAns_"), ("unanswerable", "NoAns_")):
        if f"{prefix}total" in scores:
            exact, f1, total = (scores[prefix + name] for name in ("exact", "f1", "total"))
            lines.append(f"{title:14}{exact:8.2f}{f1:8.2f}{total:11,}")
    if threshold is not None:
        told = f"no answer where null odds exceed {threshold:g}"
        lines.append(f"{told}; an empty text is none at any threshold")
    silent = 100.0 * scores.get("NoAns_total", 0) / scores["total"]  # the score of never answering
    for metric, title in (("exact", "exact"), ("f1", "F1")):
        if f"best_{metric}" in scores:
            best, threshold = scores[f"best_{metric}"], scores[f"best_{metric}_thresh"]
            how = f"with null odds up to {threshold:.4f} answered"
            if threshold == 0 and math.isclose(best, silent):  # the official 0 of silence
                how = "with no question answered"
            lines.append(f"best {title} {best:.2f} {how}")
    return "\n".join(lines)

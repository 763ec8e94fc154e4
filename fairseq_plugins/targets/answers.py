"""Answers in the original text from spans of windows: n-best list, null odds, final answer.

A question with K windows has the null score min over windows of start_logit[0] + end_logit[0], as
in BERT's code, and the candidates of all windows together. There is no answer if null score - best
score > threshold. The text is cut from the context by code points, never joined from wordpieces.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Candidate:
    """A span of the context that may be the answer."""

    text: str  # of the span
    begin: int  # its first code point in the context
    end: int  # its last code point + 1
    score: float  # start_logit + end_logit
    start_logit: float | None = None  # None if only the sum is known
    end_logit: float | None = None  # see ``start_logit``


@dataclass(frozen=True)
class Answered:
    """A model's output for one question."""

    candidates: tuple[Candidate, ...]  # best first, of distinct texts, never empty
    null_score: float  # of "no answer", on the scale of the candidates' scores
    null_start_logit: float | None = None  # the part of the start; None if only the sum is known

    @property
    def null_odds(self) -> float:
        """Score of "no answer" minus score of the best span; infinite if there is no span."""
        return self.null_score - self.candidates[0].score if self.candidates else math.inf

    @property
    def best_text(self) -> str:
        """The best span, even if "no answer" wins; empty only if there is no span."""
        return self.candidates[0].text if self.candidates else ""

    def answer(self, threshold: float = 0.0) -> str:
        """Return the answer; empty if the null odds exceed the threshold."""
        return "" if self.null_odds > threshold else self.best_text

    @cached_property
    def probabilities(self) -> tuple[float, ...]:
        """Softmax of the scores of all candidates and, last, of "no answer"."""
        scores = np.array([*(each.score for each in self.candidates), self.null_score])
        weights = np.exp(scores - scores.max())
        return tuple((weights / weights.sum()).tolist())


def decode(
    passage: Any,
    scores: np.ndarray,
    begins: np.ndarray,
    ends: np.ndarray,
    nulls: np.ndarray,
    *,
    logits: np.ndarray | None = None,
) -> Answered:
    """Return the answer to a question from the best spans of its K windows.

    Args:
        passage: the context with its windows, a `data.passages.AskedPassage`.
        scores: of the n best spans of each window, -inf for none, (K, n).
        begins: their first positions in the row, (K, n).
        ends: their last positions (inclusive), (K, n).
        nulls: score of "no answer" in each window, (K,).
        logits: of start and end, (K, S, 2), to include both in candidates.

    Returns:
        At most n candidates; equal ones in the order of windows.
    """
    scores, begins, ends, nulls = map(np.asarray, (scores, begins, ends, nulls))
    shifts = passage.shifts[:, 0].tolist()
    found: dict[str, Candidate] = {}
    for window, rank in _by_score(scores):
        if len(found) == scores.shape[1]:
            break
        span = int(begins[window, rank]), int(ends[window, rank])
        own = None if logits is None else logits[window]
        candidate = _candidate(passage, shifts[window], span, float(scores[window, rank]), own)
        if candidate.text:
            found.setdefault(candidate.text, candidate)
    none = None if logits is None else float(logits[int(nulls.argmin()), 0, 0])
    return Answered((*found.values(),), float(nulls.min()), none)


def _by_score(scores: np.ndarray) -> Iterator[tuple[int, int]]:
    for place in np.argsort(-scores, axis=None, kind="stable").tolist():
        window, rank = divmod(place, scores.shape[1])
        if scores[window, rank] > -math.inf:
            yield window, rank


def _candidate(
    passage: Any, shift: int, span: tuple[int, int], score: float, logits: np.ndarray | None
) -> Candidate:
    """Cut a span of a row from the context; ``shift`` and ``logits``, (S, 2), are the row's."""
    first, last = (place - shift for place in span)  # wordpieces
    begin, end = int(passage.offsets[first, 0]), int(passage.offsets[last, 1])
    each = [] if logits is None else [float(logits[span[0], 0]), float(logits[span[1], 1])]
    return Candidate(passage.context[begin:end], begin, end, score, *each)


def most_probable(answers: Sequence[Answered]) -> Answered:
    """Combine several models' outputs by the paper's rule (BERTQA, section 3.6).

    The answer is the best span with the highest probability in any model (of equal ones the first),
    and none if any model gives none. So the null odds are the highest of all models, and the null
    score is set accordingly.
    """
    best = max(answers, key=lambda each: max(each.probabilities[:-1], default=0.0))
    if not best.candidates:
        return best
    odds = max(each.null_odds for each in answers)
    return replace(best, null_score=best.candidates[0].score + odds, null_start_logit=None)


def n_best_entries(found: Answered) -> list[dict[str, Any]]:
    """Return the candidates and no answer (an empty text) in the format of BERT's code, best first.

    Unknown logits, as if several models give no answer, are null.
    """
    *probabilities, null = found.probabilities
    rows = [
        (each.score, _entry(each.text, probability, each.start_logit, each.end_logit))
        for each, probability in zip(found.candidates, probabilities)
    ]
    start = found.null_start_logit
    end = None if start is None else found.null_score - start
    rows.append((found.null_score, _entry("", null, start, end)))
    return [entry for _, entry in sorted(rows, key=lambda row: -row[0])]


def _entry(text: str, probability: float, start: float | None, end: float | None) -> dict[str, Any]:
    return {"text": text, "probability": probability, "start_logit": start, "end_logit": end}


def limits_of(passages: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return ranges and starts of the B rows of a batch, (B, 2) each; see `nn.span_search`."""
    ranges, starts = zip(*((passage.ranges, passage.starts) for passage in passages))
    return np.concatenate(ranges), np.concatenate(starts)


def windows_of(rows: np.ndarray, counts: Iterable[int]) -> list[np.ndarray]:
    """Split the rows of a batch, (B, ...), into those of each question."""
    return np.split(rows, np.cumsum(list(counts))[:-1])

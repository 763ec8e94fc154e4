"""Coattention between a question and its context (Chadha and Sood 2019, Figure 4).

Of a long context one window is shown, by default the window of the best span.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import torch

from ..data.passages import AskedPassage
from ..errors import InputError
from ..targets.answers import Candidate
from .attention import check_choice
from .options import ANSWERED, DIRECTIONS, TO_CONTEXT
from .question_answering import Reader, Reply, row_parts


@dataclass(frozen=True)
class CoattentionMap:
    """Attention between the two sides of a row."""

    question: list[str]  # its Q tokens: wordpieces with the special tokens at both ends
    context: list[str]  # the C tokens of the window, with special tokens
    # (Q, C); rows sum to 1 if the question attends to the context, columns if the context attends
    # to the question
    weights: np.ndarray
    direction: str  # of `DIRECTIONS`
    # first and last context wordpiece of the best span; None if the window has none
    span: tuple[int, int] | None
    reply: Reply  # the model's answer
    window: tuple[int, int]  # number of the window, and number of windows

    @property
    def attended(self) -> list[str]:
        """The wordpieces of the attended side."""
        return self.context if self.direction == TO_CONTEXT else self.question

    @property
    def received(self) -> np.ndarray:
        """Mean attention on each attended wordpiece, (C,) or (Q,), sum 1."""
        return self.weights.mean(axis=0 if self.direction == TO_CONTEXT else 1)

    def most_attended(self, count: int) -> list[tuple[int, float]]:
        """Return at most ``count`` attended wordpieces with the largest share, best first."""
        order = np.argsort(-self.received, kind="stable")[:count]
        return [(int(place), float(self.received[place])) for place in order]


def number_of(dataset: Any, name: str | None = None, kind: str = ANSWERED) -> int:
    """Return the number of a question in a split.

    Args:
        dataset: the split, with gold answers if ``kind`` is used.
        name: id of the question.
        kind: without a name: of `QUESTIONS`; the first question with or without an answer.
    """
    if name is not None:
        if name not in dataset.texts.ids:
            raise InputError(f"no question has the id {name!r}")
        return dataset.texts.ids.index(name)
    for number in range(len(dataset)):
        gold = dataset.passage(number).answers
        if gold is not None and bool(gold) == (kind == ANSWERED):
            return number
    raise InputError(f"no question of the split is known to be {kind}")


@torch.no_grad()
def attend(
    reader: Reader,
    dataset: Any,
    number: int = 0,
    *,
    direction: str = TO_CONTEXT,
    block: int | None = None,
    head: int | None = None,
    window: int | None = None,
) -> CoattentionMap:
    """Return the coattention of the first model for a question.

    Args:
        reader: from `question_answering.load`.
        dataset: of `Reader.ask`, or a split.
        number: of the question in it.
        direction: of `DIRECTIONS`.
        block: one block from 0 (default: the last).
        head: one head from 0 (default: the mean over heads).
        window: of a context with several, from 0 (default: the window of the best span).
    """
    if direction not in DIRECTIONS:
        raise InputError(f"unknown direction {direction!r}; choices: {', '.join(DIRECTIONS)}")
    (reply,) = reader.answer_dataset(dataset, [number])
    check_choice("window", window, len(reply.passage.windows))
    window = _window_of(reply) if window is None else window
    kept, begin, end = (int(size) for size in reply.passage.windows[window][:3])
    row = reply.passage.row
    border, window_begin = row.border(kept), row.begin(1, kept)
    sides = (border, row.specials(2) + kept + end - begin - border)
    rows = row_parts(reader.predictor.batch(dataset, [number])["net_input"], 1)
    shown = next(islice(rows, window, None))
    _, extra = reader.predictor.outputs({"net_input": shown}, need_weights=True)[0]
    weights = _weights(extra, direction, block, head)
    symbols = reader.predictor.inputs.vocabulary.pieces
    tokens = [symbols[token] for token in shown["src_tokens"][0].tolist()]
    return CoattentionMap(
        question=tokens[: sides[0]],
        context=tokens[sides[0] : sum(sides)],
        weights=weights[: sides[0], : sides[1]],
        direction=direction,
        span=_span(reply, begin, end, window_begin - border),
        reply=reply,
        window=(window, len(reply.passage.windows)),
    )


def _weights(
    extra: Mapping[str, Any], direction: str, block: int | None, head: int | None
) -> np.ndarray:
    """Return one block's weights of question and context in one row, (Q, C) with padding."""
    blocks = extra.get("coattention")
    if not blocks:
        raise InputError("this model has no coattention (--coattention-blocks 0, or a control)")
    check_choice("block", block, len(blocks))
    c2q, q2c = blocks[-1 if block is None else block]  # (K, H, T, S) each
    heads = (q2c if direction == TO_CONTEXT else c2q)[0].double()  # (H, T, S)
    check_choice("head", head, len(heads))
    table = (heads.mean(0) if head is None else heads[head]).cpu().numpy()  # (T, S)
    return table if direction == TO_CONTEXT else table.T


def _window_of(reply: Reply) -> int:
    """Return the window with most context around the best span's begin; 0 without a span."""
    if not reply.found.candidates:
        return 0
    first, _ = _pieces(reply.passage, reply.found.candidates[0])
    knowing = reply.passage.windows[:, 3:5]
    return int(np.flatnonzero((knowing[:, 0] <= first) & (first < knowing[:, 1]))[0])


def _span(reply: Reply, begin: int, end: int, before: int) -> tuple[int, int] | None:
    """Return the best span in tokens of a window; None if the window does not contain all of it.

    ``before`` special tokens precede the context.
    """
    if not reply.found.candidates:
        return None
    first, last = _pieces(reply.passage, reply.found.candidates[0])
    shift = before - begin
    return (first + shift, last + shift) if begin <= first and last < end else None


def _pieces(passage: AskedPassage, span: Candidate) -> tuple[int, int]:
    """Return the first and last wordpiece of a span of the context."""
    begins, ends = passage.offsets.T
    covered = np.flatnonzero((ends > span.begin) & (begins < span.end))
    return int(covered[0]), int(covered[-1])

"""n lines in, n translations out: lines that no model is asked about, and bytes that are no text.

An empty line, and one that is too long, travel through fairseq as rows that no text can give: of
end marks alone, one or two of them. What a model makes of such a row is replaced by nothing.
"""

import contextlib
import io
import logging
import sys
from collections.abc import Sequence
from typing import Any

import torch
from fairseq.data import Dictionary
from torch import Tensor

from ..messages import named
from ..text.raw_text import readable

logger = logging.getLogger(__name__)

EMPTY, TOO_LONG = 1, 2  # end marks in a row
SCORES = {EMPTY: 0.0, TOO_LONG: -torch.inf}  # of the empty translations
COMMAND = "fairseq_cli.interactive"


def mark_of(length: int, limit: int, *, whole: bool) -> int:
    """Return how many end marks stand for a line: 0 for one that is translated.

    Args:
        length: of the line in subwords, its end mark included.
        limit: of the model.
        whole: whether the line was read at all, which one of too many characters is not.
    """
    if length > limit or not whole:
        return TOO_LONG
    return EMPTY if length == 1 else 0


def is_unanswered(tokens: Tensor, end: int) -> bool:
    """Whether a sentence (S,) is one that no model is asked about."""
    return bool(tokens.eq(end).all())


def without_answers(
    hypotheses: Sequence[list[dict[str, Tensor]]], src_tokens: Tensor, dictionary: Dictionary
) -> list[list[dict[str, Tensor]]]:
    """Replace what a model made of lines (B, S) that it was not to be asked about.

    Returns:
        As many translations of each sentence: empty ones with the score 0 for an empty line, and
        minus infinity for one that was too long.
    """
    end = dictionary.eos()
    marks = src_tokens.eq(end).sum(dim=1)  # (B,)
    alone = marks.eq(src_tokens.ne(dictionary.pad()).sum(dim=1))  # (B,)
    scores = [SCORES.get(count) if only else None for count, only in zip(marks.tolist(), alone)]
    return [
        nbest if score is None else [_nothing(hypothesis, end, score) for hypothesis in nbest]
        for nbest, score in zip(hypotheses, scores)
    ]


def _nothing(hypothesis: dict[str, Tensor], end: int, score: float) -> dict[str, Any]:
    tokens, found = hypothesis["tokens"], hypothesis["score"]
    attention = hypothesis.get("attention")
    return {
        **hypothesis,
        "tokens": tokens.new_tensor([end]),
        "score": torch.as_tensor(found).new_tensor(score),
        "positional_scores": hypothesis["positional_scores"].new_tensor([score]),
        "attention": None if attention is None else attention[:, :0],
        "alignment": torch.empty(0),
    }


def repaired(lines: Sequence[str], first: int) -> list[str]:
    """Put U+FFFD where a raw line is no Unicode text, and say where, the first being ``first``."""
    found = [readable(line) for line in lines]
    broken = [i for i, (old, new) in enumerate(zip(lines, found), first) if old != new]
    if broken:
        logger.warning("%s: bytes that are no UTF-8 text, replaced by U+FFFD", _lines(broken))
    return found


def report(marks: Sequence[int], first: int, limits: str) -> None:
    """Say which lines get an empty translation, by their marks; ``limits`` is what one may have."""
    empty, long = (
        [i for i, mark in enumerate(marks, first) if mark == kind] for kind in (EMPTY, TOO_LONG)
    )
    if empty:
        logger.warning("%s: nothing to translate, answered by an empty line", _lines(empty))
    if long:
        logger.warning(
            "%s: longer than %s, answered by an empty line with the score -inf; "
            "--truncate-source (truncate_source=True) cuts such lines instead",
            *(_lines(long), limits),
        )


def _lines(numbers: Sequence[int]) -> str:
    return f"line{'s'[: len(numbers) - 1]} {named(numbers)}"


def open_standard_input() -> None:
    """Let ``fairseq-interactive`` read bytes that are no UTF-8: `repaired` replaces them.

    Lines end at line feeds alone. Nothing is done in any other program.
    """
    program = getattr(sys.modules.get("__main__"), "__spec__", None)
    here = COMMAND in sys.modules or getattr(program, "name", "") == COMMAND
    if here and isinstance(sys.stdin, io.TextIOWrapper):
        with contextlib.suppress(io.UnsupportedOperation):  # it was read from before
            sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")

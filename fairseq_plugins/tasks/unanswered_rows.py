"""Lines without an answer (`text.unanswered`) inside fairseq.

Such rows come from no text: only end marks, in the number of their reason. The output of a model
for such a row is replaced by nothing.
"""

import contextlib
import io
import sys
from collections.abc import Sequence
from typing import Any

import torch
from fairseq.data import Dictionary
from torch import Tensor

from ..text.unanswered import SCORES
from ._checkpoint_options import run_of

COMMAND = "fairseq_cli.interactive"
STANDARD = "-"  # standard input
HOW: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogateescape", "newline": "\n"}


def is_unanswered(tokens: Tensor, end: int) -> bool:
    """Return whether a sentence (S,) is unanswered."""
    return bool(tokens.eq(end).all())


def without_answers(
    hypotheses: Sequence[list[dict[str, Tensor]]], src_tokens: Tensor, dictionary: Dictionary
) -> list[list[dict[str, Tensor]]]:
    """Replace the output for unanswered lines (B, S), which have no symbols but those of a form.

    Returns:
        As many translations of each sentence: empty ones with score 0 for an empty line, and minus
            infinity for a too long line.
    """
    end = dictionary.eos()
    marks = src_tokens.eq(end).sum(dim=1)  # (B,)
    around = [end, dictionary.pad(), *getattr(dictionary, "silent", ())]
    alone = torch.isin(src_tokens, src_tokens.new_tensor(around)).all(dim=1)  # (B,)
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


def open_input(cfg: Any) -> None:
    """Make ``fairseq-interactive`` read bytes that are no UTF-8: `repaired` replaces them.

    Lines end only at line feeds, where fairseq also splits ``--input FILE`` at carriage returns:
    the file replaces standard input. Other programs are unaffected.
    """
    program = getattr(sys.modules.get("__main__"), "__spec__", None)
    if COMMAND not in sys.modules and getattr(program, "name", "") != COMMAND:
        return
    whole: Any = run_of(cfg)
    given = whole.get("interactive", {}) if whole else {}
    if given.get("input", STANDARD) != STANDARD:
        sys.stdin = open(given["input"], **HOW)
        given["input"] = STANDARD
    elif isinstance(sys.stdin, io.TextIOWrapper):
        with contextlib.suppress(io.UnsupportedOperation):  # it was read from before
            sys.stdin.reconfigure(**HOW)

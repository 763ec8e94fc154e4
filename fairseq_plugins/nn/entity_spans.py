"""Entities as answers to a question about a sentence (BERT-MRC).

Li et al. 2020, "A Unified MRC Framework for Named Entity Recognition", section 3.4. Every sentence
gets a question for every label, in a row ``[CLS] question [SEP] sentence [SEP]``; E_i is the
state of the sentence's i-th word:

P_start(i) = softmax(E_i T_start)            P_end(i) = softmax(E_i T_end)
candidates: pairs i <= j with argmax P_start(i) = 1 and argmax P_end(j) = 1
P(i, j)    = sigmoid(m . [E_i; E_j])         an entity if above 1/2

The paper's m is one vector (``linear``). The authors' program has a map to D numbers, GELU, dropout
and a vector instead (``mlp``). Either map of [E_i; E_j] is a map of E_i plus one of E_j, so
words are mapped once and only candidates are combined.

The paper counts tokens. Here i and j are words, each represented by its first subword, as for
labels of words; of several windows with a word the one with most context around it counts, and
spans may cross windows.

Only the marks determine the number of candidates, and reading them from an accelerator means a
wait.
In training it therefore judges all pairs i <= j of a question, and marks the candidates.

Letters: W words of all rows of a batch, one question after another; G questions to sentences;
P pairs; D width.
"""

from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from .bert import ACTIVATIONS, draw
from .dropout import Dropout
from .packing import BatchLayout, check_known, places

LINEAR, MLP = MATCHES = ("linear", "mlp")
LEAST = 0.5  # probability of an entity, exclusive
AT_ONCE = 1 << 15  # pairs that are mapped to D numbers together


class Pairs(NamedTuple):
    """Pairs of first and last words, each by its number among W."""

    # first, last: (P,) each, in rising order of both
    first: Tensor
    last: Tensor


class EntityReader(nn.Module):
    """The layers between words' states and the logits of entities.

    Args:
        hidden: width D.
        match: judge of pairs, of `MATCHES`.
        dropout: within ``mlp``.
    """

    def __init__(self, hidden: int, match: str = LINEAR, dropout: float = 0.1) -> None:
        super().__init__()
        width = 1 if match == LINEAR else hidden
        self.ends = nn.Linear(hidden, 4)  # T_start and T_end side by side
        self.match_first = nn.Linear(hidden, width)
        self.match_last = nn.Linear(hidden, width, bias=False)
        self.match_out = None if match == LINEAR else nn.Linear(hidden, 1)
        self.dropout = Dropout(dropout)
        self.apply(draw)

    def forward(
        self,
        words: Tensor,
        counts: Tensor,
        marks: Tensor | None = None,
        layout: BatchLayout | None = None,
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Judge words, and pairs of words that may be entities.

        Args:
            words: their states, (W, D).
            counts: number of words of each question to a sentence, (G,).
            marks: gold for training: whether an entity begins, and ends, at each word, (W, 2).
            layout: of the batch; its host's ``word_counts`` saves waits for an accelerator.

        Returns:
            Logits of start and end, (W, 2, 2): of no and yes; ``first`` and ``last``, the words of
            the candidate pairs, and ``match``, their logits, (P,) each. With ``marks`` pairs of
            gold starts and ends are candidates as well; if there are other pairs, ``kept``, (P,),
            is True at candidates.
        """
        logits = self.ends(words).unflatten(1, (2, 2))  # (W, 2, 2)
        said = predicted_marks(logits)  # (W, 2)
        if marks is None:
            pairs, found = pairs_of(said, counts), {}
        else:
            pairs, found = _candidates(said, marks.bool(), counts, self._all_pairs(counts, layout))
        match = self._match(self.match_first(words), self.match_last(words), pairs)
        return logits, {"first": pairs.first, "last": pairs.last, "match": match, **found}

    def _all_pairs(self, counts: Tensor, layout: BatchLayout | None) -> int | None:
        """Return the number of pairs if all are judged, because finding candidates would wait."""
        known = None if layout is None else layout.known.get("word_counts")
        if layout is None or known is None:
            return None
        check_known(known, counts)
        total = int((known * (known + 1) // 2).sum())
        many = layout.by_length or self.match_out is not None and total > AT_ONCE
        return None if many else total

    def _match(self, firsts: Tensor, lasts: Tensor, pairs: Pairs) -> Tensor:
        """Return the logits of pairs (P,) from both maps of words, (W, 1 or D).

        Pairs of long sentences dominate a batch. Many pairs are judged in parts, and again for the
        gradient, so that no (P, D) is stored.
        """
        if self.match_out is None or len(pairs.first) <= AT_ONCE:
            return self._judge(firsts, lasts, *pairs)
        again = partial(checkpoint, self._judge, use_reentrant=False)
        judge = again if torch.is_grad_enabled() else self._judge
        parts = zip(*(side.split(AT_ONCE) for side in pairs))
        return torch.cat([judge(firsts, lasts, *part) for part in parts])

    def _judge(self, firsts: Tensor, lasts: Tensor, first: Tensor, last: Tensor) -> Tensor:
        both = firsts.index_select(0, first) + lasts.index_select(0, last)  # (P, 1 or D)
        if self.match_out is not None:
            both = self.match_out(self.dropout(ACTIVATIONS["gelu"](both)))
        return both.squeeze(1)


def predicted_marks(logits: Tensor) -> Tensor:
    """Return the predicted begins and ends of entities, (W, 2), from logits (W, 2, 2)."""
    return logits[..., 1] > logits[..., 0]


def pairs_of(marks: Tensor, counts: Tensor, total: int | None = None) -> Pairs:
    """Return the pairs i <= j of a start and an end of one question.

    Args:
        marks: (W, 2), True at starts and at ends.
        counts: words of each question to a sentence, (G,).
        total: number of pairs if all words are starts and ends.
    """
    words = len(marks)
    first, last = (places(one, None if total is None else words) for one in marks.unbind(1))
    behind = counts.cumsum(0).repeat_interleave(counts, output_size=words)[first]  # its row's end
    begin, end = (torch.searchsorted(last, bound) for bound in (first, behind))
    sizes = end - begin
    number = torch.arange(len(first), device=first.device)
    start = number.repeat_interleave(sizes, output_size=total)  # (P,)
    before = sizes.cumsum(0) - sizes - begin
    return Pairs(first[start], last[torch.arange(len(start), device=first.device) - before[start]])


def _candidates(
    said: Tensor, gold: Tensor, counts: Tensor, total: int | None
) -> tuple[Pairs, dict[str, Tensor]]:
    """Return pairs that are both predicted or both gold, as in the authors' program.

    With ``total`` all pairs, and ``kept``, which marks these.
    """
    pairs = pairs_of(said | gold if total is None else said | True, counts, total)
    kept = torch.zeros_like(pairs.first, dtype=torch.bool)
    for marks in (said, gold):
        kept |= marks[pairs.first, 0] & marks[pairs.last, 1]
    if total is not None:
        return pairs, {"kept": kept}
    return Pairs(pairs.first[kept], pairs.last[kept]), {}


def span_scores(logits: Tensor, first: Tensor, last: Tensor, match: Tensor) -> Tensor:
    """Return P_start P_end P of each pair, (P,) in float64, and 0 if it is no entity.

    A pair is no entity if an end is not predicted or the match is not above `LEAST`. For the
    arguments see `EntityReader.forward`.
    """
    said = predicted_marks(logits)  # (W, 2)
    ends = logits.double().softmax(-1)[..., 1]  # (W, 2)
    matched = match.double().sigmoid()
    found = said[first, 0] & said[last, 1] & (matched > LEAST)
    return (ends[first, 0] * ends[last, 1] * matched).masked_fill(~found, 0.0)

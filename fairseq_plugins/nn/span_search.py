"""The best answer spans of a batch: BERT's n-best list, but exact (BERTQA does not say how).

A span from ``begin`` to ``end`` scores start_logit[begin] + end_logit[end]. BERT's own code looks
only at the pairs of its n best starts and n best ends, which can miss spans, or find none; here all
pairs count. Each of the n best spans begins at one of the n positions whose own best span is best,
so the rest is never sorted.
"""

import torch
from torch import Tensor

N_BEST = 20
LONGEST = 30


def best_spans(
    logits: Tensor, ranges: Tensor, starts: Tensor, *, n_best: int = N_BEST, longest: int = LONGEST
) -> tuple[Tensor, Tensor, Tensor]:
    """Find the n best spans of each row; equal ones in the order of their begin, then their end.

    Args:
        logits: of start and end, (B, S, 2).
        ranges: first and last + 1 position that a span may cover, (B, 2).
        starts: first and last + 1 position of a begin, (B, 2).
        n_best: n, number of spans.
        longest: most positions of a span.

    Returns:
        Scores, begins and ends (inclusive), (B, n) each, best first; missing spans have score -inf
        and positions 0.

    Raises:
        ValueError: ``n_best`` or ``longest`` is less than 1.
    """
    for name, value in (("n_best", n_best), ("longest", longest)):
        if value < 1:
            raise ValueError(f"{name} {value}: must be at least 1")
    scores = span_scores(logits, ranges, starts, min(longest, logits.shape[1]))  # (B, S, E)
    rows, positions, ends = scores.shape
    order = scores.amax(dim=-1).sort(dim=-1, descending=True, stable=True).indices
    begins = order[:, :n_best].sort(dim=-1).values  # (B, N), N = min(n, S)
    chosen = scores.gather(1, begins[:, :, None].expand(-1, -1, ends))  # (B, N, E)
    found = chosen.flatten(1).sort(dim=-1, descending=True, stable=True)
    scores, places = found.values[:, :n_best], found.indices[:, :n_best]
    begins = begins.gather(1, places // ends)
    ends = begins + places % ends
    missing = n_best - scores.shape[1]
    scores = torch.nn.functional.pad(scores, (0, missing), value=-torch.inf)
    spans = [torch.nn.functional.pad(found, (0, missing)) for found in (begins, ends)]
    begins, ends = (found.masked_fill(scores == -torch.inf, 0) for found in spans)
    return scores, begins, ends


def span_scores(logits: Tensor, ranges: Tensor, starts: Tensor, longest: int) -> Tensor:
    """Return the score of every span, (B, S, E): of begin s and end s + e; -inf if not allowed.

    For the arguments see `best_spans`; ``longest`` is E. Half precision is widened, as sums of two
    logits are compared.
    """
    logits = logits if logits.dtype == torch.float64 else logits.float()
    start = logits[..., 0].masked_fill(
        ~_within(ranges, logits) | ~_within(starts, logits), -torch.inf
    )
    end = logits[..., 1].masked_fill(~_within(ranges, logits), -torch.inf)
    ends = torch.nn.functional.pad(end, (0, longest - 1), value=-torch.inf).unfold(1, longest, 1)
    return start[:, :, None] + ends  # (B, S, E)


def _within(ranges: Tensor, logits: Tensor) -> Tensor:
    """Return the positions in a row's range, (B, S)."""
    positions = torch.arange(logits.shape[1], device=logits.device)
    first, last = ranges.to(logits.device).unsqueeze(-1).unbind(1)  # (B, 1) each
    return (positions >= first) & (positions < last)

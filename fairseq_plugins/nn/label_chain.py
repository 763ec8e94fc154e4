"""A linear-chain conditional random field over the labels of a sentence's words.

Lafferty et al. 2001; on a neural encoder, Lample et al. 2016 (section 2.2). The score of labels y
of a sentence with L words and emissions e (L, C) is

    s(y) = first[y_1] + sum_t e[t, y_t] + sum_t inner[y_t, y_t+1] + last[y_L]

and p(y) = exp s(y) / sum over all y' of exp s(y'). Everything here takes a *chain*, one table
(C + 1, C + 1): ``inner``, with ``last`` as its last column and ``first`` as its last row. -inf
forbids a step. Emissions come padded, (B, L, C), with the number of words of each sentence (B,).
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence


class LabelChain(nn.Module):
    """The learnt steps from label to label.

    Args:
        allowed: steps that predictions may have, (C + 1, C + 1); the last row and column are the
            beginning and the end of a sentence.

    Attributes:
        steps: learnt scores, (C + 1, C + 1); 0 at first, which is a plain head.
    """

    def __init__(self, allowed: Tensor) -> None:
        super().__init__()
        self.steps = nn.Parameter(torch.zeros(allowed.shape))
        self.register_buffer("forbidden", ~allowed, persistent=False)

    def forward(self) -> Tensor:
        """Return the chain of training, and the chain of predictions, (2, C + 1, C + 1)."""
        steps = self.steps.float()
        return torch.stack([steps, steps.masked_fill(self.forbidden, -torch.inf)])


def padded(rows: Tensor, counts: Tensor) -> Tensor:
    """Return the rows (W, ...) of words by sentence, (B, L, ...), with 0 behind the last word."""
    return pad_sequence([*rows.split(counts.tolist())], batch_first=True)


def _there(emissions: Tensor, counts: Tensor) -> Tensor:
    """Return whether a place holds a word, (L, B, 1)."""
    places = torch.arange(emissions.shape[1], device=counts.device)
    return (places[:, None] < counts)[..., None]


def _forward(emissions: Tensor, counts: Tensor, chain: Tensor) -> Tensor:
    """Sum over all beginnings of the labels, (B, L, C); constant behind the last word."""
    found = [emissions[:, 0] + chain[-1, :-1]]
    for there, each in zip(_there(emissions, counts)[1:], emissions.unbind(1)[1:]):
        sums = (found[-1][:, :, None] + chain[:-1, :-1]).logsumexp(1) + each
        found.append(torch.where(there, sums, found[-1]))
    return torch.stack(found, 1)


def log_partition(emissions: Tensor, counts: Tensor, chain: Tensor) -> Tensor:
    """Return the logarithm of the sum of exp s(y) over all labels y, (B,)."""
    return (_forward(emissions, counts, chain)[:, -1] + chain[:-1, -1]).logsumexp(-1)


def score(emissions: Tensor, labels: Tensor, counts: Tensor, chain: Tensor) -> Tensor:
    """Return s(y) of given labels (B, L), (B,)."""
    there = _there(emissions, counts)[..., 0].T  # (B, L)
    each = emissions.gather(2, labels[..., None])[..., 0]  # (B, L)
    steps = chain[labels[:, :-1], labels[:, 1:]]  # (B, L - 1)
    ends = labels.gather(1, counts[:, None] - 1)[:, 0]
    inner = (each * there).sum(1) + (steps * there[:, 1:]).sum(1)
    return inner + chain[-1, labels[:, 0]] + chain[ends, -1]


def negative_log_likelihood(
    emissions: Tensor, labels: Tensor, counts: Tensor, chain: Tensor
) -> Tensor:
    """Return -log p(y) of each sentence, (B,)."""
    found = score(emissions, labels, counts, chain)
    return log_partition(emissions, counts, chain) - found


def marginals(emissions: Tensor, counts: Tensor, chain: Tensor) -> Tensor:
    """Return the probability of every label of every word, (B, L, C); any numbers behind them."""
    forward, found = _forward(emissions, counts, chain), [chain[:-1, -1].expand(len(counts), -1)]
    later = [*zip(_there(emissions, counts), emissions.unbind(1))][1:]
    for there, each in reversed(later):
        sums = (chain[:-1, :-1] + (each + found[-1])[:, None]).logsumexp(2)
        found.append(torch.where(there, sums, found[-1]))
    whole = log_partition(emissions, counts, chain)
    return (forward + torch.stack(found[::-1], 1) - whole[:, None, None]).exp()


def best_labels(emissions: Tensor, counts: Tensor, chain: Tensor) -> Tensor:
    """Return the labels with the greatest score (Viterbi), (B, L); the last is repeated."""
    best, before = emissions[:, 0] + chain[-1, :-1], []
    stay = torch.arange(best.shape[1], device=best.device)
    for there, each in zip(_there(emissions, counts)[1:], emissions.unbind(1)[1:]):
        found, places = (best[:, :, None] + chain[:-1, :-1]).max(1)
        before.append(torch.where(there, places, stay))
        best = torch.where(there, found + each, best)
    labels = [(best + chain[:-1, -1]).argmax(-1)]
    for places in reversed(before):
        labels.append(places.gather(1, labels[-1][:, None])[:, 0])
    return torch.stack(labels[::-1], 1)

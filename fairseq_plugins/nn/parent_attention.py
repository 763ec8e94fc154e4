"""The last head of a layer learns to attend to each word's parent.

Strubell et al. 2018, "LISA", in the form that Li et al. 2020 compare with: no new parameters, no
parse in prediction. The loss is the cross-entropy of the last head's plain attention against the
first subword of the parent,

  -log softmax(Q_H K_H' / sqrt(K))[first(i), first(parent(i))],   the mean over words i

where a root is its own parent. Special tokens, later subwords, and words whose parent is cut off
have no loss.

Letters: n sentences of l tokens in a block, H heads of size K, D = H K, W words.
"""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from .context import AttentionContext


class ParentSupervision(nn.Module):
    """The loss of one layer."""

    def forward(
        self,
        qkv: Tensor,
        heads: int,
        context: AttentionContext,
        biases: Sequence[Tensor] | None = None,
    ) -> Tensor:
        """Return the mean loss over the words of a batch, 0 without words.

        Queries, keys and values (N, 3 D) stand side by side; the batch must have words and heads.
        The scores of each block may have biases (n or 1, H, l, l).
        """
        width = qkv.shape[1] // 3
        size = width // heads
        total = qkv.new_zeros((), dtype=_wide(qkv))
        count = qkv.new_zeros((), dtype=torch.int64)  # half precision cannot count a batch's words
        blocks = context.layout.blocks
        for block, bias in zip(blocks, biases or [None] * len(blocks)):
            words, above = context.words_of(block), context.heads_of(block)
            targets, taught = context.once("parents", block, partial(parent_targets, words, above))
            query = block.take(qkv[:, width - size : width])  # (n, l, K)
            key = block.take(qkv[:, 2 * width - size : 2 * width])  # (n, l, K)
            scores = query @ key.mT * size**-0.5  # (n, l, l)
            scores = scores if bias is None else scores + bias[:, -1]
            if block.allowed is not None:
                scores = scores.masked_fill(~block.allowed[:, 0], torch.finfo(scores.dtype).min)
            total = total + parent_loss(scores, targets, taught)
            count = count + taught.sum()
        return total / count.clamp(min=1)


def parent_loss(scores: Tensor, targets: Tensor, taught: Tensor) -> Tensor:
    """Return the summed cross-entropy of scores (n, l, l) before the softmax.

    ``targets`` are the key of each query, (n, l), with any number where ``taught`` (n, l) is False.
    """
    logs = scores.log_softmax(-1, dtype=_wide(scores))  # (n, l, l)
    chosen = logs.gather(2, targets[:, :, None])[:, :, 0]  # (n, l)
    return -torch.where(taught, chosen, 0).sum()


def parent_targets(words: Tensor, heads: Tensor) -> tuple[Tensor, Tensor]:
    """Return the first subword of each token's parent.

    Args:
        words: word of each token, (n, l), -1 at special tokens.
        heads: head of each word, (n, W); a root is its own.

    Returns:
        Its place (n, l), and whether the token is the first of a word whose parent is present (n,
        l).
    """
    n, length = words.shape
    size = heads.shape[1]
    place = torch.arange(length, device=words.device).expand(n, length)  # (n, l)
    slot = torch.where(words < 0, size, words)  # special tokens have their own slot
    first = place.new_full((n, size + 1), length)
    first = first.scatter_reduce(1, slot, place, "amin")  # (n, W + 1), l where a word has no token
    found = first.gather(1, heads.gather(1, words.clamp(min=0)))  # (n, l)
    taught = (words >= 0) & (first.gather(1, slot) == place) & (found < length)
    return found.clamp(max=length - 1), taught


def _wide(values: Tensor) -> torch.dtype:
    """Return the type of ``values``, or single precision in place of half."""
    return torch.promote_types(values.dtype, torch.float32)

"""Adaptive fusion of affinity and difference attention.

Wang et al. 2022, "DABERT", section 2.2. Of a_i (affinity) and d_i (difference), the rows of one
sentence, D wide, before the output map:

  guide   d-_i = sum_j softmax_j(w tanh(W_D d_j + W_a a_i + b)) d_j, and with it a-_i likewise
          d*_i = tanh(W [d_i ; d-_i] + b),  a*_i = tanh(W [a_i ; a-_i] + b)             (eq. 5)
  gate    d^ = tanh(W d* + b),  a^ = tanh(W a* + b),  g = sigmoid(w [d^ ; a^])
          v = g a^ + (1 - g) d^                                                         (eq. 6)
  filter  f = sigmoid(w [a ; W v + b]),  l = f tanh(W v + b)                            (eq. 7)

The result is a + l (``add``: "will incorporate the fusion features and the original features"), or
l alone (``replace``: "will be propagated"). Eq. 5 prints a concatenation in place of the sum above;
the part of a_i then cancels in the softmax, and d-_i is the same for all i (``concat``).
Weights that cancel are not created: biases before a softmax, and with ``concat`` also W_a, b
and their half of w.

Letters: N packed tokens, n sentences of l = T = S tokens in a block, D width, P guide width.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from .context import AttentionContext
from .masks import masked_softmax

GUIDES = ("additive", "concat")
OUTPUTS = ("add", "replace")
INITS = ("normal", "zero")
# Table 5; the removed part, and its replacement:
ABLATIONS = (
    "none",
    "affinity",  # v = d^ with d- = d, f of v alone, and l is the result: nothing of A is left
    "difference",  # plain attention: no fusion at all
    "guide",  # d- = d, a- = a
    "fusion-gate",  # v = (a^ + d^) / 2
    "filter-gate",  # f = 1
    "regulation",  # (A + D) / 2 takes the place of the whole fusion
)
CHUNK = {"cpu": 2**18}  # numbers (T, S, P) at a time, by a processor's cache
WIDE_CHUNK = 2**26  # elsewhere
INIT_STD = 0.02


class AdditiveScores(torch.autograd.Function):
    """``AdditiveScores.apply(query (n, T, P), key (n, S, P), weight (P,))``: scores (n, T, S).

    e_ij = sum_p w_p t_ijp with t_ijp = tanh(q_ip + k_jp) (Bahdanau et al. 2015). Nothing of size
    T x S x P is kept: t is computed in portions, again for the gradients. G is the gradient by e:

        dw_p = sum_ij G_ij t_ijp,  dq_ip = w_p (sum_j G_ij - sum_j G_ij t_ijp^2),  dk_jp likewise.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(query, key, weight)
        scores = query.new_empty(*query.shape[:2], key.shape[1])
        for sentences, rows in _portions(query, key):
            table = _tanh_table(query, key, sentences, rows)  # (m, t, S, P)
            scores[sentences, rows] = table @ weight
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, weight = ctx.saved_tensors
        by_weight = torch.zeros_like(weight)
        by_query, by_key = torch.empty_like(query), torch.zeros_like(key)
        for sentences, rows in _portions(query, key):
            table = _tanh_table(query, key, sentences, rows)  # (m, t, S, P)
            given = gradient[sentences, rows].contiguous()  # (m, t, S)
            by_weight += given.flatten() @ table.flatten(0, 2)
            table.square_()
            by_query[sentences, rows] = (given[:, :, None] @ table)[:, :, 0]  # (m, t, P)
            by_key[sentences] += table.mul_(given[..., None]).sum(1)  # (m, S, P)
        by_query = (gradient.sum(2)[:, :, None] - by_query) * weight
        by_key = (gradient.sum(1)[:, :, None] - by_key) * weight
        return by_query, by_key, by_weight


def _portions(query: Tensor, key: Tensor) -> Iterator[tuple[slice, slice]]:
    """Yield sentences and queries with a table of limited size."""
    row = max(key.shape[1] * key.shape[2], 1)
    rows = max(1, CHUNK.get(query.device.type, WIDE_CHUNK) // row)  # queries at a time
    sentences = max(1, rows // max(query.shape[1], 1))
    for first in range(0, query.shape[0], sentences):
        for start in range(0, query.shape[1], rows):
            yield slice(first, first + sentences), slice(start, start + rows)


def _tanh_table(query: Tensor, key: Tensor, sentences: slice, rows: slice) -> Tensor:
    return (query[sentences, rows, None] + key[sentences, None]).tanh_()


class Guide(nn.Module):
    """Align one signal with another (eq. 5, first four lines).

    Args:
        hidden: width D of both.
        dim: common width P.
        kind: ``additive``, or ``concat``, in which the guiding signal cancels.
    """

    def __init__(self, hidden: int, dim: int = 128, kind: str = "additive") -> None:
        super().__init__()
        self.values = nn.Linear(hidden, dim, bias=False)
        self.guide = nn.Linear(hidden, dim) if kind == "additive" else None
        self.weight = nn.Parameter(torch.empty(dim).normal_(std=INIT_STD))

    def forward(self, values: Tensor, guide: Tensor, context: AttentionContext) -> Tensor:
        """Return the attention of each row of ``guide`` over ``values``; all are (N, D)."""
        found = []
        keys = self.values(values)  # (N, P)
        queries = None if self.guide is None else self.guide(guide)  # (N, P)
        for block in context.layout.blocks:
            asked = None if queries is None else block.take(queries)
            scores = self._scores(block.take(keys), asked)
            allowed = None if block.allowed is None else block.allowed[:, 0]  # (n, 1, l)
            own = block.take(values)  # (n, l, D)
            mixed = masked_softmax(scores, allowed).to(own.dtype) @ own  # (n, l or 1, D)
            found.append(block.give(mixed.expand_as(own)))
        return torch.cat(found)

    def _scores(self, key: Tensor, query: Tensor | None) -> Tensor:
        """Return (n, l, l), or (n, 1, l) if all queries are alike; keys, queries (n, l, P)."""
        wide = torch.promote_types(key.dtype, torch.float32)
        key, weight = key.to(wide), self.weight.to(wide)
        with torch.autocast(key.device.type, enabled=False):  # which would compute products in half
            if query is None:
                return (key.tanh() @ weight)[:, None]
            return AdditiveScores.apply(query.to(wide), key, weight)


class AdaptiveFusion(nn.Module):
    """The fusion of two signals (eq. 5 to 7).

    Args:
        hidden: width D of both.
        guide: one of `GUIDES`.
        guide_dim: width P of the guide attentions.
        output: one of `OUTPUTS`.
        init: ``normal``, or ``zero``: l starts as 0, and with ``add`` the layer as plain attention.
        ablate: one of `ABLATIONS` except ``difference``, which needs no fusion.
    """

    def __init__(
        self,
        hidden: int,
        guide: str = "additive",
        guide_dim: int = 128,
        output: str = "add",
        init: str = "normal",
        ablate: str = "none",
    ) -> None:
        super().__init__()
        self.ablate = ablate
        self.adds = output == "add" and self.reads_affinity
        if ablate == "regulation":
            return
        if self.reads_affinity and ablate != "guide":
            self.guide_difference = Guide(hidden, guide_dim, guide)
            self.guide_affinity = Guide(hidden, guide_dim, guide)
        self.difference_star = nn.Linear(2 * hidden, hidden)
        self.difference_hat = nn.Linear(hidden, hidden)
        if self.reads_affinity:
            self.affinity_star = nn.Linear(2 * hidden, hidden)
            self.affinity_hat = nn.Linear(hidden, hidden)
            if ablate != "fusion-gate":
                self.fusion_gate = nn.Linear(2 * hidden, 1, bias=False)
        if ablate != "filter-gate":
            self.filter_map = nn.Linear(hidden, hidden)
            self.filter_gate = nn.Linear(hidden * (1 + self.reads_affinity), 1, bias=False)
        std = INIT_STD if init == "normal" else 0.0
        self.last_weight = nn.Parameter(torch.empty(hidden, hidden).normal_(std=std))
        self.last_bias = nn.Parameter(torch.zeros(hidden))

    @property
    def reads_affinity(self) -> bool:
        """Whether the result depends on the affinity attention."""
        return self.ablate != "affinity"

    def forward(
        self, affinity: Any, difference: Tensor, context: AttentionContext
    ) -> tuple[Tensor, Tensor | None]:
        """Fuse rows (N, D) of each, ``affinity`` None if unused.

        Returns:
            (N, D); g and f of each token (N, 2), or None without fusion.
        """
        if self.ablate == "regulation":
            return (affinity + difference) / 2, None
        values, share = self._fuse(affinity, difference, context)  # (N, D), (N, 1)
        passed = torch.ones_like(share)  # (N, 1)
        if self.ablate != "filter-gate":
            seen = [*(() if affinity is None else (affinity,)), self.filter_map(values)]
            passed = self.filter_gate(torch.cat(seen, -1)).sigmoid()
        found = passed * functional.linear(values, self.last_weight, self.last_bias).tanh()
        return (affinity + found if self.adds else found), torch.cat([share, passed], -1)

    def _fuse(
        self, affinity: Tensor | None, difference: Tensor, context: AttentionContext
    ) -> tuple[Tensor, Tensor]:
        """Return v (N, D) and g (N, 1) of eq. 6."""
        if affinity is None:
            both = torch.cat([difference, difference], -1)
            values = self.difference_hat(self.difference_star(both).tanh()).tanh()
            return values, torch.zeros_like(values[:, :1])
        guided, guiding = difference, affinity
        if self.ablate != "guide":
            guided = self.guide_difference(difference, affinity, context)
            guiding = self.guide_affinity(affinity, guided, context)
        star = self.difference_star(torch.cat([difference, guided], -1)).tanh()  # (N, D)
        by_difference = self.difference_hat(star).tanh()  # (N, D)
        star = self.affinity_star(torch.cat([affinity, guiding], -1)).tanh()  # (N, D)
        by_affinity = self.affinity_hat(star).tanh()  # (N, D)
        if self.ablate == "fusion-gate":
            share = torch.full_like(by_affinity[:, :1], 0.5)
        else:
            share = self.fusion_gate(torch.cat([by_difference, by_affinity], -1)).sigmoid()
        return torch.lerp(by_difference, by_affinity, share), share

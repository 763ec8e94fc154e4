"""Embeddings of token features, and how they meet the word embedding.

Sundararaman et al. 2019, "Syntax-infused Transformer", section 3: one table E_k for each feature k
(part of speech, case, subword position), all tables of width d added up or set side by side, and
the feature vector f set beside the word embedding e, so that both make one vector of width D:

    f = E_1[x_1] + ... + E_K[x_K]        combine = sum      (the paper)
    f = [E_1[x_1] ; ... ; E_K[x_K]]      combine = concat
    h = [e ; f]                          merge = concat     (the paper: e has D - d dimensions)
    h = [e_1 .. e_(D-d) ; f]             merge = overlay    (e has D dimensions, d give way)
    h = e + f                            merge = add        (e and f have D dimensions)

Letters: B batch, S source length, F features in the data, K features used, d and D widths.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .starts import own_start

COMBINATIONS = ("sum", "concat")
MERGES = ("concat", "overlay", "add")
INITS = ("normal", "glorot", "zero")

PAD_ID = 0


class FactorEmbedding(nn.Module):
    """Map feature ids to one vector per token; the padding row of every table stays zero.

    Args:
        sizes: feature name -> number of ids, padding included, in the order of ``dims``; a dot in a
            name is a colon in its table's name.
        dims: width of each table; all the same for ``sum``.
        columns: column of the input for each table (default: the first K, in order).
        combine: ``sum`` or ``concat``.
        scale: further factor on the result.
    """

    def __init__(
        self,
        sizes: Mapping[str, int],
        dims: Sequence[int],
        *,
        columns: Sequence[int] | None = None,
        combine: str = "sum",
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        columns = tuple(range(len(sizes)) if columns is None else columns)
        self.tables: Any = nn.ModuleDict(
            {
                name.replace(".", ":"): nn.Embedding(size, dim, padding_idx=PAD_ID)
                for (name, size), dim in zip(sizes.items(), dims, strict=True)
            }
        )
        self.columns = columns
        self.combine = combine
        self.scale = scale
        self.embedding_dim = dims[0] if combine == "sum" else sum(dims)

    def reset_parameters(self, how: str, std: float) -> None:
        """Reinitialise all tables; see `init_table`.

        ``std`` is that of the whole feature vector before ``scale``; summed tables start at ``std /
        sqrt(K)``.
        """
        if self.combine == "sum":
            std = std / math.sqrt(len(self.tables))
        for table in self.tables.values():
            init_table(table, how, std)

    def forward(self, factors: Tensor) -> Tensor:
        """Return the vectors (B, S, d) of feature ids (B, S, F)."""
        vectors = [
            table(factors[..., column])  # (B, S, d_k)
            for column, table in zip(self.columns, self.tables.values(), strict=True)
        ]
        if self.combine == "sum":
            vector = torch.stack(vectors).sum(0)  # (B, S, d)
        else:
            vector = torch.cat(vectors, dim=-1)  # (B, S, d)
        return vector if self.scale == 1.0 else self.scale * vector


class FactoredEmbedding(nn.Module):
    """Word table and feature tables as one embedding of width D.

    Args:
        words: the word table; D - d wide for ``concat``, else D wide.
        factors: the feature tables.
        merge: ``concat``, ``overlay`` (features narrower than words) or ``add`` (equally wide).
    """

    def __init__(
        self, words: nn.Embedding, factors: FactorEmbedding, merge: str = "concat"
    ) -> None:
        super().__init__()
        width, d = words.embedding_dim, factors.embedding_dim
        self.words = words
        self.factors = factors
        self.merge = merge
        self.embedding_dim = width + d if merge == "concat" else width
        self.padding_idx = words.padding_idx

    def forward(self, tokens: Tensor, factors: Tensor) -> Tensor:
        """Embed word ids (B, S) with their feature ids (B, S, F), as (B, S, D)."""
        word, feature = self.words(tokens), self.factors(factors)  # (B, S, .), (B, S, d)
        if self.merge == "add":
            return word + feature  # (B, S, D)
        if self.merge == "overlay":
            word = word[..., : -feature.size(-1)]  # (B, S, D - d)
        return torch.cat((word, feature), dim=-1)  # (B, S, D)


def init_table(table: nn.Embedding, how: str, std: float) -> None:
    """Reinitialise one table: ``normal`` by ``std``, ``glorot`` or ``zero``; padding is 0."""
    if how == "normal":
        nn.init.normal_(table.weight, std=std)
    elif how == "glorot":
        nn.init.xavier_uniform_(table.weight)
    else:
        nn.init.zeros_(table.weight)
    clear_padding(table)


def glorot_(module: nn.Module) -> None:
    """Reinitialise every matrix of a module, Glorot-uniform; padding rows become zero."""
    for name, parameter in module.named_parameters():
        if parameter.dim() > 1:
            with own_start(name):  # the same, whatever else a model has
                nn.init.xavier_uniform_(parameter)
    for part in module.modules():
        clear_padding(part)


def clear_padding(module: nn.Module) -> None:
    """Set the padding row of an embedding to zero."""
    if isinstance(module, nn.Embedding) and module.padding_idx is not None:
        with torch.no_grad():
            module.weight[module.padding_idx].zero_()

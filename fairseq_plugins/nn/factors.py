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

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from .checks import check_choice

COMBINATIONS = ("sum", "concat")
MERGES = ("concat", "overlay", "add")
INITS = ("normal", "glorot", "zero")

PAD_ID = 0


class FactorEmbedding(nn.Module):
    """Turn feature ids into one vector a token; the padding row of every table stays zero.

    Args:
        sizes: feature name -> number of ids, padding included, in the order of ``dims``.
        dims: width of each table; all the same for ``sum``.
        columns: which column of the input belongs to each table (default: the first K, in order).
        combine: ``sum`` or ``concat``.
        scale: further factor on the result.

    Raises:
        ValueError: widths or columns that do not fit the number of features, or unequal widths
            that are to be summed.
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
        check_choice("combine", combine, COMBINATIONS)
        if not len(sizes) == len(dims) == len(columns):
            raise ValueError(
                f"{len(sizes)} features, {len(dims)} widths and {len(columns)} columns: "
                "there must be as many of each"
            )
        if combine == "sum" and len(set(dims)) != 1:
            raise ValueError(
                f"tables that are summed have one width, not {', '.join(map(str, dims))}"
            )
        self.tables = nn.ModuleDict(
            {
                name: nn.Embedding(size, dim, padding_idx=PAD_ID)
                for (name, size), dim in zip(sizes.items(), dims)
            }
        )
        self.columns = columns
        self.combine = combine
        self.scale = scale
        self.embedding_dim = dims[0] if combine == "sum" else sum(dims)

    def reset_parameters(self, how: str, std: float) -> None:
        """Draw all tables anew.

        Args:
            how: ``normal``, ``glorot`` (uniform) or ``zero``.
            std: standard deviation of the whole feature vector before ``scale``; summed tables
                share it, each starting at ``std / sqrt(K)``. Used by ``normal`` alone.
        """
        check_choice("how", how, INITS)
        if self.combine == "sum":
            std = std / math.sqrt(len(self.tables))
        for table in self.tables.values():
            init_table(table, how, std)

    def forward(self, factors: Tensor) -> Tensor:
        """Look the features up.

        Args:
            factors: feature ids, (B, S, F).

        Returns:
            Feature vectors, (B, S, d).
        """
        vectors = [
            table(factors[..., column])  # (B, S, d_k)
            for column, table in zip(self.columns, self.tables.values())
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
        merge: ``concat``, ``overlay`` or ``add``.

    Raises:
        ValueError: ``add`` with unequal widths, ``overlay`` with no dimension left for words.
    """

    def __init__(
        self, words: nn.Embedding, factors: FactorEmbedding, merge: str = "concat"
    ) -> None:
        super().__init__()
        check_choice("merge", merge, MERGES)
        width, d = words.embedding_dim, factors.embedding_dim
        if merge == "add" and width != d:
            raise ValueError(f"add: words are {width} wide and features {d}; they must agree")
        if merge == "overlay" and d >= width:
            raise ValueError(f"overlay: features of width {d} leave nothing of {width} to the word")
        self.words = words
        self.factors = factors
        self.merge = merge
        self.embedding_dim = width + d if merge == "concat" else width
        self.padding_idx = words.padding_idx

    def forward(self, tokens: Tensor, factors: Tensor) -> Tensor:
        """Embed tokens with their features.

        Args:
            tokens: word ids, (B, S).
            factors: feature ids, (B, S, F).

        Returns:
            Embeddings, (B, S, D).
        """
        word, feature = self.words(tokens), self.factors(factors)  # (B, S, .), (B, S, d)
        if self.merge == "add":
            return word + feature  # (B, S, D)
        if self.merge == "overlay":
            word = word[..., : -feature.size(-1)]  # (B, S, D - d)
        return torch.cat((word, feature), dim=-1)  # (B, S, D)


def init_table(table: nn.Embedding, how: str, std: float) -> None:
    """Draw one table anew (``normal``, ``glorot`` or ``zero``); its padding row becomes zero."""
    if how == "normal":
        nn.init.normal_(table.weight, std=std)
    elif how == "glorot":
        nn.init.xavier_uniform_(table.weight)
    else:
        nn.init.zeros_(table.weight)
    if table.padding_idx is not None:
        with torch.no_grad():
            table.weight[table.padding_idx].zero_()


def glorot_(module: nn.Module) -> None:
    """Draw every matrix of a module anew, Glorot-uniform; padding rows become zero."""
    for parameter in module.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    for part in module.modules():
        if isinstance(part, nn.Embedding) and part.padding_idx is not None:
            with torch.no_grad():
                part.weight[part.padding_idx].zero_()

"""Features in BERT's embedding sum (Sundararaman et al. 2019, "BERT + POS").

  h = e + f               merge = add      (the paper's choice: f has BERT's width D)
  h = [e ; f] A + b       merge = affine   (its alternative: A is (D + d) x D)

h replaces the word embedding in BERT's sum, before its LayerNorm; positions and segments are
added as usual. Tables start at N(0, 0.02) with padding at zero. Started at zero (``init="zero"``)
the encoder is exactly BERT, also with ``affine``, whose A then starts as identity over zeros.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from .bert import INIT_STD
from .factors import FactorEmbedding

MERGES = ("add", "affine")
INITS = ("normal", "zero")


class FeatureInfusion(nn.Module):
    """Join the features of a token to its word embedding.

    Args:
        hidden: BERT's width D.
        sizes: feature name -> number of ids, padding included.
        merge: ``add`` | ``affine``.
        dim: width d of the feature tables for ``affine`` (they are D wide for ``add``).
        init: ``normal`` | ``zero``.
    """

    def __init__(
        self,
        hidden: int,
        sizes: Mapping[str, int],
        *,
        merge: str = "add",
        dim: int = 20,
        init: str = "normal",
    ) -> None:
        super().__init__()
        width = hidden if merge == "add" else dim
        self.factors = FactorEmbedding(sizes, [width] * len(sizes))
        self.affine = nn.Linear(hidden + dim, hidden) if merge == "affine" else None
        # Zero tables under a zero map would never learn: with ``affine`` only the map is zero.
        tables = "zero" if init == "zero" and merge == "add" else "normal"
        self.factors.reset_parameters(tables, INIT_STD)
        if self.affine is not None:  # starts as identity
            with torch.no_grad():
                self.affine.bias.zero_()
                self.affine.weight[:, :hidden] = torch.eye(hidden)
                self.affine.weight[:, hidden:].normal_(std=0.0 if init == "zero" else INIT_STD)

    def forward(self, words: Tensor, factors: Tensor) -> Tensor:
        """Join: words (N, D) and feature ids (N, F) to (N, D)."""
        feature = self.factors(factors)  # (N, d)
        if self.affine is None:
            return words + feature  # (N, D)
        return self.affine(torch.cat((words, feature), dim=-1))  # (N, D)

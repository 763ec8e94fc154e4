"""Words as models from scratch read them: one table, with features joined to its rows.

    x = e + f   or   x = [e ; f] A + b     (features as in `infusion`)

Words that have no given vector start at N(0, 1).
"""

from __future__ import annotations

from torch import Tensor, nn

from .factors import clear_padding

INIT_STD = 1.0


class WordInputs(nn.Module):
    """A table of words, and what joins their features.

    Args:
        size: number of words V.
        width: of their embeddings E.
        padding: id of the padding token.
        features: joins features to words, see `infusion.FeatureInfusion`; None for none.
    """

    def __init__(
        self, size: int, width: int, padding: int, features: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.table = nn.Embedding(size, width, padding_idx=padding)
        nn.init.normal_(self.table.weight, std=INIT_STD)
        clear_padding(self.table)
        self.features = features
        self.width = width

    def forward(self, tokens: Tensor, factors: Tensor | None) -> Tensor:
        """Embed words (n,) with their feature ids (n, F) as (n, E).

        Raises:
            ValueError: features are wanted and not given.
        """
        words = self.table(tokens)  # (n, E)
        if self.features is None:
            return words
        if factors is None:
            raise ValueError("this model reads features, but the batch has no src_factors")
        return self.features(words, factors)

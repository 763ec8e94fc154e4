"""fairseq's decoder with target factors: reads earlier factors, and predicts the next."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Optional

import torch
from fairseq.models.transformer import TransformerDecoderBase
from torch import Tensor, nn

from ..errors import InputError
from ..nn.starts import own_start
from ..nn.target_factors import SPECIAL_ID, TargetFactors, decided, delayed

LAST = "target_factors"  # kept between steps: the last predicted factors
IncrementalState = dict[str, dict[str, Optional[Tensor]]]


class FactoredDecoder(TransformerDecoderBase):
    """Decode words and, one step later, their factors (`nn.target_factors`).

    Factors of training text are given; a search takes the most probable factor and keeps it for the
    next step. The extras hold ``factors``: K scores (B, T, labels).

    Args:
        cfg, dictionary, embed_tokens: as fairseq's.
        factors: numbers of ids by name, and columns; see `TargetFactors`.
        how: further options of fairseq's.
    """

    get_incremental_state: Callable[..., Any]  # added by fairseq's decorator
    set_incremental_state: Callable[..., Any]

    def __init__(
        self,
        cfg: Any,
        dictionary: Any,
        embed_tokens: nn.Embedding,
        factors: tuple[Mapping[str, int], Sequence[int]],
        **how: Any,
    ) -> None:
        super().__init__(cfg, dictionary, embed_tokens, **how)
        sizes, columns = factors
        width, state = embed_tokens.embedding_dim, self.output_embed_dim
        with own_start("target factors"):
            self.target_factors = TargetFactors(sizes, columns, width, state)
            self.target_factors.reset_parameters(width**-0.5)

    def forward(
        self,
        prev_output_tokens: Tensor,
        encoder_out: Any = None,
        incremental_state: Optional[IncrementalState] = None,
        features_only: bool = False,
        prev_output_factors: Optional[Tensor] = None,
        src_lengths: Any = None,
        return_all_hiddens: bool = False,
        **how: Any,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Decode; all other arguments are fairseq's.

        Args:
            prev_output_tokens: the words before, (B, T).
            prev_output_factors: their factors (B, T, columns of the data folder), except in a
                search, which has its own.
        """
        given = {"prev_output_factors": prev_output_factors}
        found = (prev_output_tokens, encoder_out, incremental_state)
        x, extra = self.extract_features(*found, **given, **how)  # (B, T, C)
        return (x if features_only else self.output_layer(x)), extra

    def extract_features(
        self,
        prev_output_tokens: Tensor,
        encoder_out: Any = None,
        incremental_state: Optional[IncrementalState] = None,
        *more: Any,
        prev_output_factors: Optional[Tensor] = None,
        **how: Any,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Return fairseq's features (B, T, C) and extras with factors."""
        if incremental_state is None:
            before = delayed(self._known(prev_output_tokens, prev_output_factors))  # (B, T, K)
        else:
            before = self._last(prev_output_tokens, incremental_state)  # (B, 1, K)
        with self._added(self.target_factors.embed(before)):
            found = (prev_output_tokens, encoder_out, incremental_state)
            x, extra = super().extract_features(*found, *more, **how)  # (B, T, C)
        scores = self.target_factors(x)
        extra["factors"] = scores
        if incremental_state is not None:
            best = decided(scores)  # (B, 1, K)
            is_first = prev_output_tokens.size(1) == 1
            kept = torch.full_like(best, SPECIAL_ID) if is_first else best
            self.set_incremental_state(incremental_state, LAST, {LAST: kept})
        return x, extra

    def _known(self, tokens: Tensor, given: Optional[Tensor]) -> Tensor:
        if given is None:
            raise InputError(
                "this model reads target factors and got none: use --task syntax_translation and a "
                "folder prepared with --target-layers"
            )
        if given.shape[:2] != tokens.shape:
            raise InputError(
                f"target factors of shape {tuple(given.shape)} do not fit target tokens of "
                f"shape {tuple(tokens.shape)}"
            )
        return self.target_factors.chosen(given)

    def _last(self, tokens: Tensor, state: IncrementalState) -> Tensor:
        """Return the factors of the last step, (B, 1, K); zeros at the first step."""
        if tokens.size(1) == 1:
            return tokens.new_zeros(len(tokens), 1, len(self.target_factors.names))
        return self.get_incremental_state(state, LAST)[LAST]

    @contextmanager
    def _added(self, vectors: Tensor) -> Iterator[None]:
        """Add vectors (B, T, D) to word embeddings, by a hook inside the context."""
        handle = self.embed_tokens.register_forward_hook(lambda _, __, words: words + vectors)
        try:
            yield
        finally:
            handle.remove()

    def reorder_incremental_state(self, incremental_state: IncrementalState, order: Tensor) -> None:
        """Reorder the factors with their hypotheses."""
        kept = self.get_incremental_state(incremental_state, LAST)
        if kept is not None:
            moved = {LAST: kept[LAST].index_select(0, order)}
            self.set_incremental_state(incremental_state, LAST, moved)

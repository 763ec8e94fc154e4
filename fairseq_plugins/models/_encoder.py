"""The encoder of ``syntax_transformer``: fairseq's, reading features, with local attention."""

from typing import Any, Optional

import torch
from fairseq.distributed import fsdp_wrap
from fairseq.models.transformer.transformer_encoder import TransformerEncoderBase
from fairseq.modules.checkpoint_activations import checkpoint_wrapper
from torch import Tensor, nn

from ..nn.factors import FactoredEmbedding
from ._local_encoder import LocalEncoderLayer, LocalPlan, openings


class SyntaxEncoder(TransformerEncoderBase):
    """fairseq's encoder; its token embeddings come from tokens and features together.

    Args:
        cfg: fairseq's options.
        dictionary: of the source.
        embed_tokens: fairseq's word table, or a `FactoredEmbedding`.
        local: its local attention; without any, every layer is fairseq's.
    """

    def __init__(
        self, cfg: Any, dictionary: Any, embed_tokens: nn.Module, local: LocalPlan
    ) -> None:
        self.local = local
        self._built = 0  # layers so far
        super().__init__(cfg, dictionary, embed_tokens)
        self.columns = local.columns  # that are read of src_factors
        if isinstance(embed_tokens, FactoredEmbedding):
            self.columns += embed_tokens.factors.columns

    def build_encoder_layer(self, cfg: Any) -> nn.Module:
        """Build the next layer, wrapped as fairseq wraps its own."""
        self._built += 1
        if self._built - 1 not in self.local.layers:
            return super().build_encoder_layer(cfg)
        layer = LocalEncoderLayer(cfg, self.local)
        if cfg.checkpoint_activations:
            layer = checkpoint_wrapper(layer, offload_to_cpu=cfg.offload_activations)
            return fsdp_wrap(layer, min_num_params=0)
        return fsdp_wrap(layer, min_num_params=cfg.min_params_to_wrap)

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Optional[Tensor] = None,
        return_all_hiddens: bool = False,
        token_embeddings: Optional[Tensor] = None,
        src_factors: Optional[Tensor] = None,
    ) -> dict[str, list[Tensor]]:
        """Encode a batch; what is not named here is as in fairseq.

        Args:
            src_tokens: word ids, (B, S).
            token_embeddings: ready-made embeddings, (B, S, D); the features are then not read.
            src_factors: feature ids, (B, S, F), one column for each feature of the data folder,
                and two for its parse trees, if it has them.

        Raises:
            ValueError: the model reads features or trees and there are none, or their shape does
                not fit.
        """
        factored = token_embeddings is None and isinstance(self.embed_tokens, FactoredEmbedding)
        if factored or self.local.columns:
            self._check(src_tokens, src_factors)
        if factored:
            token_embeddings = self.embed_tokens(src_tokens, src_factors)  # (B, S, D)
        if not self.local.rules:
            return super().forward(src_tokens, src_lengths, return_all_hiddens, token_embeddings)
        return self._encode(src_tokens, token_embeddings, src_factors, every=return_all_hiddens)

    def _check(self, src_tokens: Tensor, src_factors: Optional[Tensor]) -> None:
        if src_factors is None:
            raise ValueError(
                "this model reads source features and got none: use --task syntax_translation, "
                "or SyntaxTransformerModel.from_pretrained(...).translate(...) in Python"
            )
        needed = max(self.columns) + 1
        if src_factors.shape[:2] != src_tokens.shape or src_factors.size(2) < needed:
            raise ValueError(
                f"source features of shape {tuple(src_factors.shape)} do not fit source tokens of "
                f"shape {tuple(src_tokens.shape)} and {needed} columns"
            )

    def _encode(
        self,
        src_tokens: Tensor,
        token_embeddings: Optional[Tensor],
        src_factors: Optional[Tensor],
        *,
        every: bool,
    ) -> dict[str, list[Tensor]]:
        """Encode with local attention; what is returned is what fairseq's encoder returns."""
        padding_mask = src_tokens.eq(self.padding_idx)  # (B, S)
        x, embedding = self.forward_embedding(src_tokens, token_embeddings)  # (B, S, D)
        x = x.masked_fill(padding_mask[..., None], 0).transpose(0, 1)  # (S, B, D)
        special = padding_mask | src_tokens.eq(self.dictionary.eos())
        masks = openings(self.local, special, padding_mask, src_factors)
        states = [x] if every else []
        for layer in self.layers:
            local = getattr(layer, "takes_openings", False)
            x = layer(x, encoder_padding_mask=masks if local else padding_mask)
            states += [x] if every else []
        if self.layer_norm is not None:
            x = self.layer_norm(x)
        return {
            "encoder_out": [x],  # (S, B, D)
            "encoder_padding_mask": [padding_mask],
            "encoder_embedding": [embedding],
            "encoder_states": states,
            "fc_results": [],
            "src_tokens": [],
            "src_lengths": [(~padding_mask).sum(1, keepdim=True, dtype=torch.int32)],  # (B, 1)
        }

"""The encoder of ``syntax_transformer``: fairseq's with features and local attention.

This file decides which layers have local attention, and builds its masks and its layer;
`nn.local_attention` has the mathematics, `nn.tree_masks` the masks. The weights have fairseq's
names, so that weights of a plain transformer fit; a layer's gate is an addition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import torch
from fairseq.distributed import fsdp_wrap
from fairseq.models.transformer import TransformerConfig
from fairseq.models.transformer.transformer_encoder import TransformerEncoderBase
from fairseq.modules import MultiheadAttention
from fairseq.modules.checkpoint_activations import checkpoint_wrapper
from fairseq.modules.transformer_layer import TransformerEncoderLayerBase
from torch import Tensor, nn

from ..errors import InputError
from ..nn.factors import FactoredEmbedding
from ..nn.local_attention import Gate
from ..nn.masks import AdditiveMask, allowed_keys
from ..nn.mixed_attention import fused, fuses, openly
from ..nn.starts import own_start
from ..nn.tree_masks import Rule
from ..syntax.layers import Layer, column_places
from ..syntax.subwords import is_sign
from ._config import EncoderAttention


@dataclass(frozen=True)
class LocalPlan:
    """An encoder's local attention."""

    rules: tuple[Rule, ...] = ()  # allowed keys of each kind; empty for a plain encoder
    layers: tuple[int, ...] = ()  # numbers of its layers
    gate_bias: float = 0.0  # start of the gates' bias
    columns: tuple[int, ...] = ()  # columns of ``src_factors`` with words and heads; may be empty
    separate: bool = True  # whether dropout applies to each softmax, not to the mixture


def plan_local(local: EncoderAttention, held: Sequence[Layer]) -> LocalPlan:
    """Return an encoder's local attention; ``held`` are the folder's layers, with its needs."""
    places = column_places(held)
    columns = tuple(column for name in local.needs.layers for column in places[name])
    start = float(local.gate_bias_init)
    return LocalPlan(local.rules, local.layers, start, columns, local.separate)


def openings(
    plan: LocalPlan,
    special: Tensor,
    padding_mask: Tensor,
    src_factors: Any,
    dtype: torch.dtype = torch.float32,
    punctuation: Optional[Tensor] = None,
) -> tuple[AdditiveMask, ...]:
    """Return the attention masks, without waiting for the device.

    Args:
        plan: of the encoder.
        special: True at ``</s>`` and padding, (B, S).
        padding_mask: True at padding, (B, S).
        src_factors: (B, S, F), or None if the plan reads no columns.
        dtype: of the scores.
        punctuation: True at punctuation signs, (B, S), if a rule needs it.

    Returns:
        For global attention (B, 1, S), and for each local attention (B, S, S).
    """
    words, heads = special.long().neg(), None  # (B, S)
    if plan.columns:
        numbers, above = (src_factors[..., column] for column in plan.columns)  # (B, S) each
        words = numbers - 1
        if any(rule.needs_heads for rule in plan.rules):
            heads = heads_of_words(numbers, above)
    keys = allowed_keys(padding_mask)[:, 0]  # (B, 1, S)
    allowed = (keys, *(rule(words, None, heads, punctuation) & keys for rule in plan.rules))
    return tuple(AdditiveMask.of(part, dtype) for part in allowed)


def heads_of_words(words: Tensor, heads: Tensor) -> Tensor:
    """Gather the heads of words from the columns of their subwords.

    Args:
        words: number of each subword's word from 1, or 0 for no word, (B, S).
        heads: number of that word's head, (B, S).

    Returns:
        For each word from 0 its head, (B, S); roots and unused numbers are their own heads.
    """
    size = words.shape[1] + 1
    own = torch.arange(size, device=words.device).expand(len(words), size)
    return own.scatter(1, words, heads)[:, 1:] - 1  # subwords of one word agree


class LocalSelfAttention(MultiheadAttention):
    """fairseq's self-attention, mixed with local attention by a gate of each token."""

    def __init__(self, width: int, heads: int, plan: LocalPlan, **options: Any) -> None:
        super().__init__(width, heads, self_attention=True, **options)
        with own_start("gate"):
            self.gate = Gate(width, len(plan.rules), plan.gate_bias)
        self.separate = plan.separate

    def forward(
        self, query: Tensor, *, key_padding_mask: tuple[AdditiveMask, ...], **unused: Any
    ) -> tuple[Tensor, None]:
        """Attend over hidden states (S, B, D), which are also keys and values; returns no weights.

        fairseq's layer passes the encoder's `openings` as ``key_padding_mask``.
        """
        parts = [made(query) for made in (self.q_proj, self.k_proj, self.v_proj)]
        qkv = [part.unflatten(-1, (self.num_heads, -1)).permute(1, 2, 0, 3) for part in parts]
        shares, dropout = self.gate(query.transpose(0, 1)), self.dropout_module  # (B, 1 + C)
        drop = dropout.p if self.training or dropout.apply_during_inference else 0.0
        if fuses(query) and (self.separate or not drop):
            mixed = fused(qkv, key_padding_mask, shares, drop)  # (B, H, S, K)
        else:
            scores = qkv[0] * self.scaling @ qkv[1].mT  # (B, H, S, S)
            how = {"dropout": dropout, "separate": self.separate and drop > 0}
            mixed, _ = openly(scores, qkv[2], key_padding_mask, shares, **how)
        return self.out_proj(mixed.permute(2, 0, 1, 3).flatten(2)), None

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """Accept weights of plain attention; the gate keeps its values."""
        super().upgrade_state_dict_named(state_dict, name)
        given: Mapping[str, Tensor] = self.gate.state_dict(prefix=f"{name}.gate.")
        if f"{name}.q_proj.weight" in state_dict:
            state_dict.update({key: v for key, v in given.items() if key not in state_dict})


class LocalEncoderLayer(TransformerEncoderLayerBase):
    """fairseq's encoder layer, with `openings` in place of a padding mask."""

    takes_openings = True

    def __init__(self, cfg: TransformerConfig, plan: LocalPlan) -> None:
        self.plan = plan
        super().__init__(cfg)

    def build_self_attention(self, embed_dim: int, cfg: TransformerConfig) -> LocalSelfAttention:
        return LocalSelfAttention(
            embed_dim,
            cfg.encoder.attention_heads,
            self.plan,
            dropout=cfg.attention_dropout,
            q_noise=self.quant_noise,
            qn_block_size=self.quant_noise_block_size,
        )


class SyntaxEncoder(TransformerEncoderBase):
    """fairseq's encoder with embeddings of tokens and features.

    Args:
        dictionary: of the source.
        embed_tokens: fairseq's word table, or a `FactoredEmbedding`.
        local: its local attention; if empty, every layer is fairseq's.
    """

    def __init__(
        self, cfg: Any, dictionary: Any, embed_tokens: nn.Module, local: LocalPlan
    ) -> None:
        self.local = local
        self._built = 0  # layers so far
        super().__init__(cfg, dictionary, embed_tokens)
        signs = None
        if any(rule.needs_punctuation for rule in local.rules):
            signs = torch.tensor([is_sign(symbol) for symbol in dictionary.symbols])  # (V,)
        self.register_buffer("punctuation", signs, persistent=False)
        self.columns = local.columns  # of src_factors
        if isinstance(embed_tokens, FactoredEmbedding):
            self.columns += embed_tokens.factors.columns

    def build_encoder_layer(self, cfg: Any) -> nn.Module:
        """Build the next layer, with fairseq's wrappers."""
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
    ) -> dict[str, Any]:
        """Encode a batch; all other arguments are fairseq's.

        Args:
            src_tokens: word ids, (B, S).
            token_embeddings: given embeddings, (B, S, D), without features.
            src_factors: feature ids, (B, S, F), one column per feature of the data folder, and two
                for its parse trees, if any.
        """
        factored = token_embeddings is None and isinstance(self.embed_tokens, FactoredEmbedding)
        if factored or self.local.columns:
            self._check(src_tokens, src_factors)
        if factored:
            token_embeddings = self.embed_tokens(src_tokens, src_factors)  # (B, S, D)
        if not self.local.rules:
            return super().forward(src_tokens, src_lengths, return_all_hiddens, token_embeddings)
        return self._encode(src_tokens, token_embeddings, src_factors, every=return_all_hiddens)

    def forward_non_torchscript(self, net_input: dict[str, Any]) -> dict[str, list[Tensor]]:
        """Encode the source side of a batch; fairseq passes all inputs but the target's words."""
        return self.forward(
            **{name: x for name, x in net_input.items() if not name.startswith("prev_output_")}
        )

    def _check(self, src_tokens: Tensor, src_factors: Optional[Tensor]) -> None:
        if src_factors is None:
            raise InputError(
                "this model reads source features and got none: use --task syntax_translation, "
                "or SyntaxTransformerModel.from_pretrained(...).translate(...) in Python"
            )
        needed = max(self.columns) + 1
        if src_factors.shape[:2] != src_tokens.shape or src_factors.size(2) < needed:
            raise InputError(
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
        """Encode with local attention; returns the same as fairseq's encoder."""
        padding_mask = src_tokens.eq(self.padding_idx)  # (B, S)
        x, embedding = self.forward_embedding(src_tokens, token_embeddings)  # (B, S, D)
        x = x.masked_fill(padding_mask[..., None], 0).transpose(0, 1)  # (S, B, D)
        special = padding_mask | src_tokens.eq(self.dictionary.eos())
        kind = x.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else x.dtype
        signs = None if self.punctuation is None else self.punctuation[src_tokens]  # (B, S)
        masks = openings(self.local, special, padding_mask, src_factors, dtype, signs)
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

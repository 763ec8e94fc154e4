"""The weights of a translation model under CTranslate2's names, and its sizes.

All source embeddings become tables of the encoder's full width that CTranslate2 adds, each zero
outside its own columns: [e ; f_1 + f_2] is [e ; 0] + [0 ; f_1] + [0 ; f_2]. So features that are
summed or concatenated, beside the word, over its last dimensions or added to it, with inventories
of any size, are one case.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from ..bundles.transformer_layout import Layout, Side
from ..nn.factors import FactoredEmbedding

ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "tanh": "tanh"}
ACTIVATIONS |= dict.fromkeys(("gelu_fast", "gelu_accurate"), "gelu_tanh")
Weights = dict[str, Tensor]


def layout_of(model: Any, task: Any) -> Layout:
    """Return the sizes of a model, and the longest texts that its task reads."""
    encoder, decoder = model.encoder, model.decoder
    held = {layer.name: layer for layer in task.source_layers}
    factors = tuple(len(held[name].inventory) for name in model.needs.features)
    readable = min(task.cfg.max_source_positions, encoder.max_positions())
    return Layout(
        _side(encoder, len(task.source_dictionary), readable),
        _side(decoder, decoder.embed_tokens.num_embeddings, decoder.max_positions()),
        factors,
        ACTIVATIONS[str(encoder.cfg.activation_fn)],
        encoder.layernorm_embedding is not None,
        decoder.output_embed_dim,
    )


def _side(half: Any, size: int, positions: int) -> Side:
    first = half.layers[0]
    return Side(
        size,
        positions,
        layers=len(half.layers),
        heads=first.self_attn.num_heads,
        width=first.self_attn.embed_dim,
        inner=first.fc1.out_features,
        pre_norm=first.normalize_before,
        final_norm=half.layer_norm is not None,
        scale=float(half.embed_scale),
    )


def weights_of(model: Any) -> Weights:
    """Return the weights of a model by CTranslate2's names, see `Layout.shapes`."""
    encoder, decoder = model.encoder, model.decoder
    tables = source_tables(encoder.embed_tokens)
    found = {f"encoder/embeddings_{k}/weight": table for k, table in enumerate(tables)}
    found["decoder/embeddings/weight"] = decoder.embed_tokens.weight
    found["decoder/projection/weight"] = decoder.output_projection.weight
    if decoder.project_out_dim is not None:
        found["decoder/project_out/weight"] = decoder.project_out_dim.weight
    for name, half in (("encoder", encoder), ("decoder", decoder)):
        found[f"{name}/position_encodings/encodings"] = positions_of(half)
        for norm in ("layer_norm", "layernorm_embedding"):
            found |= _norm(f"{name}/{norm}", getattr(half, norm))
        for k, layer in enumerate(half.layers):
            found |= _layer(f"{name}/layer_{k}", layer)
    return {name: weight.detach().float() for name, weight in found.items()}


def source_tables(embedding: Any) -> Iterator[Tensor]:
    """Yield tables of the encoder's width that add up to the embeddings: words, then features."""
    if not isinstance(embedding, FactoredEmbedding):
        yield embedding.weight
        return
    factors, width = embedding.factors, embedding.embedding_dim
    begin = 0 if embedding.merge == "add" else width - factors.embedding_dim
    kept = width if embedding.merge == "add" else begin
    yield _placed(embedding.words.weight[:, :kept], 0, width)
    for table in factors.tables.values():
        yield _placed(factors.scale * table.weight, begin, width)
        begin += table.embedding_dim if factors.combine == "concat" else 0


def _placed(table: Tensor, begin: int, width: int) -> Tensor:
    """Return a table of a width, zero except for ``table`` from column ``begin``."""
    whole = table.new_zeros(len(table), width)
    whole[:, begin : begin + table.shape[1]] = table
    return whole


def positions_of(half: Any) -> Tensor:
    """Return the position vectors of an encoder or decoder, from the first position."""
    table = half.embed_positions
    first, count = table.padding_idx + 1, half.max_positions()
    if isinstance(table, nn.Embedding):
        return table.weight[first : first + count]
    return table.get_embedding(first + count, table.embedding_dim, table.padding_idx)[first:]


def _layer(name: str, layer: Any) -> Weights:
    attention = layer.self_attn
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    found = _linear(f"{name}/self_attention/linear_0", *projections)
    found |= _linear(f"{name}/self_attention/linear_1", attention.out_proj)
    found |= _norm(f"{name}/self_attention/layer_norm", layer.self_attn_layer_norm)
    found |= _linear(f"{name}/ffn/linear_0", layer.fc1)
    found |= _linear(f"{name}/ffn/linear_1", layer.fc2)
    found |= _norm(f"{name}/ffn/layer_norm", layer.final_layer_norm)
    if memory := getattr(layer, "encoder_attn", None):
        found |= _linear(f"{name}/attention/linear_0", memory.q_proj)
        found |= _linear(f"{name}/attention/linear_1", memory.k_proj, memory.v_proj)
        found |= _linear(f"{name}/attention/linear_2", memory.out_proj)
        found |= _norm(f"{name}/attention/layer_norm", layer.encoder_attn_layer_norm)
    return found


def _linear(name: str, *maps: nn.Linear) -> Weights:
    """Return several maps of the same input as one."""
    parts = {part: [getattr(one, part) for one in maps] for part in ("weight", "bias")}
    return {f"{name}/{part}": torch.cat(found) for part, found in parts.items()}


def _norm(name: str, norm: nn.LayerNorm | None) -> Weights:
    return {} if norm is None else {f"{name}/gamma": norm.weight, f"{name}/beta": norm.bias}

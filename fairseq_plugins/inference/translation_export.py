"""A translation checkpoint as a bundle: its weights under CTranslate2's names, and what text needs.

All embeddings of the source are tables of the encoder's full width that CTranslate2 adds up, each
zero where it has no say: [e ; f_1 + f_2] is [e ; 0] + [0 ; f_1] + [0 ; f_2]. So features that are
summed or set side by side, beside the word, in place of its last dimensions or added to it, and of
inventories as large as one likes, are one case. What cannot be said so is refused by its name, and
what was written is asked for the probabilities of a few sentences before it is published.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..bundles import translation as contents
from ..bundles.ctranslate2_model import END_ID, FOLDER, UNKNOWN_ID, Model, write_model
from ..bundles.index import CARD, TRANSLATION, check_free, new_bundle
from ..bundles.transformer_layout import Layout, Side
from ..bundles.translation_card import card
from ..data.inventories import bound_layers
from ..data.manifest import FILE_NAME, Manifest, tool_versions
from ..files import copy, write_text
from ..models import _checkpoints
from ..nn.factors import FactoredEmbedding
from ..option_flags import flag_of
from ..syntax.layers import layers_of
from ..text.annotators import needs_annotator

logger = logging.getLogger(__name__)

TASK = "syntax_translation"
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "tanh": "tanh"}
ACTIVATIONS |= dict.fromkeys(("gelu_fast", "gelu_accurate"), "gelu_tanh")
NONE = (None, False, 0, 0.0, "none", "")
REFUSED = {
    "encoder_attention": "CTranslate2 has no local attention",
    "target_features": "CTranslate2 predicts no factors of target words",
    "adaptive_softmax_cutoff": "CTranslate2 has no adaptive softmax",
    "adaptive_input": "CTranslate2 has no adaptive input",
    "tie_adaptive_weights": "CTranslate2 has no adaptive softmax",
    "char_inputs": "CTranslate2 reads no characters",
    "merge_src_tgt_embed": "its dictionaries are not those of the prepared folder",
    "no_token_positional_embeddings": "CTranslate2 always adds positions",
    "no_cross_attention": "CTranslate2's decoder always attends to the source",
    "cross_self_attention": "CTranslate2 has no joint attention to source and target",
    "quant_noise_pq": "CTranslate2 has no layer that makes quantisation noise",
    "quant_noise_scalar": "CTranslate2 has no layer that makes quantisation noise",
    "base_layers": "CTranslate2 has no BASE layers",
}
SENTENCES, CLOSE = 4, 1e-3  # of the comparison; by how much log-probabilities may differ
Weights = dict[str, Tensor]


def export_translation(
    checkpoint: str | Path,
    output: str | Path,
    *,
    data: str | Path | None = None,
    int8: bool = False,
    add: Callable[[Path, Manifest], Mapping[str, Any]] | None = None,
) -> None:
    """Write a checkpoint of `syntax_transformer` as a bundle that translates without fairseq.

    Args:
        checkpoint: a checkpoint file.
        output: the folder to make.
        data: the prepared folder (default: the one the checkpoint was trained on).
        int8: keep matrices as bytes, with a scale for each row.
        add: puts more into the folder, such as a pipeline; gets it and the bundle's manifest, and
            returns what its index is to say of that.

    Raises:
        FileNotFoundError: no such checkpoint or prepared folder.
        ValueError: a checkpoint that is refused, or of a model that CTranslate2 does not compute.
    """
    check_free(output)
    found = _checkpoints.read_checkpoint(Path(checkpoint))
    if not found.ours or found.task["_name"] != TASK:
        raise ValueError(f"{checkpoint} holds no syntax_transformer of {TASK!r}")
    check_expressible(found.model, checkpoint)
    folder = Path(data or found.task.get("data") or "")
    if not folder.is_dir():
        raise FileNotFoundError(f"the prepared folder {folder} is not there; name it with --data")
    how = {"data": str(folder), "eval_bleu": False}
    task = _checkpoints.set_up(_checkpoints.task_options(found, **how))
    model = _checkpoints.build(found, task)
    layout, weights = layout_of(model, task), weights_of(model)
    told = contents.Contents(layout, model.needs.features, int8).as_json()
    versions = tool_versions(["ctranslate2", "torch"])
    versions.pop("fairseq_plugins")
    with new_bundle(output, TRANSLATION, TASK, told, versions) as new:
        write_text_parts(new / contents.TEXT, folder, task, model)
        _write_checked(new / FOLDER, layout, weights, model, int8=int8)
        manifest = Manifest.load(new / contents.TEXT)
        told |= add(new, manifest) if add else {}
        write_text(new / CARD, card(Path(checkpoint), task.manifest, told, versions))
    logger.info("wrote %s, of %s", output, checkpoint)


def check_expressible(options: Mapping[str, Any], where: object) -> None:
    """Refuse options of a model that CTranslate2 has nothing for (ValueError names one)."""
    for name, reason in REFUSED.items():
        if options.get(name) not in NONE:
            raise ValueError(
                f"{where}: {flag_of(name)} {options[name]} cannot be exported: {reason}; "
                "translate with fairseq"
            )
    activation = str(options["activation_fn"])
    if activation not in ACTIVATIONS:
        raise ValueError(
            f"{where}: --activation-fn {activation} cannot be exported; CTranslate2 has "
            f"{', '.join(ACTIVATIONS)}"
        )


def layout_of(model: Any, task: Any) -> Layout:
    """Return the sizes of a model, and how long texts its task lets it read."""
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


def source_tables(embedding: nn.Module) -> Iterator[Tensor]:
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
    """Return a table of a width with zeros beside what it is made of, which begins at a column."""
    whole = table.new_zeros(len(table), width)
    whole[:, begin : begin + table.shape[1]] = table
    return whole


def positions_of(half: Any) -> Tensor:
    """Return the vectors of the positions that an encoder or decoder may need, from the first."""
    table = half.embed_positions
    first, count = table.padding_idx + 1, half.max_positions()
    if isinstance(table, nn.Embedding):
        return table.weight[first : first + count]
    return table.get_embedding(first + count, table.embedding_dim, table.padding_idx)[first:]


def _layer(name: str, layer: Any) -> Weights:
    """Return the weights of a layer of encoder or decoder."""
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


def write_text_parts(text: Path, folder: Path, task: Any, model: Any) -> None:
    """Write what raw text needs: of the prepared folder what the model reads, and no paths."""
    text.mkdir()
    manifest = reduced_manifest(task.manifest, model.needs.features)
    for layer in bound_layers(folder, manifest):
        name = manifest.inventory_file(layer)
        copy(folder / name, text / name)
    models = [side.get(k) for side in manifest.segmentation.values() for k in ("model", "vocabulary")]
    for name in dict.fromkeys(filter(None, models)):
        copy(folder / name, text / name)
    manifest.save(text)
    symbols = task.source_dictionary.symbols, task.target_dictionary.symbols
    for side, subwords in zip(contents.SIDES, symbols):
        contents.write_subwords(text / f"{side}.json", subwords)


def reduced_manifest(manifest: Manifest, features: tuple[str, ...]) -> Manifest:
    """Return what a manifest says of the features that a model reads, and of how text is cut.

    Where words are what an annotator finds, it finds them for every feature, and all stay.
    """
    by_words = manifest.segmentation["source"]["tokenizer"] == "none" and features
    kept = [name for name in manifest.features if by_words or name in features]
    lines = {split: {"lines": said["lines"], "tokens": {}} for split, said in manifest.splits.items()}
    longest = {k: v for k, v in manifest.options.items() if k == "max_characters"}
    return replace(
        manifest,
        features=kept,
        annotator=manifest.annotator if needs_annotator(kept) else {},
        splits=lines,
        options=longest,
        alignment={},
        inputs={},
        heads=False,
        target_features=[],
        products={},
    )


def _write_checked(
    folder: Path, layout: Layout, weights: Weights, model: Any, *, int8: bool
) -> None:
    """Write the model, once it was found to compute what fairseq does.

    Raises:
        ValueError: it computes something else.
    """
    arrays = {name: weight.numpy() for name, weight in weights.items()}
    trial = folder.with_name(f"{folder.name}-float32") if int8 else folder
    write_model(trial, layout, arrays)
    difference = largest_difference(Model(trial, layout), model)
    if not difference <= CLOSE:
        raise ValueError(
            f"CTranslate2 computes something else (log-probabilities differ by {difference:.2g}): "
            "the model has an option that is not known to differ; translate with fairseq"
        )
    if int8:
        for path in trial.iterdir():
            path.unlink()
        trial.rmdir()
        write_model(folder, layout, arrays, int8=True)


@torch.no_grad()
def largest_difference(exported: Model, model: Any) -> float:
    """Return by how much log-probabilities of random sentences differ between both models."""
    layout, random = exported.layout, np.random.default_rng(1)
    length = min(8, layout.source.positions, layout.target.positions) - 1
    found = []
    for _ in range(SENTENCES):
        source, target = (
            [*random.integers(UNKNOWN_ID, side.size, length).tolist(), END_ID]
            for side in (layout.source, layout.target)
        )
        factors = [random.integers(0, size, length + 1).tolist() for size in layout.factors]
        scores = torch.tensor(exported.score([(source, factors)], [target[:-1]])[0])
        found.append((scores - _scores(model, source, factors, target)).abs().max().item())
    return max(found)


def _scores(model: Any, source: list[int], factors: list[list[int]], target: list[int]) -> Tensor:
    """Return the log-probabilities (T,) that fairseq's model gives a target."""
    columns = torch.zeros(1, len(source), max(model.encoder.columns, default=-1) + 1).long()
    for column, row in zip(model.encoder.columns, factors, strict=True):
        columns[0, :, column] = torch.tensor(row)
    tokens, before = torch.tensor([source]), torch.tensor([[END_ID, *target[:-1]]])
    out = model(tokens, torch.tensor([len(source)]), before, src_factors=columns)
    scores = model.get_normalized_probs(out, log_probs=True)[0]  # (T, V)
    return scores.gather(1, torch.tensor(target)[:, None])[:, 0]

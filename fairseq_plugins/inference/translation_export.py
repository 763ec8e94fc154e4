"""A translation checkpoint as a bundle: weights under CTranslate2's names, and the text parts.

Features that CTranslate2 lacks are refused by name, and the written model is compared with
fairseq's on a few sentences before the bundle appears.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..bundles import translation as contents
from ..bundles.card import about, card, figures
from ..bundles.ctranslate2_model import END_ID, FOLDER, UNKNOWN_ID, Model, write_model
from ..bundles.folder import keep_pipeline, kept_manifest
from ..bundles.index import CARD, TRANSLATION, new_bundle
from ..bundles.transformer_layout import Layout
from ..data.inventories import bound_layers
from ..data.manifest import tool_versions
from ..data.translation_manifest import TranslationManifest
from ..errors import InputError
from ..files import check_free, copy, write_text
from ..models.checkpoints import build, folder_of, read_checkpoint, set_up, task_options
from ..option_flags import flag_of
from ..text.annotators import needs_annotator, reopen_annotator
from .options import TRANSLATING
from .translation_weights import ACTIVATIONS, Weights, layout_of, weights_of

logger = logging.getLogger(__name__)

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
SENTENCES, CLOSE = 4, 1e-3  # of the comparison; largest difference of log-probabilities


def export_translation(
    checkpoint: str | Path,
    output: str | Path,
    *,
    data: str | Path | None = None,
    int8: bool = False,
    with_pipeline: bool = False,
    spacy_model: str | None = None,
) -> None:
    """Write a checkpoint of `syntax_transformer` as a bundle that translates without fairseq.

    Args:
        checkpoint: a checkpoint file.
        output: the folder to make.
        data: the prepared folder (default: the training folder).
        int8: store matrices as bytes, with a scale per row.
        with_pipeline: include the annotator of raw text.
        spacy_model: that pipeline (default: the prepared folder's).
    """
    check_free(output)
    found = read_checkpoint(Path(checkpoint))
    if not found.ours or found.task["_name"] != TRANSLATING:
        raise InputError(f"{checkpoint} holds no syntax_transformer of {TRANSLATING!r}")
    check_expressible(found.model, checkpoint)
    folder = Path(folder_of(found, data))
    how = {"data": str(folder), "eval_bleu": False}
    task = set_up(task_options(found, **how))
    if not all(form.is_plain for form in task.forms.values()):
        raise InputError(f"{folder}: a bundle has no language tokens; translate with fairseq")
    model = build(found, task)
    layout, weights = layout_of(model, task), weights_of(model)
    told = contents.Contents(layout, model.needs.features, int8).as_json()
    versions = tool_versions(["ctranslate2", "torch"])
    with new_bundle(output, TRANSLATION, TRANSLATING, told, versions) as new:
        reduced = write_text_parts(new / contents.TEXT, folder, task, model)
        _write_checked(new / FOLDER, layout, weights, model, int8=int8)
        if with_pipeline and needs_annotator(reduced.layers):
            names = (reduced.layers, spacy_model)
            keep_pipeline(reopen_annotator(folder, task.manifest.annotator, *names), new)
        rows = about(task.manifest, model, found.model) | sizes(model, told)
        rows |= figures(Path(checkpoint).parent)
        rows["versions"] = ", ".join(f"{name} {version}" for name, version in versions.items())
        title = f"Translation, {task.manifest.pair}"
        write_text(new / CARD, card(title, rows, reduced))


def sizes(model: Any, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return a model's sizes for its card; ``told`` is the content of the index."""
    layout = told["layout"]
    sides = (
        f"{name} {layout[name]['layers']} layers, {layout[name]['width']} wide, "
        f"{layout[name]['size']:,} subwords"
        for name in contents.SIDES
    )
    return {
        "features": ", ".join(model.needs.features) or "none: words alone",
        "model": "; ".join(sides),
        "weights": "int8" if told["int8"] else "float32",
    }


def check_expressible(options: Mapping[str, Any], where: object) -> None:
    """Refuse options of a model that CTranslate2 lacks."""
    for name, reason in REFUSED.items():
        if options.get(name) not in NONE:
            raise InputError(
                f"{where}: {flag_of(name)} {options[name]} cannot be exported: {reason}; "
                "translate with fairseq"
            )
    activation = str(options["activation_fn"])
    if activation not in ACTIVATIONS:
        raise InputError(
            f"{where}: --activation-fn {activation} cannot be exported; CTranslate2 has "
            f"{', '.join(ACTIVATIONS)}"
        )


def write_text_parts(text: Path, folder: Path, task: Any, model: Any) -> TranslationManifest:
    """Write the parts that raw text needs, reduced to what the model reads, without paths.

    Returns:
        The written manifest.
    """
    text.mkdir()
    manifest = reduced_manifest(task.manifest, model.needs.features)
    for layer in bound_layers(folder, manifest):
        name = manifest.inventory_file(layer)
        copy(folder / name, text / name)
    models = [
        side.get(k) for side in manifest.segmentation.values() for k in ("model", "vocabulary")
    ]
    for name in dict.fromkeys(filter(None, models)):
        copy(folder / name, text / name)
    manifest.save(text)
    symbols = task.source_dictionary.symbols, task.target_dictionary.symbols
    for side, subwords in zip(contents.SIDES, symbols):
        contents.write_subwords(text / f"{side}.json", subwords)
    return manifest


def reduced_manifest(
    manifest: TranslationManifest, features: tuple[str, ...]
) -> TranslationManifest:
    """Return a manifest with only the features that a model reads, and the tokenisation.

    If an annotator finds the words, all features stay, because it finds them for every feature.
    """
    by_words = manifest.segmentation["source"]["tokenizer"] == "none" and features
    kept = [name for name in manifest.features if by_words or name in features]
    lines = {
        split: {"lines": said["lines"], "tokens": {}} for split, said in manifest.splits.items()
    }
    nothing = {"inputs": {}, "heads": False, "target_features": []}
    annotator = dict(manifest.annotator) if needs_annotator(kept) else {}
    said = {"features": kept, "annotator": annotator, "splits": lines}
    return kept_manifest(manifest, **said, **nothing)


def _write_checked(
    folder: Path, layout: Layout, weights: Weights, model: Any, *, int8: bool
) -> None:
    """Write the model after comparing its output with fairseq's."""
    arrays = {name: weight.numpy() for name, weight in weights.items()}
    trial = folder.with_name(f"{folder.name}-float32") if int8 else folder
    write_model(trial, layout, arrays)
    difference = largest_difference(Model(trial, layout), model)
    if not difference <= CLOSE:
        raise InputError(
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
    """Return the largest difference of both models' log-probabilities on random sentences."""
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
    """Return the log-probabilities (T,) of a target in fairseq's model."""
    columns = torch.zeros(1, len(source), max(model.encoder.columns, default=-1) + 1).long()
    for column, row in zip(model.encoder.columns, factors, strict=True):
        columns[0, :, column] = torch.tensor(row)
    tokens, before = torch.tensor([source]), torch.tensor([[END_ID, *target[:-1]]])
    out = model(tokens, torch.tensor([len(source)]), before, src_factors=columns)
    scores = model.get_normalized_probs(out, log_probs=True)[0]  # (T, V)
    return scores.gather(1, torch.tensor(target)[:, None])[:, 0]

"""A trained checkpoint of a text model as a bundle, which runs without fairseq."""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..bundles import folder, understanding
from ..bundles.card import card
from ..bundles.index import CARD, UNDERSTANDING, new_bundle
from ..checkpoints.reading import read_state
from ..data.manifest import tool_versions
from ..files import check_free
from ..messages import quoted
from ..nn.quantized import quantize_
from ..text.annotators import needs_annotator, reopen_annotator
from .prediction import read_part
from .text_checkpoints import load_models

logger = logging.getLogger(__name__)

TOOLS = ("torch", "safetensors", "tokenizers", "spacy")
EVALUATIONS = "evaluation.*.json"  # of a run: what it scored on its splits


def export_bundle(
    checkpoint: Path,
    output: str | Path,
    data: str | None = None,
    *,
    int8: bool = False,
    with_pipeline: bool = False,
    spacy_model: str | None = None,
) -> None:
    """Write a text model as a bundle.

    Args:
        checkpoint: of the model.
        output: the folder to make.
        data: the prepared folder (default: the one the checkpoint was trained on).
        int8: whether the weights of linear maps have 8 bits.
        with_pipeline: whether what annotates raw text is copied into it.
        spacy_model: that pipeline (default: the prepared folder's).

    Raises:
        FileNotFoundError: no such checkpoint, prepared folder or pipeline.
        ValueError: a checkpoint that is refused, a pipeline that a bundle could not load again, or
            an output that is taken.
    """
    output = check_free(output)
    task, (model,) = load_models([checkpoint], data, spacy_model=spacy_model)
    form = understanding.INT8 if int8 else understanding.FLOAT32
    options, versions = model_options(checkpoint), tool_versions(TOOLS)
    content = understanding.describe(options, task.inputs.options, form)
    said = {"task": task.NAME, "model": about(model, options), "figures": figures(checkpoint)}
    said |= {"versions": versions, "form": form}
    with new_bundle(output, UNDERSTANDING, task.NAME, content, versions) as made:
        folder.keep_folder(task.folder, task.manifest, made, positive=task.positive)
        if with_pipeline:
            keep_pipeline(task, made, spacy_model)
        understanding.save_weights(quantize_(model) if int8 else model, made)
        (made / CARD).write_text(card(output.name, task.manifest, **said), encoding="utf-8")
    logger.info("wrote %s: a bundle of %s", output, checkpoint)


def keep_pipeline(task: Any, output: Path, spacy_model: str | None) -> None:
    """Copy what annotates raw text for a task's models, if anything does, into a bundle."""
    manifest = task.manifest
    read = read_part(manifest, task.inputs.needs)
    if not needs_annotator(read.annotations, manifest.tokenize):
        logger.info("the model's answers depend on no annotation: no pipeline is needed")
        return
    names = (manifest.annotations, spacy_model, manifest.tokenize)
    folder.keep_pipeline(reopen_annotator(task.folder, manifest.annotator, *names), output)


def model_options(checkpoint: Path) -> dict[str, Any]:
    """Return the complete options of a checkpoint's model."""
    from ..models._checkpoints import read_checkpoint

    return read_checkpoint(checkpoint).model


def about(model: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a card says of a model."""
    return {
        "architecture": options["_name"],
        "family": options.get("family"),
        "features": ", ".join(model.needs.features),
        "parameters": f"{sum(p.numel() for p in model.parameters()):,}",
    }


def figures(checkpoint: Path) -> dict[str, Any]:
    """Return what the training run measured: its best validation, and scores beside it."""
    state = read_state(checkpoint)
    extra, cfg = (state.get(name) or {} for name in ("extra_state", "cfg"))
    found, best = {}, extra.get("best") if isinstance(extra, dict) else None
    if isinstance(best, (int, float)) and isinstance(cfg, dict):
        metric = (cfg.get("checkpoint") or {}).get("best_checkpoint_metric", "loss")
        found[f"best {quoted(metric)} in validation"] = f"{best:.4f}"
    for path in sorted(checkpoint.parent.glob(EVALUATIONS)):
        try:
            metrics = json.loads(path.read_text(encoding="utf-8"))["metrics"]
            said = ", ".join(f"{name} {value:.4f}" for name, value in metrics.items())
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # of somebody else
        found[path.name] = said
    return found

"""A trained checkpoint as a bundle, which runs without fairseq: texts, questions, translation."""

import logging
from argparse import Namespace
from pathlib import Path

from fairseq.models import ARCH_MODEL_REGISTRY

from ..bundles import folder, understanding
from ..bundles.card import about, card, figures
from ..bundles.index import CARD, UNDERSTANDING, new_bundle
from ..corpora.datasets import label_names
from ..data.manifest import tool_versions
from ..data.text_manifest import TextManifest
from ..door.torch_files import read_state
from ..errors import InputError
from ..files import check_free, write_text
from ..models.checkpoints import Checkpoint, read_checkpoint
from ..nn.quantized import quantize_
from ..syntax.needs import Needs
from ..text.annotators import needs_annotator, reopen_annotator
from .needed_annotations import read_part
from .options import TRANSLATING
from .text_checkpoints import load_models

logger = logging.getLogger(__name__)

TOOLS = ("torch", "safetensors", "tokenizers", "spacy")


def export_bundle(
    checkpoint: Path,
    output: str | Path,
    data: str | None = None,
    *,
    int8: bool = False,
    with_pipeline: bool = False,
    spacy_model: str | None = None,
) -> None:
    """Write a model as a bundle.

    Args:
        checkpoint: of the model.
        output: the folder to make.
        data: the prepared folder (default: the training folder).
        int8: whether linear maps have 8-bit weights.
        with_pipeline, spacy_model: whether to copy the pipeline; another pipeline than the
            folder's.
    """
    check_free(output)
    how = {"int8": int8, "with_pipeline": with_pipeline, "spacy_model": spacy_model}
    found = read_checkpoint(checkpoint)
    if found.ours:
        model_class = ARCH_MODEL_REGISTRY[found.model["_name"]]
        refuse_controls(model_class.plan(Namespace(**found.model)).needs, checkpoint)
    if found.task["_name"] == TRANSLATING:
        from .translation_export import export_translation  # needs CTranslate2, unlike texts

        export_translation(checkpoint, output, data=data, **how)
    else:
        export_understanding(found, output, data, **how)
    logger.info("wrote %s: a bundle of %s", output, checkpoint)


def refuse_controls(needs: Needs, checkpoint: object) -> None:
    """Refuse to export a control, a model whose input differs from its folder.

    A control serves only for comparison.
    """
    if said := needs.controls.said:
        raise InputError(
            f"{checkpoint} was trained with {said}, a control: it is not exported; predict splits "
            "of prepared folders with the checkpoint"
        )


def export_understanding(
    found: Checkpoint,
    output: str | Path,
    data: str | None,
    *,
    int8: bool,
    with_pipeline: bool,
    spacy_model: str | None,
) -> None:
    """Write a model of texts or questions as a bundle; see `export_bundle`."""
    checkpoint, options = found.path, found.model
    task, (model,) = load_models([checkpoint], data, spacy_model=spacy_model)
    form = understanding.INT8 if int8 else understanding.FLOAT32
    read = read_part(task.manifest, task.inputs.needs)
    versions = tool_versions(TOOLS)
    content = understanding.describe(options, task.inputs.options, form)
    if names := label_names(read.dataset, read.labels):
        content["names"] = names
    rows = {**about(read, model, options), "weights": form, **best(checkpoint)}
    rows |= figures(checkpoint.parent)
    rows["versions"] = ", ".join(f"{name} {version}" for name, version in versions.items())
    with new_bundle(output, UNDERSTANDING, task.NAME, content, versions) as made:
        folder.keep_folder(task.folder, read, made, positive=task.positive)
        if with_pipeline:
            keep_pipeline(task.folder, read, made, spacy_model)
        understanding.save_weights(quantize_(model) if int8 else model, made)
        write_text(made / CARD, card(f"{task.NAME}: {task.manifest.dataset}", rows, read))


def keep_pipeline(
    prepared: Path, manifest: TextManifest, output: Path, spacy_model: str | None
) -> None:
    """Copy the annotator of raw text, if the model needs one, into a bundle.

    Args:
        prepared, manifest: the prepared folder, and the part of its manifest that the model reads.
    """
    if not needs_annotator(manifest.annotations, manifest.tokenize):
        logger.info("the model's answers depend on no annotation: no pipeline is needed")
        return
    names = (manifest.annotations, spacy_model, manifest.tokenize)
    folder.keep_pipeline(reopen_annotator(prepared, manifest.annotator, *names), output)


def best(checkpoint: Path) -> dict[str, str]:
    """Return the validation that chose a checkpoint, as far as known."""
    state = read_state(checkpoint)
    extra, cfg = (state.get(name) for name in ("extra_state", "cfg"))
    value = extra.get("best") if isinstance(extra, dict) else None
    options = cfg.get("checkpoint") if isinstance(cfg, dict) else None
    if not isinstance(value, (int, float)) or not isinstance(options, dict):
        return {}
    return {f"best {options.get('best_checkpoint_metric', 'loss')} (validation)": f"{value:.4g}"}

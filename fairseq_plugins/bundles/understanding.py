"""Bundles of text and question models: write and load weights and options.

``model.safetensors`` holds the weights, for 8-bit linear maps those of `nn.quantized`; the index
holds the options of model and input; only known names and types are accepted.
"""

from __future__ import annotations

import logging
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from torch import Tensor, nn

from ..architectures import agreement
from ..architectures.text_kinds import TextKind, kind_of
from ..corpora.datasets import label_names
from ..data.inventories import bound_layers
from ..data.text_folders import open_folder
from ..data.text_inputs import InputOptions, TextInputs
from ..data.text_manifest import TextManifest, load_vocabulary
from ..door.model_trial import try_model
from ..door.records import close
from ..door.torch_files import check_finite
from ..errors import InputError
from ..messages import named, quoted
from ..methods.entity_head import asked_of
from ..methods.plan import Plan
from ..nn.quantized import quantize_
from ..pretrained.weights import SAFETENSORS, read_safetensors, write_safetensors
from ..targets.entity_spans import spans_of
from ..text.label_questions import label_questions
from ..text_reading import is_cell
from .folder import pipeline_of, read_folder
from .index import UNDERSTANDING, Bundle

logger = logging.getLogger(__name__)

FLOAT32, INT8 = FORMS = ("float32", "int8")


@dataclass(frozen=True)
class Loaded:
    """A model loaded from a bundle."""

    # model, inputs: the model, and the encoder of its input
    model: Any  # a module with ``needs`` and ``max_positions``
    inputs: TextInputs
    pipeline: str | None  # annotator of raw text in the bundle, if any; see `folder.pipeline_of`
    positive: str  # the label of F1; empty if there is none
    names: dict[str, str]  # label -> description, for labels that need one
    options: Any  # of the model


def describe(model: Mapping[str, Any], inputs: InputOptions, form: str) -> dict[str, Any]:
    """Return the index's description of a model.

    Args:
        model: its complete options, the architecture as ``_name``.
        inputs: how to read long examples.
        form: of its weights, of `FORMS`.
    """
    kind = cast(TextKind, kind_of(model["_name"]))
    known = {spec.name for spec in fields(kind.options)} - {*kind.opened}
    kept = {name: value for name, value in model.items() if name in known and value is not None}
    return {"form": form, "model": kept, "input": asdict(inputs)}


def save_weights(model: nn.Module, output: Path) -> None:
    tensors = {name: value.detach().contiguous() for name, value in model.state_dict().items()}
    write_safetensors(tensors, output / SAFETENSORS)


def load_bundle(
    bundle: Bundle, overrides: Mapping[str, Any] = {}, data: Path | None = None
) -> Loaded:
    """Load a model on the CPU, without fairseq.

    Args:
        bundle: an open bundle.
        overrides: options of `InputOptions` that replace those of the bundle.
        data: a prepared folder with the splits to read.
    """
    where = f"{bundle.folder}: the bundle"
    if bundle.kind != UNDERSTANDING:
        raise InputError(f"{where} is one of {bundle.kind}, not of {UNDERSTANDING}")
    manifest = read_folder(bundle, TextManifest)
    if manifest.task != bundle.task:
        raise InputError(f"{where} is for {bundle.task!r}, but its manifest for {manifest.task!r}")
    options = _inputs(_part(bundle, "input"), overrides, where)
    kind, plan = _plan(_part(bundle, "model"), where)
    args = plan.args
    layers = bound_layers(bundle.folder, manifest)
    vocabulary = load_vocabulary(bundle.folder, manifest)
    agreement.check_texts(args, manifest, vocabulary.content, layers, bundle.folder)
    other = None if data is None else check_folder(data, manifest, vocabulary.content, plan)
    inputs = TextInputs(data or bundle.folder, other or manifest, vocabulary, options)
    inputs.check(plan.needs, training=False)
    model = _model(bundle, partial(kind.make, plan, vocabulary, layers))
    inputs.serve(model.needs, model.max_positions())
    _ask(inputs, bundle, manifest, args)
    names = _names(bundle, manifest)
    return Loaded(model, inputs, pipeline_of(bundle), manifest.positive, names, args)


def _ask(inputs: TextInputs, bundle: Bundle, manifest: TextManifest, args: Any) -> None:
    """Give a model that finds entities by questions its training questions."""
    if inputs.seeks:
        where = (bundle.folder, manifest)
        inputs.ask(label_questions(*where, asked_of(args), spans_of, pipeline_of(bundle)))


def join(first: TextInputs, other: Loaded, where: object) -> None:
    """Make an ensemble's further model read the input of the first."""
    one, two = first.manifest, other.inputs.manifest
    alike = ("target", "labels", "tokenizer", "tokenize", "sentences")
    differing = [name for name in alike if getattr(one, name) != getattr(two, name)]
    if first.vocabulary.content != other.inputs.vocabulary.content:
        differing.append("vocabulary")
    if first.thresholds != other.inputs.thresholds:
        differing.append("thresholds of labels (--label-thresholds gives both the same)")
    if differing:
        raise InputError(f"{where}: its {named(differing)} are others than those of the first")
    agreement.check_inventories(other.options, bound_layers(first.folder, one), first.folder)
    first.check(other.model.needs, training=False)
    first.serve(other.model.needs, other.model.max_positions())


def check_folder(data: Path, manifest: TextManifest, vocabulary: bytes, plan: Plan) -> TextManifest:
    """Return the manifest of a prepared folder that a bundle's model can read."""
    found = open_folder(data, manifest.task)
    if load_vocabulary(data, found).content != vocabulary or found.tokenizer != manifest.tokenizer:
        raise InputError(f"{data} was prepared for another vocabulary than the bundle has")
    agreement.check_texts(plan.args, found, vocabulary, bound_layers(data, found), data)
    if said := agreement.other_words(manifest.cutting, found, plan.needs, data):
        logger.warning(said)
    return found


def _names(bundle: Bundle, manifest: TextManifest) -> dict[str, str]:
    """Return descriptions of labels; for a bundle of an older release the dataset's."""
    if "names" not in bundle.content:
        return label_names(manifest.dataset, manifest.labels)
    found = _part(bundle, "names")
    for label, name in found.items():
        if label not in manifest.labels or not isinstance(name, str) or not is_cell(name):
            raise InputError(
                f"{bundle.folder}: the index calls label {quoted(label)} {quoted(name)}: "
                f"labels are {named(manifest.labels, none='none')}, names are texts"
            )
    return found


def _part(bundle: Bundle, name: str) -> dict[str, Any]:
    found = bundle.content.get(name)
    if not isinstance(found, dict):
        raise InputError(f"{bundle.folder}: the index says {quoted(found)} for {name!r}")
    return found


def _inputs(given: dict[str, Any], overrides: Mapping[str, Any], where: str) -> InputOptions:
    found = InputOptions(**close(given, InputOptions, where))
    known = [spec.name for spec in fields(InputOptions)]
    if unknown := [name for name in overrides if name not in known]:
        raise InputError(f"{unknown[0]!r} is no option of a bundle; choices: {', '.join(known)}")
    return replace(found, **close(overrides, InputOptions, "the options given"))


def _plan(given: dict[str, Any], where: str) -> tuple[TextKind, Plan]:
    """Return a model's kind and plan from options of known names and types."""
    arch = given.get("_name")
    kind = kind_of(arch)
    if kind is None:
        raise InputError(f"{where} has a model of architecture {quoted(arch)}, none of ours")
    closed = close(given, kind.options, where, without=kind.opened, before=kind.before)
    return kind, kind.plan(Namespace(**closed, _name=arch))


def _model(bundle: Bundle, build: Callable[[], nn.Module]) -> Any:
    """Build a model and fill it, after comparing its sizes with the weights."""
    form = bundle.content.get("form")
    if form not in FORMS:
        raise InputError(f"{bundle.folder}: form {quoted(form)}; choices: {', '.join(FORMS)}")

    def make() -> nn.Module:
        model = build()
        return quantize_(model) if form == INT8 else model

    trial = try_model(make)
    path = bundle.path(SAFETENSORS)
    wanted = {name: tuple(value.shape) for name, value in trial.state_dict().items()}
    found = read_safetensors(path, sizes=True)
    if unlike := sorted(n for n in wanted.keys() | found if wanted.get(n) != found.get(n)):
        raise InputError(f"{path} does not fit the options: {named(unlike, 6)}")
    model = make()
    model.load_state_dict(_of_type(read_safetensors(path), model.state_dict(), path))
    return model.eval()


def _of_type(
    tensors: Mapping[str, Tensor], wanted: Mapping[str, Tensor], path: Path
) -> Mapping[str, Tensor]:
    for name, value in tensors.items():
        if value.dtype != wanted[name].dtype:
            raise InputError(f"{path}: {name!r} is of {value.dtype}, not {wanted[name].dtype}")
    check_finite(tensors, path)
    return tensors

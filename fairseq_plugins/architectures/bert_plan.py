"""Checked sizes of a BERT model, from its options."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..nn.bert import BertEncoder, BertShape
from ..nn.layer_depths import BELOW
from ..option_flags import flag_of
from ..pretrained import position_schemes
from ..pretrained.configuration import constants_of, drawn_shape, embedding_of
from ..pretrained.directory import find_family
from ..pretrained.families import FAMILIES, Family
from ..pretrained.vocabulary import Vocabulary
from .bert_options import SIZES, EncoderOptions

# option -> field of BertShape
PRESET = {
    "hidden_size": "hidden",
    "num_hidden_layers": "layers",
    "num_attention_heads": "heads",
    "intermediate_size": "intermediate",
}
FOLLOWING = {
    "embedding_size": "embedding_width",
    "max_position_embeddings": "positions",
    "type_vocab_size": "segments",
    "hidden_act": "activation",
    "pooler_activation": "pooler_activation",
    "layer_norm_eps": "norm_epsilon",
    "dropout": "dropout",
    "attention_dropout": "attention_dropout",
}
OLDEST = "bert"  # the family of checkpoints that name none
TUNABLE = ("dropout", "attention_dropout", "pooler_activation")  # may differ from the checkpoint's


def family_of(args: EncoderOptions, folder: Path | None, data: Family) -> Family:
    """Return the family of a new model.

    Args:
        folder: of the checkpoint, or None.
        data: the family that the data folder was prepared for.
    """
    wanted = {"--family": args.family and FAMILIES[args.family]}
    wanted |= {f"--pretrained {args.pretrained}": folder and find_family(folder)}
    for what, family in wanted.items():
        if family is not None and family != data:
            raise InputError(
                f"{what} is of the family {family.name}, but the data folder was prepared for "
                f"{data.name}; prepare it with a --pretrained of {family.name}"
            )
    return data


def constants(args: EncoderOptions, checkpoint: BertShape | None, family: Family) -> dict[str, Any]:
    """Return the options that a checkpoint or a family decides; given values are checked."""
    model = checkpoint or drawn_shape(family, args.hidden_size)
    asked = _with_scheme(args, model, family)
    wrong = [
        f"{flag_of(name)} {getattr(args, name)} (checkpoint: {getattr(model, part)})"
        for name, part in {**PRESET, **FOLLOWING}.items()
        if checkpoint is not None
        and name not in TUNABLE
        and getattr(args, name) not in (None, getattr(model, part))
    ]
    if checkpoint is not None and asked != model:
        scheme = position_schemes.text_of(model)
        wrong.append(f"--position-scheme {args.position_scheme} (checkpoint: {scheme})")
    if wrong:
        raise InputError(
            f"--pretrained {args.pretrained} is of another shape than the model: "
            f"{', '.join(wrong)}; {_advice(model)}"
        )
    found = {
        name: getattr(model, part) if getattr(args, name) is None else getattr(args, name)
        for name, part in FOLLOWING.items()
    }
    _check_family(found, family, args.hidden_size)
    if model.sides and found["type_vocab_size"] < 1:
        raise InputError(
            f"--type-vocab-size {found['type_vocab_size']}: {family.name} has 1 at least"
        )
    return {**found, "position_scheme": position_schemes.text_of(asked)}


def _with_scheme(args: EncoderOptions, model: BertShape, family: Family) -> BertShape:
    """Return a shape with what ``--position-scheme`` names."""
    if args.position_scheme is None:
        return model
    if not position_schemes.varies(model):
        raise InputError(
            f"--position-scheme {args.position_scheme}: encoders of {family.name} know positions "
            "in one way alone"
        )
    try:
        return position_schemes.read_text(model, args.position_scheme)
    except InputError as error:
        raise InputError(f"--position-scheme: {error}") from None


def _check_family(found: dict[str, Any], family: Family, hidden: int) -> None:
    """Refuse options that no encoder of a family has."""
    for name, part in FOLLOWING.items():
        if found[name] != constants_of(family, 0).get(part, found[name]):
            only = constants_of(family, 0)[part]
            raise InputError(f"{flag_of(name)} {found[name]}: {family.name} has {only} alone")
    try:
        embedding_of(family, found["embedding_size"], hidden)
    except InputError as error:
        raise InputError(f"--embedding-size: {error}") from None


def _advice(shape: BertShape) -> str:
    for size, options in SIZES.items():
        if all(getattr(shape, PRESET[name]) == value for name, value in options.items()):
            return f"take an architecture of size _{size}, or --pretrained none"
    options = " ".join(f"{flag_of(name)} {getattr(shape, v)}" for name, v in PRESET.items())
    return f"give {options}, or --pretrained none"


def shape_of(args: EncoderOptions, vocabulary: Vocabulary, *, pooler: bool) -> BertShape:
    """Return the encoder's shape from completed options and the data folder's vocabulary."""
    family = FAMILIES[args.family or OLDEST]
    if vocabulary.family != family:
        raise InputError(
            f"the model is of the family {family.name}, the data folder was prepared for "
            f"{vocabulary.family.name}"
        )
    values = {part: getattr(args, name) for name, part in {**PRESET, **FOLLOWING}.items()}
    width = values.pop("embedding_width")
    given = {part: value for part, value in values.items() if value is not None}
    model = _with_scheme(args, drawn_shape(family, args.hidden_size), family)
    given |= {"absolute": model.absolute, "relative": model.relative}
    return BertShape(
        vocabulary=len(vocabulary),
        padding=vocabulary.pad,
        pooler=pooler,
        embedding=embedding_of(family, width, args.hidden_size),
        **{**given, **constants_of(family, vocabulary.pad, given.get("segments", 2))},
    )


def check_same_pieces(given: Vocabulary, vocabulary: Vocabulary, folder: Path) -> None:
    """Refuse a data folder whose vocabulary is not the checkpoint's."""
    wanted, found = vocabulary.pieces, given.pieces
    families = [one.family.name for one in (given, vocabulary)]
    if families[0] == families[1] and wanted == found:
        return
    at = next((i for i, (a, b) in enumerate(zip(wanted, found)) if a != b), None)
    if families[0] != families[1]:
        detail = f"one of {families[0]} instead of {families[1]}"
    elif at is None:
        detail = f"{len(found)} subwords instead of {len(wanted)}"
    else:
        detail = f"subword {at} is {found[at]!r} instead of {wanted[at]!r}"
    raise InputError(
        f"the data folder was prepared for another vocabulary than {folder} has: {detail}; "
        "prepare it with this --pretrained, or start from the one it was prepared for"
    )


def freeze(encoder: BertEncoder, layers: int, new: Collection[str]) -> None:
    """Freeze the embeddings, relative positions and the first layers, except new parts.

    Args:
        new: parts of the names of new weights, see `methods.method.Method.parts`.
    """
    if not 0 <= layers <= len(encoder.layers):
        raise InputError(f"--freeze-layers {layers}: the encoder has {len(encoder.layers)} layers")
    if encoder.shape.shared and 0 < layers < len(encoder.layers):
        raise InputError(
            f"--freeze-layers {layers}: all {len(encoder.layers)} layers share their weights, so "
            f"that none of them can be kept alone; choices: 0, {len(encoder.layers)}"
        )
    kept = tuple(f"layers.{layer}." for layer in range(layers))
    kept += BELOW if layers else ()
    kept += ("norm.",) if layers == len(encoder.layers) else ()
    for name, parameter in encoder.named_parameters():
        if name.startswith(kept):
            parameter.requires_grad = any(mark in f"encoder.{name}" for mark in new)

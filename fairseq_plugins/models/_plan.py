"""From options to widths: the encoder's features and the dimensions of each."""

import logging
from argparse import Namespace
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from ..errors import InputError
from ..methods.options import NONE, read_names
from ..option_flags import flag_of
from ..syntax.layers import OF_TARGETS, Layer, column_places, columns_of

logger = logging.getLogger(__name__)

DEFAULT_FEATURE_DIM = 20


@dataclass(frozen=True)
class FactorPlan:
    """The sizes for `nn.factors`; without features it is a plain transformer."""

    sizes: dict[str, int]  # used features, in the user's order -> rows of their tables
    columns: tuple[int, ...]  # column of each in the data's ``src_factors``
    dims: tuple[int, ...]  # width of each table
    word_dim: int  # width of the word table

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.sizes)


def resolve_features(option: str | None, available: Sequence[str]) -> tuple[str, ...]:
    """Return the features of ``--features``; None means all available ones."""
    if option is None:
        return tuple(available)
    unknown = "asks for {!r}, which the data folder lacks; choices:"
    how = {"plain": "a plain transformer", "unknown": unknown}
    return read_names(option, available, "--features", **how)


def plan_targets(
    text: str | None, layers: Sequence[Layer]
) -> tuple[dict[str, int], tuple[int, ...]]:
    """Return the factors of ``--target-features``.

    Args:
        layers: of the data folder's target, in the order of their columns.

    Returns:
        Factor -> number of its ids; the column of each in ``prev_output_factors``.
    """
    held = {layer.name: k for k, layer in enumerate(layers)}
    unknown = "asks for {!r}, which the data folder lacks (--target-layers); choices:"
    how = {"plain": "words alone", "unknown": unknown}
    names = read_names(text, tuple(held), "--target-features", **how)
    sizes = {name: len(layers[held[name]].inventory) for name in names}
    return sizes, tuple(held[name] for name in names)


def warn_of_reduced(layers: Iterable[Layer], predicted: Container[str]) -> None:
    """Warn of layers that were removed from target text and that a model does not predict."""
    for layer in layers:
        if layer.name in OF_TARGETS and layer.name not in predicted:
            logger.warning(
                "the data folder's target text is without its %s, which a model without "
                "--target-features %s does not give back: translations stay so, references do not",
                *(layer.name, layer.name),
            )


def plan_factors(args: Namespace, layers: Sequence[Layer]) -> FactorPlan:
    """Return all widths, checked; the layers are in the order of their columns."""
    held = columns_of(layers)
    places = column_places(layers)
    names = resolve_features(getattr(args, "features", None), list(held))
    width = args.encoder_embed_dim
    dims = _feature_dims(args, names, width) if names else ()
    d = sum(dims) if args.feature_combine == "concat" else dims[0] if names else 0
    for option in ("share_all_embeddings", "merge_src_tgt_embed"):
        if names and args.feature_merge == "concat" and getattr(args, option, False):
            raise InputError(
                f"{flag_of(option)} needs a word table of full width, which --feature-merge concat "
                "does not have; use --feature-merge overlay or add"
            )
    return FactorPlan(
        sizes={name: len(held[name].inventory) for name in names},
        columns=tuple(places[name][0] for name in names),
        dims=dims,
        word_dim=_word_dim(args, names, width, d),
    )


def _feature_dims(args: Namespace, names: Sequence[str], width: int) -> tuple[int, ...]:
    one, each = getattr(args, "feature_embed_dim", None), getattr(args, "feature_embed_dims", None)
    if args.feature_combine == "sum":
        if each is not None:
            raise InputError(
                "--feature-embed-dims belongs to --feature-combine concat; "
                "summed features have one width, --feature-embed-dim"
            )
        fallback = width if args.feature_merge == "add" else DEFAULT_FEATURE_DIM
        dims = (one if one is not None else fallback,) * len(names)
    else:
        dims = _explicit_dims(each, names)
        if one is not None and one != sum(dims):
            raise InputError(
                f"--feature-embed-dims {each} makes {sum(dims)}, but --feature-embed-dim is {one}"
            )
    if min(dims) < 1:
        raise InputError(f"a feature needs at least one dimension, not {min(dims)}")
    return dims


def _explicit_dims(text: str | None, names: Sequence[str]) -> tuple[int, ...]:
    wanted = f"--feature-embed-dims needs {len(names)} numbers, one each for {','.join(names)}"
    if text is None:
        raise InputError(f"--feature-combine concat: {wanted}")
    try:
        dims = tuple(int(part) for part in str(text).split(","))
    except ValueError:
        raise InputError(f"{wanted}; found {text!r}") from None
    if len(dims) != len(names):
        raise InputError(f"{wanted}; found {len(dims)} in {text!r}")
    return dims


def _word_dim(args: Namespace, names: Sequence[str], width: int, d: int) -> int:
    merge = args.feature_merge if names else NONE
    if merge == "add" and d != width:
        raise InputError(
            f"--feature-merge add: the features are {d} wide, but --encoder-embed-dim is {width}; "
            "they must agree"
        )
    if merge in ("concat", "overlay") and d >= width:
        raise InputError(
            f"the features are {d} wide and leave the word nothing of --encoder-embed-dim {width}"
        )
    word = width - d if merge == "concat" else width
    given = getattr(args, "word_embed_dim", None)
    if given is not None and given != word:
        beside = f" + features {d} = {given + d}" if merge == "concat" else ""
        raise InputError(
            f"--word-embed-dim {given}{beside} does not fit --encoder-embed-dim {width}: "
            f"the word embedding must be {word} wide here"
        )
    return word

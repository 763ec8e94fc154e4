"""Options of layers of labels beside an encoder's states, with their checks.

Zhang et al. 2020, "SemBERT"; see `nn.semantic_layers`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from ..errors import InputError
from ..nn.bert import BertShape
from ..nn.semantic_layers import MAX, POOLINGS, LabelReader, SemanticLayers
from ..nn.starts import own_start
from ..option_flags import choice, option
from ..syntax.layers import Layer, parse_features
from ..targets.target import Target
from .options import NONE, Options, learnt, preset

FLAG = "--semantic-layers"
ROLES = "given.srl1,given.srl2,given.srl3"  # three predicates, as in the paper


@dataclass
class SemanticOptions(Options):
    """Options that decide which layers of labels join the encoder's states, and how."""

    semantic_layers: Optional[str] = preset(
        "SemBERT: layers of the data folder whose labels are read beside the words, e.g. "
        f"{ROLES} for the semantic roles of three predicates; or none"
    )
    semantic_label_dim: int = option("SemBERT: width of the label embeddings", 10, least=1)
    semantic_gru_dim: int = option(
        "SemBERT: width of each direction of the GRU that reads the labels", 10, least=1
    )
    semantic_dim: int = option(
        "SemBERT: width of the vector that stands for a word's labels", 10, least=1
    )
    semantic_kernel: int = option(
        "SemBERT: window, in subwords, of the convolution that makes word vectors of subwords",
        3,
        least=1,
    )
    semantic_pooling: choice(POOLINGS) = option(
        "SemBERT: which vector is classified: the maximum over all words (max), or that of "
        "[CLS] (first)",
        MAX,
    )


def semantic_layers(args: Any) -> tuple[str, ...]:
    """Return the names of the layers of labels; ``none`` gives none.

    Raises:
        InputError: no name, an unknown or a repeated one, or a layer that has no labels.
    """
    text = args.semantic_layers
    if text is None or text.strip() == NONE:
        return ()
    try:
        found = parse_features(text)
    except InputError as error:
        raise InputError(f"{FLAG} {text!r}: {error}") from None
    if not found:
        raise InputError(f"{FLAG} is empty; say '{FLAG} {NONE}' for no such layers")
    return found


def check_semantics(args: Any, target: Target) -> None:
    """Refuse layers of labels for questions, whose words come without; InputError."""
    if target.asks and semantic_layers(args):
        raise InputError(
            f"{FLAG} {args.semantic_layers}: what answers questions reads no such layers; choices: "
            f"{FLAG} {NONE}, or another architecture"
        )


def semantics(
    args: Any, shape: BertShape, columns: Sequence[str], layers: Sequence[Layer]
) -> SemanticLayers | None:
    """Make what joins layers of labels to an encoder's states; None without such layers.

    Args:
        args: options of a model.
        shape: of the encoder.
        columns: names of the layers that are columns of ``src_factors``, in their order.
        layers: of the data folder, with its inventories.
    """
    check_semantics(args, learnt(args))
    names = semantic_layers(args)
    if not names:
        return None
    held = {layer.name: layer for layer in layers}
    labels = [held[name].inventory.symbols for name in names]
    how = {
        "embedding": args.semantic_label_dim,
        "hidden": args.semantic_gru_dim,
        "outputs": args.semantic_dim,
        "dropout": shape.dropout,
    }
    pooling = None if learnt(args).by_word else args.semantic_pooling
    with own_start("semantic layers"):
        reader = LabelReader(labels, [columns.index(name) for name in names], **how)
        return SemanticLayers(shape, reader, kernel=args.semantic_kernel, pooling=pooling)

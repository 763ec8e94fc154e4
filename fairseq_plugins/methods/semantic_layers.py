"""SemBERT: layers of labels, such as semantic roles, beside the encoder's states.

Zhang et al. 2020, "Semantics-aware BERT for Language Understanding"; see `nn.semantic_layers`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Optional

from ..errors import InputError
from ..nn.bert import BertShape
from ..nn.semantic_layers import MAX, POOLINGS, LabelReader, SemanticLayers
from ..nn.starts import own_start
from ..option_flags import choice, option
from ..syntax.layers import Layer, parse_features
from ..syntax.needs import Needs
from ..targets.target import Target
from .method import Method, around, flag_and_value
from .options import NONE, learnt, preset

FLAG = "--semantic-layers"
ROLES = "given.srl1,given.srl2,given.srl3"  # three predicates, as in the paper


@dataclass(frozen=True)
class LabelLayers(Method):
    """Layers of labels that join the encoder's states."""

    called = "SemBERT layer"
    switch = "semantic_layers"
    parts = {"semantic layers": "semantics."}
    off = {"semantic_layers": NONE}
    architectures = {"bert_sembert": {"semantic_layers": ROLES}}

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
    target: Optional[str] = around()

    def __post_init__(self) -> None:
        _ = self.names

    @cached_property
    def names(self) -> tuple[str, ...]:
        if not self.is_there:
            return ()
        try:
            found = parse_features(self.semantic_layers or "")
        except InputError as error:
            raise InputError(f"{FLAG} {self.semantic_layers!r}: {error}") from None
        if not found:
            raise InputError(f"{FLAG} is empty; say '{FLAG} {NONE}' for no such layers")
        return found

    @property
    def is_there(self) -> bool:
        return self.semantic_layers is not None and self.semantic_layers.strip() != NONE

    def check_target(self, target: Target) -> None:
        """Refuse questions, whose words have no labels."""
        if target.asks and self.names:
            raise InputError(
                f"{flag_and_value(self, 'semantic_layers')}: what answers questions reads no such "
                f"layers; choices: {FLAG} {NONE}, or another architecture"
            )

    @property
    def needs(self) -> Needs:
        """The words, and the layers, which are columns like features."""
        asked = dict.fromkeys(self.names, f"{FLAG} {self.semantic_layers}")
        return Needs(self.names, words=bool(self.names), options=asked)

    @property
    def joins_words(self) -> bool:
        return bool(self.names)

    def beside(
        self, shape: BertShape, columns: Sequence[str], layers: Sequence[Layer]
    ) -> SemanticLayers | None:
        if not self.names:
            return None
        target = learnt(self)
        self.check_target(target)
        held = {layer.name: layer for layer in layers}
        labels = [held[name].inventory.symbols for name in self.names]
        how = {
            "embedding": self.semantic_label_dim,
            "hidden": self.semantic_gru_dim,
            "outputs": self.semantic_dim,
            "dropout": shape.dropout,
        }
        pooling = None if target.by_word else self.semantic_pooling
        with own_start("semantic layers"):
            reader = LabelReader(labels, [columns.index(name) for name in self.names], **how)
            return SemanticLayers(shape, reader, kernel=self.semantic_kernel, pooling=pooling)

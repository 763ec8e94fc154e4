"""The inputs of a model from a prepared folder: declared by its options, checked by its task."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from ..errors import InputError
from .controls import UNCONTROLLED, Controls
from .layers import Layer, layers_of


@dataclass(frozen=True)
class Needs:
    """The inputs of a model.

    Args:
        features: names of the layers that are columns of ``src_factors``, in order.
        layers: names of the other layers that answers depend on.
        taught: names of the layers for training alone.
        targets: names of the predicted layers of target subwords, in order.
        words: whether the model reads the word of each token.
        pairs: whether the model compares the two sentences of a pair, and accepts nothing else.
        scheme: whether gold labels of words have to keep their scheme, see `entity_labels`.
        options: name of a layer -> the option that needs the layer, for messages.
        controls: replacements of inputs.
    """

    features: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    taught: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    words: bool = False
    pairs: bool = False
    scheme: bool = False
    options: Mapping[str, str] = field(default_factory=dict, compare=False)
    controls: Controls = UNCONTROLLED

    def reads(self, *, training: bool) -> tuple[str, ...]:
        """Return the names of all layers for training or answers."""
        others = (*self.layers, *(self.taught if training else ()))
        return (*self.features, *dict.fromkeys(others))

    @property
    def annotated(self) -> bool:
        """Whether answers depend on layers from an annotator."""
        return any(layer.annotated for layer in layers_of(self.reads(training=False)))

    def joined(self, other: Needs | None) -> Needs:
        """Return the inputs of both models of an ensemble together."""
        if other is None:
            return self
        self.check_controls(other.controls)
        if self.features != other.features:
            sides = [",".join(names) or "none" for names in (other.features, self.features)]
            raise InputError(
                f"models of an ensemble must read the same features, not {' and '.join(sides)}"
            )
        return replace(
            self,
            layers=tuple(dict.fromkeys((*other.layers, *self.layers))),
            taught=tuple(dict.fromkeys((*other.taught, *self.taught))),
            words=self.words or other.words,
            pairs=self.pairs or other.pairs,
        )

    def check_controls(self, other: Controls | None) -> None:
        """Refuse a further model of an ensemble with other controls; None fits all."""
        if other is not None and other != self.controls:
            sides = [one.described or "none" for one in (other, self.controls)]
            raise InputError(
                f"models of an ensemble must have the same controls, not {' and '.join(sides)}"
            )

    def check(
        self,
        held: Collection[str],
        folder: object,
        cure: Callable[[Layer], str],
        *,
        sentences: int = 1,
        training: bool,
    ) -> None:
        """Refuse a prepared folder that lacks an input.

        Args:
            held: names of the folder's layers.
            folder: its name, for messages.
            cure: advice for preparing a missing layer.
            sentences: number of sentences in an example of the folder.
            training: whether for training.
        """
        if self.pairs and sentences < 2:
            raise InputError(
                f"the model compares the two sentences of a pair, but {folder} has single "
                "sentences: take another architecture, or a dataset of pairs"
            )
        for layer in layers_of(self.reads(training=training)):
            if layer.name not in held:
                raise InputError(
                    f"{self.options.get(layer.name, 'the model')} reads {layer.about}, but "
                    f"{folder} was prepared without: prepare it with {cure(layer)}"
                )

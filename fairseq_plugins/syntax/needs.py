"""What a model reads of a prepared folder: stated once by its options, checked once by its task."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from ..errors import InputError
from .controls import UNCONTROLLED, Controls
from .layers import Layer, layers_of


@dataclass(frozen=True)
class Needs:
    """What a model reads.

    Args:
        features: names of the layers that are columns of ``src_factors``, in their order.
        layers: names of the other layers that its answers depend on.
        taught: names of those that its training alone reads.
        targets: names of the layers of target subwords that it predicts, in their order.
        words: whether it reads the word of each token.
        pairs: whether it compares the two sentences of a pair, and takes nothing else.
        options: name of a layer -> the option that asks for it, for messages.
        controls: what it is given in their place.
    """

    features: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    taught: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    words: bool = False
    pairs: bool = False
    options: Mapping[str, str] = field(default_factory=dict, compare=False)
    controls: Controls = UNCONTROLLED

    def reads(self, *, training: bool) -> tuple[str, ...]:
        """Return the names of all layers it reads, in training or to answer."""
        others = (*self.layers, *(self.taught if training else ()))
        return (*self.features, *dict.fromkeys(others))

    @property
    def annotated(self) -> bool:
        """Whether its answers depend on layers that an annotator gives."""
        return any(layer.annotated for layer in layers_of(self.reads(training=False)))

    def joined(self, other: Needs | None) -> Needs:
        """Return what both models of an ensemble read."""
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
        """Refuse a further model of an ensemble with other controls (InputError); None fits all."""
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
        """Refuse a prepared folder that lacks what is read.

        Args:
            held: names of the layers that it holds.
            folder: its name, for messages.
            cure: what to prepare it with, for a layer that it lacks.
            sentences: how many sentences an example of it has.
            training: whether the model is to be trained on it.
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

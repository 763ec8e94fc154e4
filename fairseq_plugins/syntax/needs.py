"""What a model reads of a prepared folder: stated once by its options, checked once by its task.

A model may be given something else than the folder says, as a control of what it gains from that:
`Controls`. `data.controls` carries them out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from ..errors import InputError
from .layers import Layer, layers_of

PARSE, GOLD, SHUFFLED, RANDOM, CHAIN, FULL = TREE_SOURCES = (
    *("parse", "gold", "shuffled", "random", "chain", "full"),
)
GIVEN, CONSTANT = "given", "constant"
FEATURE_SOURCES = (GIVEN, SHUFFLED, RANDOM, CONSTANT)
QUESTION_SOURCES = (GIVEN, SHUFFLED)
AS_PREPARED = (PARSE, GOLD, GIVEN)  # sources that leave a folder as it is
DRAWN = (SHUFFLED, RANDOM)  # those that follow from a whole split and a seed
# options of models by which the same weights are another system
CONTROLS = ("tree_source", "feature_source", "question_source", "dual_control")
CONTROLS += ("coattention_control",)


@dataclass(frozen=True)
class Controls:
    """What a model is given in the place of what was prepared.

    Args:
        trees: of `TREE_SOURCES`.
        features: of `FEATURE_SOURCES`.
        questions: of `QUESTION_SOURCES`.
        seed: of what is drawn; None where nothing is.
    """

    trees: str = PARSE
    features: str = GIVEN
    questions: str = GIVEN
    seed: int | None = None

    @property
    def _sources(self) -> dict[str, str]:
        return {
            "--tree-source": self.trees,
            "--feature-source": self.features,
            "--question-source": self.questions,
        }

    @property
    def said(self) -> str:
        """The options that change something, as on the command line; empty where none does."""
        changed = {flag: one for flag, one in self._sources.items() if one not in AS_PREPARED}
        return " ".join(f"{flag} {source}" for flag, source in changed.items())

    @property
    def described(self) -> str:
        """Those options, with the seed of what is drawn."""
        return f"{self.said} (seed {self.seed})" if self.drawn else self.said

    @property
    def record(self) -> dict[str, str]:
        """What a record of an evaluation says of them: nothing where there are none."""
        return {"controls": self.described} if self.said else {}

    @property
    def drawn(self) -> bool:
        """Whether something is drawn from a whole split, which raw text is not."""
        return any(value in DRAWN for value in self._sources.values())

    def check_raw(self) -> None:
        """Refuse raw text for a model of which something is drawn; InputError says what to do."""
        if self.drawn:
            raise InputError(
                f"the model was trained with {self.said}, which is drawn from a whole split: raw "
                "text has none; take a split of a prepared folder"
            )


UNCONTROLLED = Controls()


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
        """Return what both models of an ensemble read.

        Raises:
            InputError: they read other features, or have other controls.
        """
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

        Raises:
            InputError: names what is missing, and the cure.
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

"""A method: a frozen record of options, and its modules at each place of a model."""

from argparse import SUPPRESS
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, ClassVar, TypeVar

from torch import nn

from ..nn.attention import Mixer
from ..nn.bert import BertShape
from ..option_flags import flag_of
from ..syntax.layers import Layer
from ..syntax.needs import Needs
from ..targets.target import Target
from .options import NONE

M = TypeVar("M", bound="Method")


@dataclass
class AttentionParts:
    """The parts of one layer's self-attention, see `nn.attention.SelfAttention`."""

    mixer: Mixer
    supervision: Any = None
    dual: Any = None


@dataclass(frozen=True)
class Method:
    """A method of a model: options, parsed and checked once, and the modules they make.

    A field made by `option` is a flag of every kind of model that has the method. A field made by
    `around` copies the option of the same name, which belongs to the model or to another method. A
    subclass overrides one function per place: `embedding`, `attend`, `top`, `beside`, `between`,
    `chain`, `head`. Several methods change the parts of attention in the order of the table; every
    other place holds one module, and a second is refused.
    """

    called: ClassVar[str] = ""  # name in messages
    switch: ClassVar[str] = ""  # option that turns the method on; empty if every model has it
    # name of a new part in messages -> pattern in the names of its weights
    parts: ClassVar[Mapping[str, str]] = {}
    off: ClassVar[Mapping[str, Any]] = {}  # presets of models without the method
    # name -> presets beside those of a plain model
    architectures: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    # values of missing options in older checkpoints, if not the defaults
    before: ClassVar[Mapping[str, Any]] = {}
    # output of the model by layers -> names of its columns in the log
    logged: ClassVar[Mapping[str, Sequence[str]]] = {}
    answers: ClassVar[str] = ""  # the kind of `head`, as in `Target.head`

    @classmethod
    def of(cls: type[M], args: Any) -> M:
        """Read the method from the resolved options of a model."""
        return cls(**{one.name: getattr(args, one.name, one.default) for one in fields(cls)})

    @property
    def is_there(self) -> bool:
        """Whether the options turn the method on."""
        value = getattr(self, self.switch) if self.switch else True
        return bool(value) and str(value).strip() != NONE

    @property
    def needs(self) -> Needs:
        """What the method reads of a prepared folder."""
        return Needs()

    @property
    def reads_trees(self) -> bool:
        """Whether the method reads parse trees, apart from ``--tree-source full``."""
        return False

    @property
    def reads_punctuation(self) -> bool:
        """Whether attention needs to know which subwords are punctuation signs."""
        return False

    @property
    def joins_words(self) -> bool:
        """Whether `beside` replaces the encoder's pooler."""
        return False

    @property
    def loss_weights(self) -> Mapping[str, float]:
        """Weights of the method's auxiliary losses by name."""
        return {}

    def unread(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield each absent part with the options that only this part reads."""
        if not self.is_there:
            yield self.called, [one.name for one in own_options(type(self))]

    def check_others(self, methods: Any) -> None:
        """Refuse conflicting methods of the model, a `plan.Plan`."""

    def check_target(self, target: Target) -> None:
        """Refuse a target that does not fit the method."""

    def embedding(self, width: int, layers: Sequence[Layer]) -> nn.Module | None:
        """Return a module that joins word embeddings (N, width), or None."""
        return None

    def attend(self, parts: AttentionParts, shape: BertShape, layer: int) -> None:
        """Replace or add parts of the self-attention of a layer, numbered from 0."""

    def top(self, shape: BertShape) -> nn.Module | None:
        """Return layers on top of the encoder."""
        return None

    def beside(
        self, shape: BertShape, columns: Sequence[str], layers: Sequence[Layer]
    ) -> nn.Module | None:
        """Return a module that joins the encoder's states.

        Args:
            columns: names of the layers that are columns of ``src_factors``, in order.
            layers: of the data folder, with its inventories.
        """
        return None

    def between(self, shape: BertShape) -> nn.Module | None:
        """Return a module between the encoder and a head that finds answers."""
        return None

    def chain(self, labels: Sequence[str]) -> nn.Module | None:
        """Return the steps between the labels of neighbouring words."""
        return None

    def head(self, shape: BertShape, between: Callable[[], nn.Module | None]) -> nn.Module:
        """Return the head of kind `answers`; ``between`` makes the module before it."""
        raise NotImplementedError


def around(default: Any = None) -> Any:
    """Return a field of a method that holds an option of the model or of another method."""
    return field(default=default, kw_only=True)


def own_options(method: type[Method]) -> list[Any]:
    """Return the option fields of a method, without its switch and fields that tasks set."""
    shown = (one for one in fields(method) if one.metadata.get("help", SUPPRESS) != SUPPRESS)
    return [one for one in shown if one.name != method.switch]


def with_methods(name: str, model: type, methods: Sequence[type[Method]]) -> Any:
    """Return the dataclass of a model's own options and those of its methods, flat."""
    flat = [
        (one.name, one.type, field(default=one.default, metadata=one.metadata))
        for method in methods
        for one in fields(method)
        if one.metadata
    ]
    made = make_dataclass(name, flat, bases=(model,))
    made.__module__, made.__doc__ = model.__module__, model.__doc__
    return made


def flag_and_value(method: Method, name: str) -> str:
    """Return an option with its value on the command line, e.g. ``--ancestor-layers 1``."""
    return f"{flag_of(name)} {getattr(method, name)}"

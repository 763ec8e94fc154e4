"""A plan: the resolved options of a model, and its methods, each read once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import chain
from typing import Any

from torch import nn

from ..errors import InputError
from ..nn.attention import GlobalMixer, SelfAttention
from ..nn.bert import BertShape
from ..option_flags import flag_of
from ..syntax.needs import Needs
from ..targets.target import Target
from .control_options import controls_of
from .method import AttentionParts, M, Method, flag_and_value
from .options import learnt, write


@dataclass(frozen=True)
class Plan:
    """The composition of a model."""

    args: Any  # its resolved options: a dataclass of the model's own and of its methods'
    methods: tuple[Method, ...]  # all possible methods of such a model, in the order of their table

    @classmethod
    def of(cls, args: Any, methods: Sequence[type[Method]]) -> "Plan":
        return cls(args, tuple(method.of(args) for method in methods))

    def __post_init__(self) -> None:
        for method in self.methods:
            method.check_others(self)
        _ = self.needs

    def __getitem__(self, kind: type[M]) -> M:
        return next(method for method in self.methods if isinstance(method, kind))

    @cached_property
    def needs(self) -> Needs:
        """What the model reads of a prepared folder."""
        each = [method.needs for method in self.methods]
        features = _together(needs.features for needs in each)
        trees = any(method.reads_trees for method in self.methods)
        return Needs(
            features,
            _together(needs.layers for needs in each),
            _together(needs.taught for needs in each),
            _together(needs.targets for needs in each),
            words=any(needs.words for needs in each),
            pairs=any(needs.pairs for needs in each),
            scheme=any(needs.scheme for needs in each),
            options={name: flag for needs in each for name, flag in needs.options.items()},
            controls=controls_of(self.args, features=features, trees=trees),
        )

    @property
    def target(self) -> Target:
        return learnt(self.args)

    @property
    def loss_weights(self) -> dict[str, float]:
        """Auxiliary loss -> its weight."""
        return {name: w for method in self.methods for name, w in method.loss_weights.items()}

    @property
    def new_parts(self) -> dict[str, str]:
        """Parts that a plain model lacks -> pattern in the names of their weights."""
        there = (method for method in self.methods if method.is_there)
        return {name: mark for method in there for name, mark in method.parts.items()}

    def check_read(self, presets: Mapping[str, Any]) -> None:
        """Refuse options that no part of a new model reads.

        A grid over such an option would compare equal models under different names. Checkpoints of
        older releases may have such options and are not checked.

        Args:
            presets: of its architecture; presets and defaults, also those of older releases, are
                allowed.
        """
        defaults = {one.name: one.default for one in fields(self.args)}
        parts = ((method, *part) for method in self.methods for part in method.unread())
        unread = ((method, called, name) for method, called, names in parts for name in names)
        for method, called, name in unread:
            value = getattr(method, name)
            if value not in (None, defaults[name], presets.get(name), method.before.get(name)):
                raise InputError(
                    f"{flag_of(name)} {value}: this model has no {called} "
                    f"({flag_and_value(method, method.switch)}), so nothing would read it; leave "
                    "it out"
                )

    def check_target(self, target: Target) -> None:
        """Refuse a target that does not fit a method."""
        for method in self.methods:
            method.check_target(target)

    def write(self, cfg: Any, **values: Any) -> None:
        """Set options, here and in their source config."""
        write(self.args, **values)
        write(cfg, **values)

    def made(self, make: Callable[[Method], nn.Module | None]) -> Any:
        """Return the module of the method with one at this place, or None."""
        made = ((method, make(method)) for method in self.methods)
        found = [(method, module) for method, module in made if module is not None]
        if len(found) > 1:
            flags = [flag_and_value(method, method.switch) for method, _ in found]
            raise InputError(f"{' and '.join(flags)}: a model has one of them")
        return found[0][1] if found else None

    def attention(self, shape: BertShape) -> Callable[[int], SelfAttention]:
        """Return a function that makes a layer's self-attention with the parts of all methods."""

        def make(layer: int) -> SelfAttention:
            parts = AttentionParts(GlobalMixer(shape.attention_dropout))
            for method in self.methods:
                method.attend(parts, shape, layer)
            own = (parts.mixer, parts.supervision, parts.dual)
            return SelfAttention(shape.hidden, shape.heads, *own, biases=shape.biases)

        return make

    def head(self, shape: BertShape) -> nn.Module | None:
        """Return the head of a method for the target; None for a plain head."""
        for method in self.methods:
            if method.answers == self.target.head:
                return method.head(shape, lambda: self.made(lambda one: one.between(shape)))
        return None


def _together(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(names)))

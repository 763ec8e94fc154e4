"""The kinds of models of text, and their parts.

A bundle finds its kind by the name of the architecture.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

from torch import nn

from ..methods.method import Method
from ..methods.options import architecture, merged, write
from ..methods.plan import Plan
from ..pretrained.vocabulary import Vocabulary
from ..syntax.layers import Layer
from . import bert_options, matching_options
from .matching_model import PairModel
from .text_model import TextModel


@dataclass(frozen=True)
class TextKind:
    """A kind of models.

    Args:
        family: the architecture whose presets hold where others say nothing.
        architectures: name -> presets.
        options: dataclass of their options.
        methods: that such models may have.
        make: builds one of its plan, a vocabulary and the layers of a folder.
        opened: options that name files; a checkpoint, which has all weights, has no say in them.
    """

    family: str
    architectures: Mapping[str, Mapping[str, Any]]
    options: type
    methods: Sequence[type[Method]]
    make: Callable[[Plan, Vocabulary, Sequence[Layer]], nn.Module]
    opened: tuple[str, ...]

    @property
    def before(self) -> dict[str, Any]:
        """Values of options that older checkpoints lack."""
        return {name: value for one in self.methods for name, value in one.before.items()}

    def presets_of(self, cfg: Any) -> Mapping[str, Any]:
        """Return the presets of the architecture of ``cfg``."""
        return self.architectures.get(architecture(cfg), self.architectures[self.family])

    def resolve(self, cfg: Any) -> None:
        """Fill every preset option that is None from the architecture of ``cfg``, in place.

        The command line has only given options. Hydra adds defaults before.
        """
        presets = self.presets_of(cfg).items()
        write(cfg, **{key: value for key, value in presets if getattr(cfg, key, None) is None})

    def plan(self, cfg: Any) -> Plan:
        """Return the plan of a model, its options resolved in place."""
        self.resolve(cfg)
        return Plan.of(merged(cfg, self.options), self.methods)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options of a new model that do not fit each other.

        Args:
            options: name, with underscores, -> value, maybe a number in place of a text; includes
                ``arch``; unknown options are ignored.
        """
        known = [one for one in fields(self.options) if one.name in options]
        own = {
            one.name: str(options[one.name])
            if str in (one.type, *get_args(one.type))
            else options[one.name]
            for one in known
        }
        cfg = Namespace(**own, _name=options["arch"])
        self.plan(cfg).check_read(self.presets_of(cfg))


BERT = TextKind(
    bert_options.FAMILY,
    bert_options.ARCHITECTURES,
    bert_options.BertOptions,
    bert_options.METHODS,
    TextModel,
    opened=("pretrained",),
)
MATCHING = TextKind(
    matching_options.FAMILY,
    matching_options.ARCHITECTURES,
    matching_options.MatchingOptions,
    matching_options.METHODS,
    PairModel,
    opened=("word_vectors",),
)
TEXT_KINDS = (BERT, MATCHING)


def kind_of(architecture: Any) -> TextKind | None:
    """Return the kind that has an architecture; None for unknown architectures."""
    if not isinstance(architecture, str):
        return None
    return next((kind for kind in TEXT_KINDS if architecture in kind.architectures), None)

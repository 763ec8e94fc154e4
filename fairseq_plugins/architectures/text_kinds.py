"""The kinds of models of text: which there are, and what each is made of.

A bundle finds by the name of an architecture whose options it holds and what they build.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

from torch import nn

from ..pretrained.vocabulary import Vocabulary
from ..syntax.layers import Layer
from ..syntax.needs import Needs
from . import bert_options, matching_options, syntax_plan
from .matching_model import PairModel
from .options import merged
from .text_model import TextModel
from .unread_options import OF_BERT, OF_MATCHING, Part, check_read


@dataclass(frozen=True)
class TextKind:
    """A kind of models.

    Args:
        options: dataclass of their options.
        architectures: name -> presets.
        resolve: fills presets, in place.
        needs: what a model of resolved options reads.
        make: builds one of resolved options, a vocabulary and the layers of a folder.
        opened: options that name files.
        before: what older ones mean by options that they do not have.
        parts: that such models may have, see `unread_options`.
    """

    options: type
    architectures: Mapping[str, Mapping[str, Any]]
    resolve: Callable[[Any], None]
    needs: Callable[[Any], Needs]
    make: Callable[[Any, Vocabulary, Sequence[Layer]], nn.Module]
    opened: tuple[str, ...]
    before: Mapping[str, Any]
    parts: Sequence[Part]

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options of a new model that do not fit each other.

        Args:
            options: name, with underscores, -> value, a number also where a text is meant; ``arch``
                among them, others are passed over.

        Raises:
            InputError: says which, and why.
        """
        known = [one for one in fields(self.options) if one.name in options]
        own = {
            one.name: str(options[one.name])
            if str in (one.type, *get_args(one.type))
            else options[one.name]
            for one in known
        }
        cfg = Namespace(**own, _name=options["arch"])
        self.resolve(cfg)
        args = merged(cfg, self.options)
        self.needs(args)
        check_read(args, self.parts, self.architectures[options["arch"]])


TEXT_KINDS = (
    TextKind(
        bert_options.BertOptions,
        bert_options.ARCHITECTURES,
        bert_options.resolve,
        syntax_plan.needs_of,
        TextModel,
        ("pretrained",),
        bert_options.BEFORE,
        OF_BERT,
    ),
    TextKind(
        matching_options.MatchingOptions,
        matching_options.ARCHITECTURES,
        matching_options.resolve,
        matching_options.needs_of,
        PairModel,
        matching_options.OPENED,
        matching_options.BEFORE,
        OF_MATCHING,
    ),
)


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options of a new model, of an architecture of a kind; see `TextKind.check`."""
    if kind := kind_of(options["arch"]):
        kind.check(options)


def kind_of(architecture: Any) -> TextKind | None:
    """Return the kind that has an architecture of a name; None where none has."""
    if not isinstance(architecture, str):
        return None
    return next((kind for kind in TEXT_KINDS if architecture in kind.architectures), None)

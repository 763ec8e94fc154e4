"""The kinds of models of text: which there are, and what each is made of.

A bundle finds by the name of an architecture whose options it holds and what they build.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from ..pretrained.vocabulary import Vocabulary
from ..syntax.layers import Layer
from ..syntax.needs import Needs
from . import bert_options, matching_options, syntax_plan
from .matching_model import PairModel
from .text_model import TextModel


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
    """

    options: type
    architectures: Mapping[str, Mapping[str, Any]]
    resolve: Callable[[Any], None]
    needs: Callable[[Any], Needs]
    make: Callable[[Any, Vocabulary, Sequence[Layer]], nn.Module]
    opened: tuple[str, ...]
    before: Mapping[str, Any]


TEXT_KINDS = (
    TextKind(
        bert_options.BertOptions,
        bert_options.ARCHITECTURES,
        bert_options.resolve,
        syntax_plan.needs_of,
        TextModel,
        ("pretrained",),
        bert_options.BEFORE,
    ),
    TextKind(
        matching_options.MatchingOptions,
        matching_options.ARCHITECTURES,
        matching_options.resolve,
        matching_options.needs_of,
        PairModel,
        matching_options.OPENED,
        matching_options.BEFORE,
    ),
)


def kind_of(architecture: Any) -> TextKind | None:
    """Return the kind that has an architecture of a name; None where none has."""
    if not isinstance(architecture, str):
        return None
    return next((kind for kind in TEXT_KINDS if architecture in kind.architectures), None)

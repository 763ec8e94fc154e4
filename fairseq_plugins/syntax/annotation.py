"""The annotation of a line, and the identity of its annotator."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Annotation:
    """One line's words according to the annotator.

    Args:
        words: W words.
        layers: name of a layer -> W values: labels, or numbers of heads.
        spans: W character spans in the line, if the annotator read the line itself.
    """

    words: list[str]
    layers: dict[str, list[Any]]
    spans: list[tuple[int, int]] | None = None


def annotator_line(annotator: Any) -> str:
    """Return the `identity_line` of an annotator; empty for None."""
    return "" if annotator is None else identity_line(annotator.identity())


def identity_line(identity: Mapping[str, str]) -> str:
    """Return an identity as ``name version hash``, with ``as-tokenised`` for lower-cased text."""
    known = ("name", "version", "hash", "text")
    return " ".join(identity[key] for key in known if key in identity)

"""One line's annotation, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Annotation:
    """One line's words as the annotator sees them.

    Args:
        words: W words.
        layers: name of a layer of `syntax.layers` -> W values: labels, or numbers of heads.
        spans: W character spans in the line, when the annotator read the line itself.
    """

    words: list[str]
    layers: dict[str, list[Any]]
    spans: list[tuple[int, int]] | None = None


def annotator_line(annotator: Any) -> str:
    """``name version hash`` of an annotator; empty for None."""
    if annotator is None:
        return ""
    identity = annotator.identity()
    return " ".join(identity[key] for key in ("name", "version", "hash"))

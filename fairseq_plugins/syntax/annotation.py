"""One line's annotation, whoever made it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Annotation:
    """One line's words as the annotator sees them.

    Args:
        words: W words.
        upos: W coarse parts of speech.
        spans: W character spans in the line, when the annotator read the line itself.
        heads: W numbers of the words' heads from 1, 0 at a root; None where nothing parsed.
    """

    words: list[str]
    upos: list[str]
    spans: list[tuple[int, int]] | None = None
    heads: list[int] | None = None


def annotator_line(annotator: Any) -> str:
    """``name version hash`` of an annotator; empty for None."""
    if annotator is None:
        return ""
    identity = annotator.identity()
    return " ".join(identity[key] for key in ("name", "version", "hash"))

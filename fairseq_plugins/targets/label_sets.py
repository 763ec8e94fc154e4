"""Sets of labels as text: ``a|b``, and ``|`` for the empty set.

A bar inside a label is written ``\\|``. Backslashes are literal, but doubled directly before a bar,
inside a label or after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class LabelSet(tuple):
    """Labels of an example, sorted, so that equal sets are equal; `str` gives `joined`."""

    choices: tuple[str, ...] = ()  # all existing labels, if known

    def __new__(cls, labels: Iterable[str] = ()) -> LabelSet:
        return super().__new__(cls, sorted(labels))

    @classmethod
    def among(cls, labels: Iterable[str], choices: Iterable[str]) -> LabelSet:
        """Return a set of labels with known choices."""
        found = cls(labels)
        found.choices = tuple(choices)
        return found

    def __str__(self) -> str:
        return joined(self)


def joined(labels: Sequence[str]) -> str:
    barred = [_between(label.split("|"), r"\|") for label in labels]
    return _between(barred, "|") or "|"


def _between(texts: Sequence[str], bar: str) -> str:
    """Join texts by bars; backslashes at the end of a text are doubled."""
    before = (text + "\\" * (len(text) - len(text.rstrip("\\"))) + bar for text in texts[:-1])
    return "".join([*before, *texts[-1:]])


def parted(text: str) -> list[str]:
    """Return the labels of a text, without blanks around them."""
    if text.strip() == "|":
        return []
    parts, (*pieces, last) = [""], text.split("|")
    for piece in pieces:
        kept = piece.rstrip("\\")
        pairs, odd = divmod(len(piece) - len(kept), 2)
        parts[-1] += kept + pairs * "\\" + odd * "|"
        parts += [] if odd else [""]
    parts[-1] += last
    return [part.strip() for part in parts]

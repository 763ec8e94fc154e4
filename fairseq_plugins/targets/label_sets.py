"""Sets of labels as text: ``a|b``, and ``|`` for the empty one.

A bar within a label is written ``\\|``. Backslashes stand for themselves, but those right before a
bar, within a label or behind it, are doubled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class LabelSet(tuple):
    """Labels of an example, sorted, so that equal sets are equal; as text, that of `joined`.

    Attributes:
        choices: all labels that there are, where they are known.
    """

    choices: tuple[str, ...] = ()

    def __new__(cls, labels: Iterable[str] = ()) -> LabelSet:
        """Sort the labels."""
        return super().__new__(cls, sorted(labels))

    @classmethod
    def among(cls, labels: Iterable[str], choices: Iterable[str]) -> LabelSet:
        """Return a set of labels whose choices are known."""
        found = cls(labels)
        found.choices = tuple(choices)
        return found

    def __str__(self) -> str:
        return joined(self)


def joined(labels: Sequence[str]) -> str:
    """Return labels as one text."""
    barred = [_between(label.split("|"), r"\|") for label in labels]
    return _between(barred, "|") or "|"


def _between(texts: Sequence[str], bar: str) -> str:
    """Put bars between texts, whose last backslashes are doubled before them."""
    before = (text + "\\" * (len(text) - len(text.rstrip("\\"))) + bar for text in texts[:-1])
    return "".join([*before, *texts[-1:]])


def parted(text: str) -> list[str]:
    """Return the labels that a text stands for, without blanks around them."""
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

"""Sets of labels as text: ``a|b``, and ``|`` for the empty one.

A bar within a label is written ``\\|``. Backslashes stand for themselves, but those right before a
bar, within a label or behind it, are doubled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_BAR = re.compile(r"(\\*)\|")
_END = re.compile(r"\\+$")


class LabelSet(tuple):
    """Labels of an example; as text, that of `joined`.

    Attributes:
        choices: all labels that there are, where they are known.
    """

    choices: tuple[str, ...] = ()

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
    barred = [_BAR.sub(lambda found: rf"{2 * found[1]}\|", label) for label in labels]
    ended = [_END.sub(lambda found: 2 * found[0], label) for label in barred[:-1]]
    return "|".join([*ended, *barred[-1:]]) or "|"


def parted(text: str) -> list[str]:
    """Return the labels that a text stands for, without blanks around them."""
    if text.strip() == "|":
        return []
    parts, begin = [""], 0
    for found in _BAR.finditer(text):
        pairs, odd = divmod(len(found[1]), 2)
        parts[-1] += text[begin : found.start()] + pairs * "\\" + odd * "|"
        parts += [] if odd else [""]
        begin = found.end()
    parts[-1] += text[begin:]
    return [part.strip() for part in parts]

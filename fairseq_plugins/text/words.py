"""The words of raw text: runs between white space, or Chinese characters one by one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_BLANKS = re.compile(r"[^\S\x0b\x0c\x1c-\x1f\x85]+")
_CHINESE = re.compile(
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f])"
)


class Words(NamedTuple):
    """The words of a sentence.

    Args:
        all: as they stand there.
        places: the numbers, from 0, of those that have wordpieces.
    """

    all: list[str]
    places: Sequence[int]

    @classmethod
    def of(cls, words: list[str]) -> Words:
        """Keep all words."""
        return cls(words, range(len(words)))

    @property
    def kept(self) -> list[str]:
        """Those that have wordpieces."""
        return [self.all[i] for i in self.places]


def split_at_characters(text: str) -> list[str]:
    """Split at white space, and around every Chinese character as BERT does."""
    return [part for word in split_at_blanks(text) for part in _CHINESE.split(word) if part]


def split_at_blanks(text: str) -> list[str]:
    """Split at white space as BERT does.

    Python's own ``split`` also cuts at some control characters, which BERT deletes.
    """
    return [word for word in _BLANKS.split(text) if word]

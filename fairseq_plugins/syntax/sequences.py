"""Sequences of characters that readers see as one, and words and subwords that end within them.

Such a sequence is an emoji with its selectors, skin tone and tags, a flag of two letters, a keycap,
or characters on both sides of a joiner. The zero-width joiner (U+200D) makes one sign of its
neighbours, and no subword ends there. The non-joiner (U+200C) stands between parts of one word, so
that a subword may end behind it, but no word.
"""

import re
from collections.abc import Iterator, Sequence

from .subwords import Span, locate_words

_JOINER, _NON_JOINER = "\u200d", "\u200c"
_ADDED = "\ufe00-\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
_LETTERS = "\U0001f1e6-\U0001f1ff"  # of flags


def _sequence(joiners: str, added: str) -> str:
    first, other = (f"(?:[{_LETTERS}]{{2}}|{one})[{added}]*" for one in (r"\S", rf"[^\s{joiners}]"))
    return f"{first}(?:[{joiners}]+(?:{other})?)*"


_IN_WORDS = re.compile(_sequence(_JOINER + _NON_JOINER, _ADDED))
_IN_SUBWORDS = re.compile(_sequence(_JOINER, _ADDED + _NON_JOINER))
_SPECIAL = re.compile(f"[{_JOINER}{_NON_JOINER}{_ADDED}{_LETTERS}]")


def has_sequence(text: str) -> bool:
    """Whether a text has a character of sequences."""
    return not text.isascii() and bool(_SPECIAL.search(text))


def whole(text: str, spans: Sequence[Span], *, words: bool = False) -> Iterator[tuple[int, int]]:
    """Group spans of a text that together hold a sequence.

    Args:
        text: the text.
        spans: in order.
        words: whether they are words, not subwords.

    Yields:
        The first span of each group, and the span after its last.
    """
    inside: set[int] = set()
    if has_sequence(text):
        for one in _IN_WORDS.finditer(text) if words else _IN_SUBWORDS.finditer(text):
            inside.update(range(one.start() + 1, one.end()))
    begins = [i for i, (begin, _) in enumerate(spans) if begin not in inside or not i]
    yield from zip(begins, [*begins[1:], len(spans)])


def whole_words(text: str, words: list[str]) -> list[str]:
    """Join the words of a text that a tokeniser tore within a sequence."""
    if not has_sequence(text):
        return words
    spans = locate_words(text, words)
    if spans is None:
        return words
    return ["".join(words[i:j]) for i, j in whole(text, spans, words=True)]

"""Words and subwords: the word of each subword, and the subword's place in the word.

Character spans ``(begin, end)`` in one line of text decide, so one rule serves byte-pair encoding
(each subword lies within a word by construction), sentencepiece (a piece may have white space, or
characters of two words) and annotations with other tokens.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Span = tuple[int, int]

SIGNS = "!\"#$%&'()*+,.-/:;<=>?@[\\]^_"  # of ASCII; in the order of SLA's program
MARKS = "\u2581\u0120"  # of a blank before a subword: sentencepiece's and byte-level BPE's


@dataclass(frozen=True)
class Alignment:
    """The words of the subwords of one line.

    Args:
        word_of: S word indices, non-decreasing; -1 in a line without words.
        misaligned: number of subwords with characters of two words, or of none.
    """

    word_of: list[int]
    misaligned: int


def joined_spans(words: Sequence[str], between: int = 1) -> list[Span]:
    """Return the spans of ``words`` in a text, ``between`` characters apart."""
    spans, begin = [], 0
    for word in words:
        spans.append((begin, begin + len(word)))
        begin += len(word) + between
    return spans


def locate_words(text: str, words: Sequence[str]) -> list[Span] | None:
    """Find ``words`` in ``text``, ignoring white space.

    Returns:
        One span per word, or None if text and words have different characters.
    """
    offsets = [i for i, char in enumerate(text) if not char.isspace()]
    squeezed = ["".join(word.split()) for word in words]
    if "".join(squeezed) != "".join(text[i] for i in offsets):
        return None
    spans, done = [], 0
    for word in squeezed:
        if word:
            spans.append((offsets[done], offsets[done + len(word) - 1] + 1))
            done += len(word)
        else:
            here = offsets[done] if done < len(offsets) else len(text)
            spans.append((here, here))
    return spans


def is_sign(subword: str) -> bool:
    """Whether a subword of a vocabulary is a punctuation sign, by the test of SLA's program.

    The program (github.com/Neutralzz/syntax_aware_local_attention, ``src/dataset.py``) tests
    whether the subword is a substring of `SIGNS`, which has neither `` ` `` nor ``{|}~``: runs of
    signs in that very order count as well, such as ``()`` and ``.-``, which WordPiece never makes.
    Marks of other schemes, of a blank before (`MARKS`) or of a continued word (``@@``), are
    ignored; ``##.`` is no sign, as in the program.
    """
    bare = subword.lstrip(MARKS).removesuffix("@@")
    return bool(bare) and bare in SIGNS


def align(text: str, subwords: Sequence[Span], words: Sequence[Span]) -> Alignment:
    """Assign every subword the word of its first visible character.

    A subword without visible characters (sentencepiece's lone word mark) belongs to the following
    word.
    A character outside all words counts for the word before.

    Args:
        text: the line of both kinds of spans.
        subwords: S spans in order.
        words: W spans in order, not overlapping.
    """
    if not words:
        return Alignment([-1] * len(subwords), 0)
    starts = [begin for begin, _ in words]
    word_of, misaligned, latest = [], 0, 0
    for begin, end in subwords:
        first = begin
        while first < len(text) and text[first].isspace():
            first += 1
        latest = max(latest, bisect_right(starts, first) - 1)
        word_of.append(latest)
        last = end
        while last > first and text[last - 1].isspace():
            last -= 1
        if first < last and not words[latest][0] <= first <= last <= words[latest][1]:
            misaligned += 1
    return Alignment(word_of, misaligned)


def positions(words: np.ndarray, begins: Any = slice(0)) -> np.ndarray:
    """Return each subword's place in its word, (S,), as its number among `SUBWORD_POSITIONS`.

    Args:
        words: word of each subword, (S,).
        begins: beginnings of further sentences, if there are several.
    """
    edges = np.ones(len(words) + 1, dtype=bool)
    np.not_equal(words[1:], words[:-1], out=edges[1:-1])
    edges[begins] = True
    first, last = edges[:-1], edges[1:]
    return np.multiply(last, 2, dtype=np.uint8) + (first == last)  # B 0, M 1, E 2, O 3


def case_of(word: str) -> str:
    """Return ``upper`` for a word with an upper-case first letter, else ``lower``."""
    return "upper" if word[:1].isupper() else "lower"

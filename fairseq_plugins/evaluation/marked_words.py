"""Words that tell outputs apart: right in one alone, or in one alone and wrong.

The syntax-infused paper's Table 3 marks the words that only one system predicts correctly. Here a
word of an output is a *hit* when it matches a word of the reference that the other output misses,
and a *miss* when it matches neither the reference nor the other output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import groupby

HIT, MISS, SAME = "hit", "miss", "same"
FIRST, SECOND = "first", "second"  # of words that one sentence of a pair has alone
SPAN, WRONG = "span", "wrong"  # of an answer in its context, of what is wrong as a whole
Runs = Sequence[tuple[str, str]]  # stretches of a text, each with its mark

_PIECES = re.compile(r"\s+|\w+(?:[-'\u2019]\w+)*|[^\w\s]")


def mark_words(output: str, other: str, gold: str) -> list[tuple[str, str]]:
    """Cut an output into stretches of text, each a hit, a miss or neither.

    Joining the texts gives the output back.

    Returns:
        (text, mark) pairs with mark ``HIT``, ``MISS`` or ``SAME``; neighbours have other marks.
    """
    pieces = _PIECES.findall(output)
    words, other_words, gold_words = (_words(text) for text in (output, other, gold))
    to_gold = _matches(words, gold_words)
    found_by_other = set(_matches(other_words, gold_words).values())
    to_other = _matches(words, other_words)
    marks: list[str] = []
    index = 0
    for piece in pieces:
        if piece.isspace():
            marks.append("")
            continue
        if index in to_gold:
            marks.append(SAME if to_gold[index] in found_by_other else HIT)
        else:
            marks.append(SAME if index in to_other else MISS)
        index += 1
    return _join(pieces, marks)


def _words(text: str) -> list[str]:
    return [piece for piece in _PIECES.findall(text) if not piece.isspace()]


def _matches(words: Sequence[str], others: Sequence[str]) -> dict[int, int]:
    """Align equal words of two sentences in order: position -> position."""
    blocks = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    return {block.a + k: block.b + k for block in blocks for k in range(block.size)}


def _join(pieces: Sequence[str], marks: Sequence[str]) -> list[tuple[str, str]]:
    """Merge neighbours of one mark; white space belongs to its neighbours when they agree."""
    resolved = []
    for i, mark in enumerate(marks):
        if not mark:
            inside = 0 < i < len(marks) - 1 and marks[i - 1] == marks[i + 1]
            mark = marks[i - 1] if inside else SAME
        resolved.append((pieces[i], mark))
    groups = groupby(resolved, key=lambda pair: pair[1])
    return [("".join(text for text, _ in group), mark) for mark, group in groups]


def only(runs: Runs, mark: str) -> str:
    """Return the stretches of one mark."""
    return " ".join(text for text, own in runs if own == mark)


def plain(text: str) -> Runs:
    """Return a text without marks."""
    return [(text, SAME)]

"""The masks of SLA's and of SG-Net's programs, step by step as these make them, for one sentence.

After ``src/dataset.py`` of github.com/Neutralzz/syntax_aware_local_attention and
``convert_span.py`` of github.com/cooelf/SG-Net, written anew from what they do. Trees are heads
from 1, 0 at roots.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SLA_SIGNS = "!\"#$%&'()*+,.-/:;<=>?@[\\]^_"


def reached(heads: Sequence[int], start: int, most: int) -> set[int]:
    """Return the words at most so many arcs from a word, 0 for [CLS], which has none; from 1."""
    arcs = [(word, head) for word, head in enumerate(heads, 1) if head]  # none to the root
    found = {start}
    for _ in range(most):
        found |= {b for a, b in arcs if a in found} | {a for a, b in arcs if b in found}
    return found


def sla_mask(heads: Sequence[int], spelt: Sequence[Sequence[str]], most: int) -> np.ndarray:
    """Return who sees whom of [CLS], the subwords ``spelt`` of each word, and [SEP]."""
    subwords = ["[CLS]", *(piece for pieces in spelt for piece in pieces), "[SEP]"]
    counts = [1, *map(len, spelt)]  # of [CLS] and the words
    rows = []
    for word in range(len(counts)):
        near = {0}
        for centre in (word, word - 1, word + 1):
            if 0 <= centre < len(counts):
                near |= reached(heads, centre, most)
        row = [int(other in near) for other, count in enumerate(counts) for _ in range(count)]
        rows += [[*row, 1]] * counts[word]
    table = np.array([*rows, [1] * len(subwords)], dtype=bool)
    table[0] = True
    for place, subword in enumerate(subwords):
        if subword.lower() in SLA_SIGNS:
            table[:, place] = True
    return table


def sgnet_mask(heads: Sequence[int], counts: Sequence[int]) -> np.ndarray:
    """Return who sees whom of the subwords of words, so many each; special tokens are none."""
    starts = np.cumsum([0, *counts])
    table = np.zeros((starts[-1], starts[-1]), dtype=bool)
    for word in range(len(heads)):
        below = {word}
        while more := {w for w, head in enumerate(heads) if head - 1 in below} - below:
            below |= more
        table[starts[min(below)] : starts[max(below) + 1], starts[word]] = True
        for later in range(starts[word] + 1, starts[word + 1]):
            table[later, later] = True
    return table

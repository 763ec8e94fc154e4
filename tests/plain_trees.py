"""Trees of any shape for tests, and the plainest walks through them; heads from 1, 0 at roots."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

FAR = 2**31 - 1  # from one tree to another there is no path


def ancestors(heads: list[int], word: int) -> list[int]:
    """Return the words above a word, nearest first; an endless walk fails."""
    found = []
    while heads[word]:
        word = heads[word] - 1
        assert word not in found, "a cycle"
        found.append(word)
    return found


@st.composite
def any_forests(draw, most: int = 9) -> list[int]:
    """Heads of up to ``most`` tokens in any order, with one root or more."""
    order = draw(st.permutations(range(draw(st.integers(1, most)))))
    heads = [0] * len(order)
    for place, token in enumerate(order):
        above = draw(st.integers(0, place))
        heads[token] = order[above - 1] + 1 if above else 0
    return heads


@st.composite
def projective_forests(draw) -> list[int]:
    """Heads without crossing arcs: every span is cut into subtrees, again and again."""
    heads = [0] * draw(st.integers(1, 9))
    spans = [(0, len(heads), 0)]  # begin, end, number of the head of what is in it
    while spans:
        begin, end, head = spans.pop()
        while begin < end:
            stop = draw(st.integers(begin + 1, end))
            root = draw(st.integers(begin, stop - 1))
            heads[root] = head
            spans += [(begin, root, root + 1), (root + 1, stop, root + 1)]
            begin = stop
    return heads


FORESTS = st.one_of(any_forests(), projective_forests())


def steps(heads: list[int]) -> list[list[int]]:
    """Return distances by walking from every word in all directions at once."""
    beside = {word: set() for word in range(len(heads))}
    for word, head in enumerate(heads):
        if head:
            beside[word].add(head - 1)
            beside[head - 1].add(word)
    found = [[FAR] * len(heads) for _ in heads]
    for start, row in enumerate(found):
        front, done = {start}, 0
        while front:
            for word in front:
                row[word] = done
            done += 1
            front = {w for word in front for w in beside[word] if row[w] == FAR}
    return found


def table(heads: list[int], holds: Callable[[int, int], bool]) -> np.ndarray:
    """Return of which words i and j something holds, (W, W)."""
    words = range(len(heads))
    return np.array([[holds(i, j) for j in words] for i in words], dtype=bool)


def near(heads: list[int], threshold: int, neighbours: str = "asymmetric") -> np.ndarray:
    """Return where local attention may go (Li et al. 2020, section 3), from word to word.

    D(i, j) = min over k in {i-1, i, i+1} of dis(k, j), allowed where D <= threshold.
    """
    dis, reach = steps(heads), 0 if neighbours == "none" else 1
    found = table(
        heads,
        lambda i, j: min(row[j] for row in dis[max(i - reach, 0) : i + reach + 1]) <= threshold,
    )
    return found | found.T if neighbours == "symmetric" else found


def related(heads: list[int], kind: str) -> np.ndarray:
    """Tell of i and j whether j is i, or i's parent, child or sibling."""
    tests = {
        "parent": lambda i, j: heads[i] == j + 1,
        "child": lambda i, j: heads[j] == i + 1,
        "sibling": lambda i, j: heads[i] == heads[j] != 0,
    }
    return table(heads, lambda i, j: i == j or tests[kind](i, j))


def above(heads: list[int]) -> np.ndarray:
    """Tell of i and j whether j is i or an ancestor of i."""
    return table(heads, lambda i, j: i == j or j in ancestors(heads, i))


def hulls(heads: list[int]) -> np.ndarray:
    """Tell of i and j whether i lies between the first and the last word of j's subtree."""
    below = [np.flatnonzero(column) for column in above(heads).T]
    return table(heads, lambda i, j: below[j].min() <= i <= below[j].max())


def window(words: int, width: int) -> np.ndarray:
    """Tell of i and j whether they are at most ``width`` apart."""
    return table([0] * words, lambda i, j: abs(i - j) <= width)


def is_projective(heads: list[int]) -> bool:
    """Whether all words between a word and its head are below that head."""
    return all(
        head - 1 in ancestors(heads, between)
        for word, head in enumerate(heads)
        if head
        for between in range(min(word, head - 1) + 1, max(word, head - 1))
    )

"""Trees of any shape for tests, and the plainest walks through them; heads from 1, 0 at roots."""

from __future__ import annotations

from hypothesis import strategies as st

from fairseq_plugins.syntax.tree import FAR


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


def pairs(heads: list[int]) -> list[tuple[int, int]]:
    """Return all pairs of words."""
    return [(i, j) for i in range(len(heads)) for j in range(len(heads))]

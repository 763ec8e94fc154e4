"""Dependency trees as lists of heads: word i's head is a number from 1, and 0 at a root.

Checks of heads, heads for other words, and what a tree lets attention see: the masks of
syntax-aware local attention (Li et al. 2020, section 3: D(i, j) = min over k in {i-1, i, i+1} of
dis(k, j), allowed where D <= m), of SG-Net (Zhang et al. 2020: a word sees itself and its
ancestors) and of Syntax-BERT (Bai et al. 2021: parents, children, siblings). One sentence at a
time, in NumPy; `nn.tree_masks` does the same for a batch on the device. A sentence may be a forest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..messages import named, quoted

FAR = int(np.iinfo(np.int32).max)  # from one tree to another there is no path
NEIGHBOURS = ("asymmetric", "symmetric", "none")
RELATIONS = ("parent", "child", "sibling")


def check_heads(
    heads: Sequence[int], words: Sequence[str] | None = None, *, one_root: bool = False
) -> None:
    """Refuse heads that form no trees.

    Args:
        heads: one number a word.
        words: the words, to compare their number and to name them.
        one_root: whether the sentence has to be one tree.

    Raises:
        ValueError: names word, head and length of the sentence.
    """
    count = len(heads)
    if words is not None and len(words) != count:
        raise ValueError(f"{count} heads are given for a sentence of {len(words)} words")
    for word, head in enumerate(heads, 1):
        if not 0 <= head <= count:
            raise ValueError(
                f"{_name(word, words)} has head {head}, but the sentence has {count} words"
            )
        if head == word:
            raise ValueError(f"{_name(word, words)} of {count} is its own head")
    if cycle := _cycle(heads):
        chain = named(
            (_name(word, words) for word in [*cycle, cycle[0]]), between=", whose head is "
        )
        raise ValueError(f"the heads of the sentence of {count} words form a cycle: {chain}")
    roots = [word for word, head in enumerate(heads, 1) if head == 0]
    if one_root and len(roots) != 1:
        found = named(_name(word, words) for word in roots)
        raise ValueError(
            f"the sentence of {count} words has {len(roots)} roots (head 0) instead of one: {found}"
        )


def _name(word: int, words: Sequence[str] | None) -> str:
    return f"word {word}" if words is None else f"word {word} {quoted(words[word - 1])}"


def _cycle(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle, each before its head; none if there is none."""
    walk_of = [0] * (len(heads) + 1)  # the walk that came by, named by the word it began with
    walk_of[0] = -1  # what is above the roots
    for start in range(1, len(heads) + 1):
        word = start
        while not walk_of[word]:
            walk_of[word] = start
            word = heads[word - 1]
        if walk_of[word] == start:
            cycle = [word]
            while heads[cycle[-1] - 1] != word:
                cycle.append(heads[cycle[-1] - 1])
            return cycle
    return []


def first_bad_sentence(heads: np.ndarray, lengths: np.ndarray) -> int | None:
    """Return the index of the first of many sentences whose heads `check_heads` refuses.

    All sentences are looked at together: every word points at its head, then at the head of its
    head and so on, each time twice as far; where there are trees, all come to point at roots.

    Args:
        heads: of all sentences, one after another, (N,).
        lengths: words of each sentence, (n,).
    """
    ends = np.cumsum(lengths)
    begins = np.repeat(ends - lengths, lengths)  # (N,) where the word's sentence begins
    places = np.arange(len(heads))  # (N,)
    above = begins + heads - 1  # (N,)
    above = np.where(heads == 0, places, above)
    outside = (heads < 0) | (heads > np.repeat(lengths, lengths))
    bad = outside | ((above == places) & (heads != 0))
    above = np.where(bad, places, above)
    for _ in range(int(lengths.max(initial=0)).bit_length()):
        above = above[above]
    bad |= heads[above] != 0  # (N,) in a cycle, or below one or a bad word
    wrong = np.flatnonzero(bad)
    return int(np.searchsorted(ends, wrong[0], side="right")) if len(wrong) else None


def parents(heads: Sequence[int]) -> np.ndarray:
    """Return the index from 0 of each word's head, a root's own for a root, (W,)."""
    numbers = np.asarray(heads, dtype=np.int64)
    return np.where(numbers == 0, np.arange(len(numbers)), numbers - 1)


def ancestors(heads: Sequence[int]) -> np.ndarray:
    """Tell of words i and j whether j is i or an ancestor of i, (W, W)."""
    above = parents_of = parents(heads)  # (W,)
    words = np.arange(len(above))
    found = np.eye(len(above), dtype=bool)
    while not found[words, above].all():
        found[words, above] = True
        above = parents_of[above]
    return found


def hulls(heads: Sequence[int]) -> np.ndarray:
    """Tell of i and j whether i lies between the first and the last word of j's subtree, (W, W).

    The spans of SG-Net's released code. Where subtrees have no gaps they say what `ancestors` says.
    """
    below = ancestors(heads)  # (W, W) column j holds the subtree of j
    return np.maximum.accumulate(below) & np.maximum.accumulate(below[::-1])[::-1]


def is_projective(heads: Sequence[int]) -> bool:
    """Whether no two arcs cross when drawn above the words, those from 0 to the roots included."""
    numbers, words = np.asarray(heads, dtype=np.int64), np.arange(1, len(heads) + 1)
    left, right = np.minimum(numbers, words), np.maximum(numbers, words)  # (W,) ends of the arcs
    inside = (left[:, None] < left) & (left < right[:, None])  # (W, W) arc j begins within arc i
    return not (inside & (right > right[:, None])).any()


def distances(heads: Sequence[int]) -> np.ndarray:
    """Return the number of steps between words along their tree, `FAR` without a way, (W, W)."""
    above = ancestors(heads).astype(np.float32)  # (W, W); its products are whole and exact
    depth = above.sum(axis=1)  # (W,) from 1 at a root
    common = above @ above.T  # (W, W) depth of the lowest common ancestor, 0 without one
    steps = (depth[:, None] + depth - 2 * common).astype(np.int64)
    return np.where(common > 0, steps, FAR)


def tree_allowed(
    heads: Sequence[int], threshold: int, neighbours: str = "asymmetric"
) -> np.ndarray:
    """Return where syntax-aware local attention may go: from word i to word j, (W, W).

    Args:
        heads: of one sentence.
        threshold: m, the largest distance allowed.
        neighbours: ``asymmetric``: i sees what is near i or a word beside i, as the paper's D has
            it; ``symmetric``: so does j see i; ``none``: only what is near i itself.

    Raises:
        ValueError: a threshold below 0, or other neighbours.
    """
    if threshold < 0:
        raise ValueError(f"the tree threshold is {threshold}; it must be at least 0")
    if neighbours not in NEIGHBOURS:
        raise ValueError(f"no neighbours {neighbours!r}; choices: {', '.join(NEIGHBOURS)}")
    near = distances(heads) <= min(threshold, FAR - 1)  # (W, W)
    if neighbours == "none":
        return near
    allowed = near.copy()
    allowed[1:] |= near[:-1]
    allowed[:-1] |= near[1:]
    return allowed | allowed.T if neighbours == "symmetric" else allowed


def relation(heads: Sequence[int], kind: str) -> np.ndarray:
    """Tell of i and j whether j is i, or i's parent, child or sibling, (W, W).

    Roots have no parent, hence no siblings.

    Raises:
        ValueError: another relation.
    """
    if kind not in RELATIONS:
        raise ValueError(f"no relation {kind!r}; choices: {', '.join(RELATIONS)}")
    above, words = parents(heads), np.arange(len(heads))
    if kind == "sibling":
        below = above != words  # (W,)
        related = (above[:, None] == above) & below[:, None] & below
    else:
        related = above[:, None] == words
        related = related.T if kind == "child" else related
    return related | np.eye(len(words), dtype=bool)


def window_allowed(words: int, width: int) -> np.ndarray:
    """Tell of positions i and j whether they are at most ``width`` apart, (W, W).

    Raises:
        ValueError: a width below 0.
    """
    if width < 0:
        raise ValueError(f"the window is {width}; it must be at least 0")
    places = np.arange(words)
    return np.abs(places[:, None] - places) <= width


def project_heads(heads: Sequence[int], token_of: Sequence[int]) -> list[int]:
    """Carry the heads of parsed tokens over to words that are cut otherwise, or are fewer.

    The first word of a token takes the token's place in the tree; further words of the same token
    depend on it. A token without a word is passed over: what depended on it depends on its head,
    and if it was the root, the first such word becomes the root and the others depend on that.

    Args:
        heads: one head a token; they form trees.
        token_of: W token indices from 0, the token that each word belongs to.

    Returns:
        W heads, which form trees again.
    """
    first: dict[int, int] = {}
    for word, token in enumerate(token_of):
        first.setdefault(token, word)
    risen: dict[int, int] = {}  # a root that was passed over -> the word in its place
    found = []
    for word, token in enumerate(token_of):
        if first[token] != word:
            found.append(first[token] + 1)
            continue
        while heads[token] and heads[token] - 1 not in first:
            token = heads[token] - 1
        if heads[token]:
            found.append(first[heads[token] - 1] + 1)
        elif token in first:
            found.append(0)
        else:
            leader = risen.setdefault(token, word)
            found.append(0 if leader == word else leader + 1)
    return found

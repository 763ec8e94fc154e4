"""Controls against wrong explanations: uninformative trees, features and questions.

A model's gain from a parse may be its gain from *any* tree, and its gain from tags may come from
their parameters. So models are trained and tested with other trees, values or questions than the
prepared ones (`controls`):

    trees      shuffled: of another sentence of the same length; random: drawn; chain: each word's
               head is its left neighbour
    values     shuffled: those of the split's words, in another order; random: drawn from the
               split's values; constant: one value for all words
    questions  shuffled: each passage gets another example's question

All draws follow from the seed, the split, and the number of the sentence in the split: never from
the worker, the epoch, the order or the batch. Trees are parents from 0, a root its own.
"""

import hashlib
import logging
from collections.abc import Sequence

import numpy as np

from .controls import CHAIN, CONSTANT, RANDOM, SHUFFLED
from .labels import SPECIAL_ID
from .rows import Rows
from .tree import project_heads

logger = logging.getLogger(__name__)

CONSTANT_ID = SPECIAL_ID + 1  # the first label of an inventory, or <unknown> of a learnt one
MADE = (SHUFFLED, RANDOM, CHAIN)  # trees


def dice(seed: int | None, *names: object) -> np.random.Generator:
    """Return a random generator that depends only on a seed and names."""
    digest = hashlib.sha256("/".join(map(str, (seed, *names))).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, "<u4"))


def chain(length: int) -> np.ndarray:
    """Return the tree in which each word's head is its left neighbour, (W,)."""
    return np.maximum(np.arange(length) - 1, 0)


def random_tree(length: int, random: np.random.Generator) -> np.ndarray:
    """Draw a projective tree with one root, all trees of W words with equal probability, (W,).

    A projective tree is a root with a forest on either side, and a forest is empty, or a first tree
    followed by a forest. So forests are ternary trees: the forests left and right of the first
    tree's root, and the rest. Two ternary trees with W - 1 inner nodes in all, written down node by
    node, are the arrangements of W - 1 inner nodes and 2 W leaves of which two rotations (of 3 W -
    1) are such a sequence: the cycle lemma (Dvoretzky and Motzkin 1947).
    """
    if length < 2:
        return np.zeros(length, dtype=np.int64)
    inner = random.permutation(3 * length - 1) < length - 1
    heights = np.cumsum(np.where(inner, 2, -1))
    lowest = heights.min() + random.integers(2)
    begin = int(np.argmax(heights == lowest)) + 1
    return _read_tree(length, np.roll(inner, -begin).tolist())


def _read_tree(length: int, inner: list[bool]) -> np.ndarray:
    """Read two ternary trees as the forests around a root; see `random_tree`."""
    above, place, count = [0] * length, [0] * length, 1  # node by node; the root is 0
    letters, places = iter(inner), iter(range(length))
    stack = [(0, True), (0, False), (0, True)]  # forests below a node, and nodes
    while stack:
        node, is_forest = stack.pop()
        if not is_forest:
            place[node] = next(places)
        elif next(letters):
            above[count] = node
            stack += [(node, True), (count, True), (count, False), (count, True)]
            count += 1
    found = np.zeros(length, dtype=np.int64)
    found[place] = np.array(place)[above]
    return found


def fitted(tree: np.ndarray, length: int) -> np.ndarray:
    """Fit a tree to W words, (W,).

    Surplus words are cut off at the end (`tree.project_heads`); missing words are added, each with
    its left neighbour as head.
    """
    if len(tree) >= length:
        own = np.arange(len(tree))
        heads = project_heads(np.where(tree == own, 0, tree + 1).tolist(), range(length))
        return np.array([head - 1 if head else i for i, head in enumerate(heads)], dtype=np.int64)
    return np.concatenate([tree, chain(length)[len(tree) :]])


def donors(lengths: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return for each of n sentences the number of another sentence, its donor of a tree, (n,).

    Sentences of one length form a circle, and each takes the tree of the next: every tree is used
    once, and by no sentence of its own. A sentence of unique length takes the tree of the next
    longer sentence, and the longest the tree of the next shorter one.
    """
    count = len(lengths)
    order = random.permutation(count)
    order = order[np.argsort(lengths[order], kind="stable")]  # by length, random among equals
    sizes = lengths[order]
    firsts = np.flatnonzero(np.diff(sizes, prepend=-1))  # where each length begins
    lasts = np.append(firsts[1:], count)[: len(firsts)] - 1
    following = np.minimum(np.arange(count) + 1, count - 1)
    following[lasts] = firsts
    alone = firsts[firsts == lasts]
    following[alone] = np.where(alone + 1 < count, alone + 1, alone - 1).clip(0)
    found = np.empty(count, dtype=np.int64)
    found[order] = order[following]
    return found


class ControlledTrees(Sequence):
    """The replaced trees of sentences, made on demand.

    Args:
        source: of `MADE`.
        trees: of a split's n sentences.
        seed, key: identify the draws.
    """

    def __init__(self, source: str, trees: Rows, seed: int | None = None, key: str = "") -> None:
        self.source, self.trees, self.lengths = source, trees, trees.lengths
        self.seed, self.key = seed, key
        self._donors = np.empty(0, np.int64)
        if source == SHUFFLED:
            self._donors = donors(self.lengths, dice(seed, key, "trees"))
            other = int((self.lengths != self.lengths[self._donors]).sum())
            if other:
                told = "%s: %d of %d sentences are alone of their length and take another's tree"
                logger.info(told, key, other, len(self))

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> np.ndarray:
        """Return the tree of a sentence; a chain for a split's only sentence."""
        if index >= len(self):
            raise IndexError(index)
        length = int(self.lengths[index])
        if self.source == CHAIN:
            return chain(length)
        if self.source == RANDOM:
            return random_tree(length, dice(self.seed, self.key, "tree", index))
        donor = self._donors[index]
        return fitted(self.trees[donor][: 0 if donor == index else None], length)

    def gather(self, index: np.ndarray) -> Rows:
        """Return the trees of sentences by number, with repetitions."""
        return Rows.of(self).gather(index)


def other_values(values: np.ndarray, source: str, random: np.random.Generator) -> np.ndarray:
    """Return the values of a corpus's words under a control, (N,); ``<special>`` keeps its place.

    Args:
        values: of all words, one after another, (N,).
        source: shuffled, random or constant.
    """
    found, real = np.array(values), values != SPECIAL_ID
    own = values[real]
    count = len(own)
    if source == CONSTANT:
        found[real] = CONSTANT_ID
    elif source == SHUFFLED:
        found[real] = own[random.permutation(count)]
    else:
        found[real] = own[random.integers(0, max(count, 1), count)]
    return found


def other_questions(count: int, seed: int | None, key: str) -> np.ndarray:
    """Return for each example the number of the example with its new question, (n,)."""
    return donors(np.zeros(count, dtype=np.int64), dice(seed, key, "questions"))

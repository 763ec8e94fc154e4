"""Masks of attention from parse trees and windows, on the device, in batched steps.

A rule is a value; called with a block of sentences it returns ``allowed`` (n, l, l), True where the
token of a row may attend to the token of a column:

  TreeRule       tree distance from the row's word or a neighbour of it <= m   (SLA, eq. 2 and 3)
  WindowRule     distance in the sentence <= k                                 (WLA)
  RelationRule   the column is the row's parent, child or sibling              (Syntax-BERT)
  AncestorRule   the column is an ancestor of the row, or itself               (SGNet)
  CrossRule      the column is in the other sentence of the pair               (DABERT, option)
  OpenRule       any column                                                    (a control)

Words are numbered over the whole row of a batch; a sentence pair leaves one number between its
sentences unused, so that no neighbour lies in the other sentence. Every subword has its word's row
and column. Special tokens belong to no word, word -1: they see all and are seen by all, and the two
sentences of a pair see each other completely; by SGNet's rule words see neither special tokens nor,
by default, the other sentence. SLA's rule may open punctuation signs to all rows, as in its
authors' program. Nothing here waits for the device.

Letters: n sentences of l tokens, W words.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from . import bit_sets

ALL = -1  # the set of all tokens
NEIGHBOURS = ("asymmetric", "symmetric", "none")
UNITS = ("subwords", "words")
RELATIONS = ("parent", "child", "sibling")
NONE, PUNCTUATION = OPENED = ("none", "punctuation")
EXACT, SPAN, RELEASED = ANCESTOR_MASKS = ("exact", "span", "released")
ANCESTOR_PAIRS = ("closed", "open")


class Rule(Protocol):
    """The allowed keys of each query."""

    @property
    def needs_heads(self) -> bool:
        """Whether the rule reads trees."""

    @property
    def needs_words(self) -> bool:
        """Whether the rule reads the words of tokens."""

    @property
    def needs_punctuation(self) -> bool:
        """Whether the rule reads punctuation signs."""

    def __call__(
        self,
        words: Tensor,
        segments: Tensor | None,
        heads: Any,
        punctuation: Tensor | None = None,
        /,
    ) -> Tensor:
        """Return ``allowed`` (n, l, l).

        Args:
            words: word of each token, (n, l); -1 at special tokens.
            segments: sentence of each token, (n, l); None for single sentences.
            heads: head of each word, (n, W), None if no rule reads trees; roots and unused numbers
                are their own heads.
            punctuation: True at subwords that are punctuation signs, (n, l).
        """
        ...


@dataclass(frozen=True)
class TreeRule:
    """Words near in the dependency tree: D(i, j) <= m (Li et al. 2020, eq. 2 and 3).

    D(i, j) is the least distance in the undirected tree from word i, or one of its neighbours
    i - 1 and i + 1 in the sentence, to word j. Words of different trees are infinitely far apart.

    Word j is at most m from word i when it lies at most m - a steps below the word that is a steps
    above i, for some a; a root is above itself, which adds nothing. The words below a word are
    united from those below its children, as sets of tokens (`nn.bit_sets`).
    """

    threshold: int = 4  # m
    # ``asymmetric`` (those of the row's word, as printed), ``symmetric`` (of either word), or
    # ``none``
    neighbours: str = "asymmetric"
    # columns that all rows see, whatever the tree: ``none``, or ``punctuation``, those of subwords
    # that are punctuation signs (`syntax.subwords.is_sign`), as in the authors' program
    # (github.com/Neutralzz/syntax_aware_local_attention, ``src/dataset.py``). Their rows follow the
    # tree, ``symmetric`` or not
    opened: str = NONE
    needs_heads = needs_words = True

    @property
    def needs_punctuation(self) -> bool:
        return self.opened == PUNCTUATION

    def __call__(
        self,
        words: Tensor,
        segments: Tensor | None,
        heads: Tensor,
        punctuation: Any = None,
    ) -> Tensor:
        allowed = self._by_distance(words, segments, heads)
        return allowed | punctuation[:, None, :] if self.needs_punctuation else allowed

    def _by_distance(self, words: Tensor, segments: Tensor | None, heads: Tensor) -> Tensor:
        size = heads.shape[1]
        owners = torch.where(words < 0, size, words)  # (n, l), special tokens belong to word W
        own = bit_sets.gathered(owners, size + 1)  # (n, W + 1, C)
        near = self._near(own, heads)  # (n, W, C)
        if self.neighbours != "none":
            wide = near.clone()
            wide[:, 1:] |= near[:, :-1]
            wide[:, :-1] |= near[:, 1:]
            near = wide
        special = own[:, size:]  # (n, 1, C)
        rows = torch.cat([near | special, torch.full_like(special, ALL)], 1)  # (n, W + 1, C)
        rows = bit_sets.rows_of(rows, owners)  # (n, l, C)
        if segments is not None:
            sides = bit_sets.gathered(torch.where(words < 0, 2, segments), 3)  # (n, 3, C)
            rows |= bit_sets.rows_of(sides, 1 - segments)
        allowed = bit_sets.spread(rows, words.shape[1])  # (n, l, l)
        return allowed | allowed.mT if self.neighbours == "symmetric" else allowed

    def _near(self, own: Tensor, heads: Tensor) -> Tensor:
        """Return the tokens at most m away from each word, (n, W, C), from words' tokens."""
        size = heads.shape[1]
        word = torch.arange(size, device=heads.device)
        above, most = word.expand_as(heads), min(self.threshold, max(size - 1, 0))
        parents = torch.where(heads == word, size, heads)  # (n, W), nobody's at a root
        parents = parents[:, :, None].expand(-1, -1, own.shape[2])
        below = [own]  # at most b steps below each word
        for _ in range(most):  # no path is longer than W - 1
            below.append(own.scatter_add(1, parents, below[-1][:, :size]))
        near = below[most][:, :size].clone()
        for a in range(1, most + 1):
            above = heads.gather(1, above)  # (n, W), a steps above
            near |= bit_sets.rows_of(below[most - a], above)
        return near


@dataclass(frozen=True)
class WindowRule:
    """Tokens near in the sentence: |i - j| <= k (Li et al. 2020, section 4.1, "WLA")."""

    width: int = 4  # k; the window is 2 k + 1 wide
    unit: str = "subwords"  # what is counted, ``subwords`` or ``words``
    needs_heads = needs_punctuation = False

    @property
    def needs_words(self) -> bool:
        return self.unit == "words"

    def __call__(self, words: Tensor, segments: Tensor | None, *_: Tensor | None) -> Tensor:
        places = words
        if self.unit == "subwords":
            places = torch.arange(words.shape[1], device=words.device)[None]  # (1, l)
        near = (places[:, :, None] - places[:, None, :]).abs() <= self.width  # (., l, l)
        return _opened(near, words, segments)


@dataclass(frozen=True)
class RelationRule:
    """Tokens of the same word, and of its parent, children or siblings (Bai et al. 2021)."""

    relation: str  # what the column's word is to the row's: ``parent``, ``child`` or ``sibling``
    needs_heads = needs_words = True
    needs_punctuation = False

    def __call__(
        self, words: Tensor, segments: Tensor | None, heads: Tensor, *_: Tensor | None
    ) -> Tensor:
        known = words.clamp(min=0)
        parents = heads.gather(1, known)  # (n, l)
        row, column = known[:, :, None], known[:, None, :]
        if self.relation == "parent":
            related = parents[:, :, None] == column
        elif self.relation == "child":
            related = row == parents[:, None, :]
        else:  # roots have no parent to share
            related = (parents[:, :, None] == parents[:, None, :]) & (
                (parents != known)[:, :, None] & (parents != known)[:, None, :]
            )
        return _opened(related | (row == column), words, segments)


@dataclass(frozen=True)
class CrossRule:
    """Tokens of the other sentence (Wang et al. 2022, "cross-attention between sentence pairs")."""

    needs_heads = needs_words = needs_punctuation = False

    def __call__(self, words: Tensor, segments: Tensor | None, *_: Tensor | None) -> Tensor:
        nothing = words.new_zeros(*words.shape, words.shape[1], dtype=torch.bool)  # (n, l, l)
        return _opened(nothing, words, segments)


@dataclass(frozen=True)
class OpenRule:
    """All tokens: a control in which local attention is as global as the other."""

    needs_heads = needs_words = needs_punctuation = False

    def __call__(self, words: Tensor, *_: Tensor | None) -> Tensor:
        return words.new_ones(*words.shape, words.shape[1], dtype=torch.bool)


@dataclass(frozen=True)
class AncestorRule:
    """Tokens of the same word and of its ancestors (Zhang et al. 2020, "SG-Net").

    Special tokens see all tokens, but words do not see them.
    """

    # ``exact``; ``span``: a word counts as an ancestor of all words between the first and the last
    # word of its subtree, the same unless branches cross; or ``released``, as in SG-Net's program
    # (``convert_span.py``): ``span``, only of the first subword of each word, and every further
    # subword of itself
    mask: str = EXACT
    # whether words see the words of the other sentence, ``open``, or not, ``closed``, as in
    # SG-Net's program, which has no exception for it
    pairs: str = "closed"
    needs_heads = needs_words = True
    needs_punctuation = False

    def __call__(
        self, words: Tensor, segments: Tensor | None, heads: Tensor, *_: Tensor | None
    ) -> Tensor:
        above = _ancestors(heads)  # (n, W, W)
        if self.mask != EXACT:
            above = _hulls(above)
        known = words.clamp(min=0)[:, None, :].expand(-1, words.shape[1], -1)  # (n, l, l)
        seen = _rows_of(above, words).gather(2, known) & (words >= 0)[:, None, :]
        if self.mask == RELEASED:
            seen &= _begins(words)[:, None, :] | torch.eye(
                words.shape[1], dtype=torch.bool, device=words.device
            )
        across = segments if self.pairs == "open" else None
        return _opened(seen, words, across, columns=False)


def _ancestors(heads: Tensor) -> Tensor:
    """Return the ancestors of each word (row), and itself (column), (n, W, W).

    The ancestors up to 2^k steps above are those of a word and of the word 2^(k-1) steps above it.
    """
    n, size = heads.shape
    found = torch.eye(size, dtype=torch.bool, device=heads.device).expand(n, size, size)
    step = heads
    for _ in range(max(size - 1, 0).bit_length()):
        found = found | _rows_of(found, step)
        step = step.gather(1, step)
    return found


def _hulls(above: Tensor) -> Tensor:
    """Widen subtrees (columns of ``above``) to all words between their first and last one."""
    size = above.shape[1]
    place = torch.arange(size, device=above.device)[None, :, None]  # (1, W, 1)
    first = torch.where(above, place, size).amin(1, keepdim=True)  # (n, 1, W)
    last = torch.where(above, place, -1).amax(1, keepdim=True)  # (n, 1, W)
    return (first <= place) & (place <= last)


def _begins(words: Tensor) -> Tensor:
    """Return whether each token is the first of its word, (n, l)."""
    begins = torch.ones_like(words, dtype=torch.bool)
    begins[:, 1:] = words[:, 1:] != words[:, :-1]
    return begins


def _rows_of(table: Tensor, words: Tensor) -> Tensor:
    """Take the row of each word: (n, W, x) and (n, l) to (n, l, x)."""
    n, size, width = table.shape
    starts = torch.arange(n, device=words.device)[:, None] * size  # (n, 1)
    flat = (words.clamp(min=0) + starts).flatten()  # (n l,)
    return table.reshape(n * size, width).index_select(0, flat).view(n, -1, width)


def _opened(
    allowed: Tensor, words: Tensor, segments: Tensor | None, *, columns: bool = True
) -> Tensor:
    """Open the rows and columns of special tokens, and each sentence of a pair to the other."""
    special = words < 0  # (n, l)
    allowed = allowed | special[:, :, None]
    if columns:
        allowed |= special[:, None, :]
    if segments is not None:
        across = segments[:, :, None] != segments[:, None, :]
        allowed |= across if columns else across & ~special[:, None, :]
    return allowed

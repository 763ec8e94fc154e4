"""Controls of parallel text: `data.controls` on columns that have one value a subword.

Trees stand there as two numbers a subword, its word's and that of the word's head (`syntax.tree`).
Values of words are exchanged by words: those that the trees tell of, or else the layer of the
subwords' places in their words; in a folder with neither, each subword is a word.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..syntax.labels import SPECIAL_ID
from ..syntax.layers import COLUMN, SUBWORD, TREE, Layer
from ..syntax.needs import GIVEN, Controls
from ..syntax.rows import Rows
from ..syntax.tree import NO_WORD
from .controls import MADE, ControlledTrees, dice, other_values

BEGINS = ("B", "O")  # places of subwords that begin a word


@dataclass(frozen=True, eq=False)
class ColumnStream:
    """Rows as fairseq's datasets give them."""

    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Tensor:
        """Return the ids of a line, (S,)."""
        return torch.from_numpy(np.array(self.rows[index], dtype=np.int64))


@dataclass(frozen=True, eq=False)
class HeadStream:
    """The heads of subwords' words under a control, made when they are asked for."""

    words: Rows
    trees: ControlledTrees

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: int) -> Tensor:
        """Return the number of the head of each subword's word in a line, (S,)."""
        words = self.words[index].astype(np.int64)
        above = np.append(self.trees[index] + 1, NO_WORD)  # of no word, the last
        return torch.from_numpy(above[words - 1])


@dataclass(frozen=True, eq=False)
class _StoredTrees:
    """The parents of each line's words, of the two columns that tell of them."""

    words: Rows
    heads: Rows

    def __getitem__(self, index: int) -> np.ndarray:
        words, heads = self.words[index].astype(np.int64), self.heads[index].astype(np.int64)
        found = np.zeros(words.max(initial=0), dtype=np.int64)
        real = words != NO_WORD
        found[words[real] - 1] = heads[real] - 1
        return found


def controlled_columns(
    columns: Mapping[str, Rows], layers: Sequence[Layer], controls: Controls, key: str
) -> dict[str, Any]:
    """Return the columns that change under controls, as datasets of lines.

    Args:
        columns: of all layers, by their names.
        layers: whose columns they are.
        controls: what is given in their place.
        key: what the lines are, such as their split.
    """
    found: dict[str, Any] = {}
    for layer in layers:
        if layer.enters == TREE and controls.trees in MADE:
            words, heads = (columns[name] for name in layer.columns)
            trees = _StoredTrees(words, heads), _counts(words)
            made = ControlledTrees(controls.trees, *trees, controls.seed, key)
            found[layer.columns[1]] = HeadStream(words, made)
        elif layer.enters == COLUMN and controls.features != GIVEN:
            own = columns[layer.name]
            units = _words(columns, layers, own) if layer.unit != SUBWORD else _each(own)
            how = (controls.features, dice(controls.seed, key, layer.name))
            changed = other_values(own.values, units, *how)
            found[layer.name] = ColumnStream(Rows(changed, own.lengths))
    return found


def _counts(words: Rows) -> np.ndarray:
    """Return how many words each line has, (N,)."""
    return np.maximum.reduceat(words.values, words.ends - words.lengths).astype(np.int64)


def _each(column: Rows) -> np.ndarray:
    """Take each subword for a word; special tokens are none."""
    real = column.values != SPECIAL_ID
    return np.where(real, np.cumsum(real) - 1, -1)


def _words(columns: Mapping[str, Rows], layers: Sequence[Layer], own: Rows) -> np.ndarray:
    """Number the words of all subwords, over all lines; -1 at special tokens."""
    real = own.values != SPECIAL_ID
    tree = next((layer for layer in layers if layer.enters == TREE), None)
    places = next((layer for layer in layers if layer.unit == SUBWORD), None)
    if tree is not None:
        numbers = columns[tree.columns[0]].values.astype(np.int64)
        begins = np.diff(numbers, prepend=NO_WORD) != 0  # lines end in no word
    elif places is not None:
        ids = places.inventory.ids(BEGINS)
        begins = np.isin(columns[places.name].values, ids)
    else:
        return _each(own)
    return np.where(real, np.cumsum(begins & real) - 1, -1)

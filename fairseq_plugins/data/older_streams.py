"""Folders of parallel text of older releases: their streams in today's form.

A stream of a layer holds one value per subword, and one for ``</s>``. A tree has two streams: the
number of each subword's word, from 1, and of the word's head, a root's own; 0 means no word.
Without a tree, words begin where the stream of places says so, or else with every subword.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..syntax.layer import SUBWORD, Layer
from ..syntax.layers import TREES
from ..syntax.rows import Rows, check_lengths, refuse
from .text_columns import TOKENS, WORDS

BEGINS = ("B", "O")  # places of subwords that begin a word
_SEVERAL = "has several values for a word, none, or one for </s>"


class OlderStreams:
    """The streams beside one side of a split; see `text_columns.Take`.

    Args:
        prefix: of the side's tokens.
        layers: the folder's layers of the side.
    """

    def __init__(self, prefix: Path, layers: Sequence[Layer]) -> None:
        self.prefix, self.tokens = prefix, Rows.read(prefix, mapped=True)
        self.layers = {layer.name: layer for layer in layers}
        places = [one for one in layers if one.unit == SUBWORD and not one.sides(1)]  # in words
        for layer in places:
            layer.checked(*self._read(layer.name))
        if any(name in TREES for name in self.layers):
            self.place, column = self._read(WORDS)
            found = (part.values for _, part in column.parts())
            last = column.values[column.ends - 1]
            refuse(self.place, last != 0, "does not end in no word", row="line")
        elif places:
            self.place, column = self._read(places[0].name)
            begins = np.isin(column.values, places[0].ids(BEGINS))
            found = (_counted(part) for _, part in Rows(begins, column.lengths).parts())
        else:
            self.place, every = prefix, np.ones(len(self.tokens.values), bool)
            found = (_counted(part) for _, part in Rows(every, self.tokens.lengths).parts())
        self.words = Rows(np.concatenate([np.empty(0, np.uint8), *found]), self.tokens.lengths)

    def __call__(self, name: str) -> tuple[object, Rows]:
        """Return a stream's place, and its rows in today's form."""
        if name == TOKENS:
            return self.prefix, self.tokens.inner()
        if name == WORDS:
            return self.place, _open(self.words)
        (path, column), layer = self._read(name), self.layers[name]
        if layer.unit != SUBWORD:
            return path, self._of_words(path, column, layer)
        ends = column.values[column.ends - 1]
        refuse(path, ends != layer.end, f"does not end in {layer.end}", row="line")
        return path, _open(column)

    def _read(self, name: str) -> tuple[Path, Rows]:
        path = Path(f"{self.prefix}.{name}")
        rows = Rows.read(path, mapped=True)
        check_lengths(path, rows, self.tokens.lengths, row="line")
        return path, rows

    def _of_words(self, path: Path, column: Rows, layer: Layer) -> Rows:
        """Return the value of each word, which all of its subwords must share."""
        values, counts = [column.values[:0]], []
        for (first, part), (_, words) in zip(column.parts(), self.words.parts()):
            begins = (np.diff(words.values, prepend=0) != 0) & (words.values != 0)
            own = np.append(part.values[begins], layer.end)
            back = np.where(words.values != 0, np.cumsum(begins) - 1, -1)
            unlike = own[back] != part.values
            if layer.name in TREES:
                unlike |= begins & (part.values == 0)  # a root names itself
            wrong = part.any(unlike)
            refuse(path, wrong, _SEVERAL, row="line", first=first)
            found = part.values[begins]
            if layer.name in TREES:
                found = np.where(found == words.values[begins], 0, found)
            values.append(found)
            counts.append(np.add.reduceat(begins, words.ends - words.lengths, dtype=np.int64))
        return Rows(np.concatenate(values), np.concatenate([np.empty(0, np.int64), *counts]))


def _counted(begins: Rows) -> np.ndarray:
    """Number the words of each row from 1; ``</s>``, the last of a row, has 0."""
    starts = begins.ends - begins.lengths
    begins.values[starts] = True
    counted = np.cumsum(begins.values, dtype=np.int32)
    counted -= np.repeat(counted[starts] - 1, begins.lengths)
    counted[begins.ends - 1] = 0
    return counted.astype(np.min_scalar_type(begins.lengths.max(initial=0)))


def _open(rows: Rows) -> Rows:
    """Return rows without their last values, one after another."""
    return Rows(np.delete(rows.values, rows.ends - 1), rows.lengths - 1)

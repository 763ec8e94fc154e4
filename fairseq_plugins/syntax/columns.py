"""Columns: layers of labels, which models read as features; each label has an id.

Values of words are stored once a word in folders of texts, once a subword in those of parallel
text. Labels of annotators and users are in `tags`.

Source of the features: Sundararaman et al. 2019, "Syntax-infused Transformer": part of speech of
the word, case of its first character, and the position B/M/E/O of a subword within its word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

from .casing import casing_of
from .controls import GIVEN, Controls
from .drawn import dice, other_values
from .labels import PAD_ID, SPECIAL_ID, Inventory, plain_label
from .layer import SUBWORD, WORD_OF, Known, Layer
from .rows import AGAIN, Rows
from .subwords import spread

BEGINS = ("B", "O")  # places of subwords that begin a word


@dataclass(frozen=True)
class Column(Layer):
    """A layer of labels.

    Args:
        values: its inventory; None where each folder learns one.
        label: makes labels of what the layer is made of; InputError for what is none.
    """

    values: Inventory | None = None
    label: Callable[[Any], Any] = plain_label

    @property
    def is_open(self) -> bool:
        return self.values is None

    @property
    def learnt(self) -> bool:
        return self.values is None or self.values.learnt

    @property
    def inventory(self) -> Inventory:
        return super().inventory if self.values is None else self.values

    def bound(self, inventory: Inventory) -> Column:
        return replace(self, values=inventory)

    def file(self, language: str = "") -> str:
        return ".".join(filter(None, ("dict", language, self.name, "txt")))

    def carried(self, values: Sequence[Any], tokens: Sequence[int]) -> list[Any]:
        return [values[i] if i >= 0 else self.label("") for i in tokens]

    def of_subwords(
        self, known: Known, word_of: Sequence[int], spelt: Sequence[str]
    ) -> dict[str, list[Any]]:
        return {self.name: self.ids(spread(known[self.name], word_of))}

    def ids(self, values: Sequence[Any]) -> list[Any]:
        return [*values] if self.is_open else self.inventory.ids(values)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.name,)

    def of_row(self, values: Any, words: np.ndarray) -> np.ndarray:
        """Return the ids of a text's subwords, (S,), of the ids of its words, (W,)."""
        return values[words]

    def checked(
        self, what: object, rows: Rows, cure: str = AGAIN, *, words: Rows | None = None
    ) -> Rows:
        if not self.is_open:
            name = f"value of feature {self.name!r}"
            rows.check(what, len(self.inventory), name, least=PAD_ID + 1)
        return rows

    def controlled(
        self, held: Mapping[str, Rows], begins: np.ndarray | bool, how: Controls, key: str
    ) -> Mapping[str, Any]:
        if how.features == GIVEN:
            return {}
        own = self._stored(held)
        real = own.values != SPECIAL_ID
        firsts = real if self.unit == SUBWORD else begins & real
        units = np.where(real, np.cumsum(firsts) - 1, -1)  # words, numbered over all rows
        drawn = dice(how.seed, key, self.name)
        return {self.name: Rows(other_values(own.values, units, how.features, drawn), own.lengths)}

    def _stored(self, held: Mapping[str, Rows]) -> Rows:
        return held[self.name]


@dataclass(frozen=True)
class OfTree(Column):
    """Labels of words that follow from a tree, which ``tree`` names."""

    tree: str = ""

    @property
    def asks(self) -> tuple[str, ...]:
        return (self.tree,)

    def of_words(self, words: Sequence[str], known: Known) -> list[Any]:
        return self.label(self._told(self.tree, words, known))


@dataclass(frozen=True)
class Spelt(Column):
    """Labels of words by their spelling."""

    def of_words(self, words: Sequence[str], known: Known) -> list[Any]:
        return [self.label(word) for word in words]


@dataclass(frozen=True)
class Placed(Column):
    """Labels of subwords that follow from the words of the subwords; texts do not store them."""

    _: KW_ONLY
    unit: str = SUBWORD

    def of_subwords(
        self, known: Known, word_of: Sequence[int], spelt: Sequence[str]
    ) -> dict[str, list[Any]]:
        return {self.name: self.ids(self.label(word_of))}

    def sides(self, sentences: int) -> range:
        return range(0)

    def of_row(self, values: Any, words: np.ndarray) -> np.ndarray:
        """Return the ids of a text's subwords, (S,); ``values`` stand for them under a control."""
        return np.asarray(self.ids(self.label(words.tolist()))) if values is None else values

    def begins(self, columns: Mapping[str, Rows]) -> np.ndarray | None:
        return np.isin(columns[self.name].values, self.ids(BEGINS))

    def _stored(self, held: Mapping[str, Rows]) -> Rows:
        if self.name in held:
            return held[self.name]
        return Rows.of(self.ids(self.label(row.tolist())) for row in held[WORD_OF])


@dataclass(frozen=True)
class Casing(Column):
    """How target subwords are written: their text is lower-cased, and restored by it (`casing`)."""

    _: KW_ONLY
    unit: str = SUBWORD

    def of_subwords(
        self, known: Known, word_of: Sequence[int], spelt: Sequence[str]
    ) -> dict[str, list[Any]]:
        return {self.name: self.ids([casing_of(subword) for subword in spelt])}

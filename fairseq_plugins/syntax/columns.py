"""Columns: layers of labels, which models read as features; each label has an id.

Each word has one stored value. Labels of annotators and users are in `tags`.

Source of the features: Sundararaman et al. 2019, "Syntax-infused Transformer": part of speech of
the word, case of its first character, and the position B/M/E/O of a subword within its word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .casing import casing_of
from .controls import GIVEN, Controls
from .drawn import dice, other_values
from .labels import PAD_ID, SPECIAL_ID, Inventory, plain_label
from .layer import SUBWORD, WORD_OF, Known, Layer
from .rows import AGAIN, Rows
from .subwords import positions


@dataclass(frozen=True)
class Column(Layer):
    """A layer of labels.

    Args:
        values: the inventory; None if each folder learns one.
        label: makes a label from a value.
    """

    width: ClassVar[int] = 1

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

    def ids(self, values: Sequence[Any]) -> list[Any]:
        return [*values] if self.is_open else self.inventory.ids(values)

    def of_row(
        self, values: Any, words: np.ndarray, length: int | None = None
    ) -> Sequence[np.ndarray]:
        if self.unit == SUBWORD:
            return (values[:length],)
        shown = words[:length]
        return (values[shown] if len(values) else np.full(len(shown), SPECIAL_ID),)

    def checked(self, what: object, rows: Rows, cure: str = AGAIN, row: str = "example") -> Rows:
        if not self.is_open:
            name = f"value of feature {self.name!r}"
            rows.check(what, len(self.inventory), name, least=PAD_ID + 1)
        return rows

    def controlled(self, held: Mapping[str, Rows], how: Controls, key: str) -> Mapping[str, Any]:
        if how.features == GIVEN:
            return {}
        own, drawn = self.in_full(held), dice(how.seed, key, self.name)
        return {self.name: Rows(other_values(own.values, how.features, drawn), own.lengths)}

    def in_full(self, held: Mapping[str, Rows]) -> Rows:
        """Return all values of texts; for ``held`` see `controlled`."""
        return held[self.name]


@dataclass(frozen=True)
class OfTree(Column):
    """Labels of words derived from the layer ``tree``."""

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
    """Labels of subwords derived from their words; texts do not store them."""

    _: KW_ONLY
    unit: str = SUBWORD

    def sides(self, sentences: int) -> range:
        return range(0)

    def of_row(
        self, values: Any, words: np.ndarray, length: int | None = None
    ) -> Sequence[np.ndarray]:
        return super().of_row(self._places(words) if values is None else values, words, length)

    def in_full(self, held: Mapping[str, Rows]) -> Rows:
        words = held[WORD_OF]
        filled = words.lengths > 0
        begins = (words.ends - words.lengths)[filled]
        return Rows(self._places(words.values, begins), words.lengths)

    def _places(self, words: np.ndarray, begins: Any = slice(0)) -> np.ndarray:
        return positions(words, begins) + np.uint8(SPECIAL_ID + 1)  # the id of the first label


@dataclass(frozen=True)
class Casing(Column):
    """The case of target subwords: the label restores lower-cased text (`casing`)."""

    _: KW_ONLY
    unit: str = SUBWORD

    def of_spelling(self, subwords: Sequence[str]) -> list[Any]:
        return [casing_of(subword) for subword in subwords]

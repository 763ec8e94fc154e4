"""Trees: layers with the head of each word (`tree`).

A folder stores the number of each word's head, from 1, and 0 at a root. Batches of texts hold heads
from 0, a root its own; batches of parallel text hold, from 1, the number of each subword's word and
of the head of this word (a root's own), with 0 for no word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from .controls import Controls
from .drawn import MADE, ControlledTrees, fitted
from .layer import PARSED, Known, Layer, Row
from .rows import AGAIN, Rows
from .tree import conllu_heads, first_bad_sentence, project_heads, tops

NO_WORD = 0  # in the columns of parallel text


class Parents(Rows):
    """Stored heads (from 1, 0 at a root), read as indices from 0, with a root as its own head."""

    def __getitem__(self, index: int) -> np.ndarray:
        heads = super().__getitem__(index).astype(np.int64) - 1  # (W,)
        (roots,) = (heads < 0).nonzero()
        heads[roots] = roots
        return heads

    def __iter__(self) -> Iterator[np.ndarray]:
        return map(self.__getitem__, range(len(self)))


@dataclass(frozen=True)
class Tree(Layer):
    """The head of each word."""

    width: ClassVar[int] = 2
    end: ClassVar[int] = NO_WORD

    requires: str = "an annotator that parses"
    lacking: str = "was not parsed"
    set_by: str = PARSED
    components: tuple[str, ...] = ("parser",)

    @property
    def asks(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def cure(self) -> str:
        return f"{super().cure}, or with parses of your own by --train-conllu and its relatives"

    def of_doc(self, doc: Any, places: Sequence[int], made: dict[Any, Any]) -> list[int]:
        offsets = doc.to_array("HEAD").astype(np.int64)  # offset of each head from its token
        heads = np.where(offsets == 0, 0, offsets + np.arange(1, len(doc) + 1)).tolist()
        return project_heads(heads, places)

    def of_conllu(self, rows: Sequence[Row], runs: Sequence[range], path: Path) -> list[int]:
        heads = conllu_heads(rows, path)
        return heads if len(runs) == len(heads) else project_heads(heads, tops(runs, heads))

    def joined(self, parts: Sequence[Sequence[int]]) -> list[int]:
        found: list[int] = []
        for heads in parts:
            before = len(found)
            found += [head and head + before for head in heads]
        return found

    def carried(self, values: Sequence[int], tokens: Sequence[int]) -> list[int]:
        known = [word for word, token in enumerate(tokens) if token >= 0]
        heads = [0] * len(tokens)
        kept = project_heads(values, [tokens[word] for word in known])
        for word, head in zip(known, kept):
            heads[word] = known[head - 1] + 1 if head else 0
        return heads

    def of_words(self, words: Sequence[str], known: Known) -> list[int]:
        return self._told(self.name, words, known)

    def of_row(
        self, values: Any, words: np.ndarray, length: int | None = None
    ) -> Sequence[np.ndarray]:
        shown = words[:length]
        if not len(values):
            return (np.full(len(shown), NO_WORD),) * 2
        if length is not None:  # dependents of a removed word take the word's head
            values = fitted(values, int(shown[-1]) + 1 if length else 0)
        return shown + 1, values[shown] + 1

    def id_count(self, words: int) -> int:
        return words + 1

    def checked(self, what: object, rows: Rows, cure: str = AGAIN, row: str = "example") -> Rows:
        for first, part in rows.parts():
            if bad := first_bad_sentence(part.values.astype(np.int64), part.lengths):
                at, error = bad
                raise InputError(f"{what}: {row} {first + at + 1}: {error}; {cure}")
        return Parents(rows.values, rows.lengths)

    def controlled(self, held: Mapping[str, Rows], how: Controls, key: str) -> Mapping[str, Any]:
        if how.trees not in MADE:
            return {}
        return {self.name: ControlledTrees(how.trees, held[self.name], how.seed, key)}

    def collated(self, values: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
        """Return the heads of every row's words (B, M), from the rows of each example.

        Padding is its own head.
        """
        rows = [row for example in values for row in example]
        lengths = np.array([len(row) for row in rows])
        places = np.arange(max(int(lengths.max()), 1))  # (M,)
        out = np.tile(places, (len(rows), 1))  # (B, M)
        out[places < lengths[:, None]] = np.concatenate(rows)
        return out

"""Trees: layers that say which word each word depends on (`tree`).

A folder of texts stores the number of each word's head, from 1, and 0 at a root; one of parallel
text the numbers of each subword's word and of the head of this word. Batches of texts hold heads
from 0, a root its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from .controls import Controls
from .drawn import MADE, ControlledTrees
from .layer import PARSED, WORD_OF, Known, Layer, Row
from .rows import AGAIN, Rows, parents_of
from .tree import (
    COLUMNS,
    NO_WORD,
    conllu_heads,
    first_bad_sentence,
    project_heads,
    shortened_columns,
    tops,
    tree_columns,
)

LINES_AT_ONCE = 100_000  # whose trees are checked together


@dataclass(frozen=True)
class Tree(Layer):
    """The head of each word."""

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
        offsets = doc.to_array("HEAD").astype(np.int64)  # of each head from its token
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

    def of_subwords(
        self, known: Known, word_of: Sequence[int], spelt: Sequence[str]
    ) -> dict[str, list[Any]]:
        return dict(zip(COLUMNS, tree_columns(known[self.name], word_of)))

    @property
    def columns(self) -> tuple[str, ...]:
        return COLUMNS

    @property
    def end(self) -> int:
        return NO_WORD

    def id_count(self, words: int) -> int:
        return words + 1

    def checked(
        self, what: object, rows: Rows, cure: str = AGAIN, *, words: Rows | None = None
    ) -> Rows:
        if words is None:
            return parents_of(what, rows, cure)
        for first in range(0, len(rows), LINES_AT_ONCE):
            columns = [column.part(first, first + LINES_AT_ONCE) for column in (words, rows)]
            _check_lines(what, *columns, done=first)
        return rows

    def shortened(self, columns: Sequence[list[int]], length: int) -> Sequence[list[int]]:
        return shortened_columns(*columns, length=length)

    def begins(self, columns: Mapping[str, Rows]) -> np.ndarray:
        numbers = columns[COLUMNS[0]].values.astype(np.int64)
        return np.diff(numbers, prepend=NO_WORD) != 0  # lines end in no word

    def controlled(
        self, held: Mapping[str, Rows], begins: np.ndarray | bool, how: Controls, key: str
    ) -> Mapping[str, Any]:
        if how.trees not in MADE:
            return {}
        if WORD_OF in held:
            rows = held[self.name]
            made = ControlledTrees(how.trees, rows, rows.lengths, how.seed, key)
            return {self.name: Rows.of(made)}
        words, heads = (held[name] for name in COLUMNS)
        firsts = self.begins(held) & (words.values != NO_WORD)
        counts = np.add.reduceat(firsts, words.ends - words.lengths, dtype=np.int64)
        parents = Rows(heads.values[firsts].astype(np.int64) - 1, counts)
        made = ControlledTrees(how.trees, parents, counts, how.seed, key)
        return {COLUMNS[1]: _HeadsOfSubwords(words, made)}

    def collated(self, values: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
        """Return the heads of every row's words (B, M), of the rows of each example.

        Padding is its own head.
        """
        rows = [row for example in values for row in example]
        lengths = np.array([len(row) for row in rows])
        places = np.arange(max(int(lengths.max()), 1))  # (M,)
        out = np.tile(places, (len(rows), 1))  # (B, M)
        out[places < lengths[:, None]] = np.concatenate(rows)
        return out


@dataclass(frozen=True, eq=False)
class _HeadsOfSubwords(Sequence[np.ndarray]):
    """The heads of subwords' words under a control, made when a line is read."""

    words: Rows
    trees: ControlledTrees

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, index: Any) -> Any:
        words = self.words[index].astype(np.int64)
        return np.append(self.trees[index] + 1, NO_WORD)[words - 1]  # of no word, the last


def _check_lines(what: object, numbers: Rows, above: Rows, *, done: int) -> None:
    """Refuse columns of lines that are no trees; ``done`` lines came before them."""
    words, heads = (column.values.astype(np.int64) for column in (numbers, above))  # (N,) each
    line_of = np.repeat(np.arange(len(numbers)), numbers.lengths)  # (N,)
    last = np.cumsum(numbers.lengths) - 1  # places of </s>
    steps = np.diff(words, prepend=0)  # (N,)
    steps[last[:-1] + 1] = words[last[:-1] + 1]
    firsts = (steps == 1) & (words != NO_WORD)
    wrong = (steps < 0) | (steps > 1)  # numbers leave out words, or go back
    wrong[last] = words[last] != NO_WORD
    wrong |= (words == NO_WORD) != (heads == NO_WORD)
    within = ~firsts & (words != NO_WORD) & ~wrong
    wrong[within] |= (heads != np.roll(heads, 1))[within]  # one word, two heads
    for place in np.flatnonzero(wrong)[:1]:
        raise InputError(
            f"{what}, line {done + line_of[place] + 1}: word {words[place]} with head "
            f"{heads[place]} does not fit in with the tokens before it; {AGAIN}"
        )
    counts = np.bincount(line_of[firsts], minlength=len(numbers))
    if bad := first_bad_sentence(np.where(heads == words, 0, heads)[firsts], counts):
        line, error = bad
        raise InputError(f"{what}, line {done + line + 1}: {error}; {AGAIN}")

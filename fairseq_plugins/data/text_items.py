"""An example as its encoder reads it: ``[CLS] a [SEP]`` or ``[CLS] a [SEP] b [SEP]``, in rows.

The family places special tokens (`pretrained.families.RowFormat`). A sentence labelled word by word
and too long for the model takes several rows, its windows (`text_windows`); so does a question with
too long a passage, each row with a window of the passage. Every other example takes one row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..pretrained.families import RowFormat
from ..syntax.controls import UNCONTROLLED, Controls
from ..syntax.labels import SPECIAL_ID
from ..syntax.layers import OF_PAIRS, TREES, columns_of, layers_of
from .text_columns import SentenceColumns
from .text_windows import cut_trees, cut_windows, shortened, stride_windows, word_begins

ERROR, TRUNCATE, SPLIT, WINDOWS = "error", "truncate", "split", "windows"

Stretch = tuple[int, int, int]  # sentence, begin and end in its wordpieces


@dataclass(frozen=True)
class InputFormat:
    """How examples are read."""

    cls: int  # id of the special token, like the next two
    sep: int
    pad: int
    row: RowFormat = RowFormat()  # places of special tokens
    layers: tuple[str, ...] = ()  # names of the model's layers; columns in their order
    by_word: bool = False  # whether words of the last sentence are labelled
    words: bool = False  # whether the model reads the word of each token
    limit: int | None = None  # most tokens of a row, specials included; None for any number
    positions: int | None = None  # positions of the models; None if unknown
    # treatment of longer examples: `ERROR`, `TRUNCATE`, `SPLIT`, or `WINDOWS` of the second
    # sentence, each after the whole first sentence; without similarities
    long_examples: str = ERROR
    stride: int = 128  # wordpieces from the begin of one such window to the next
    longest_question: int = 64  # kept wordpieces of the first sentence, with `WINDOWS`
    controls: Controls = UNCONTROLLED  # replacements of layers and questions

    def too_long(self, name: str, size: object) -> str:
        """Return the error of an example with too many tokens, special tokens included."""
        other = SPLIT if self.by_word else TRUNCATE
        larger = self.larger_limit()
        return (
            f"{name} has {size} tokens, special tokens included, but the limit is {self.limit}; "
            f"choices: --long-examples {other}{larger and ', or ' + larger}"
        )

    def larger_limit(self) -> str:
        """Return advice about a larger limit; empty if the models have no room for more."""
        if self.positions is None:
            return "a larger --max-positions as far as the model has positions"
        has_room = self.positions > (self.limit or self.positions)
        return f"a larger --max-positions, at most {self.positions}" if has_room else ""


class TextItems:
    """Examples as arrays of their real tokens.

    Args:
        sentences: columns of the first, and for pairs of the second sentences.
        form: how examples are read.
        name_of: names an example in messages, by its number.

    Attributes:
        sizes: tokens of each example over all its rows, (n,).
    """

    def __init__(
        self,
        sentences: Sequence[SentenceColumns],
        form: InputFormat,
        name_of: Callable[[int], str],
    ) -> None:
        counts = [len(column.tokens) for column in sentences]
        if len(set(counts)) != 1:
            raise InputError(f"columns of {counts} examples do not belong together; prepare again")
        self.sentences = list(sentences)
        self.form = form
        self.columns = [*columns_of(layers_of(form.layers)).values()]
        self.tree = next((name for name in form.layers if name in TREES), None)
        self.tables = [name for name in form.layers if name in OF_PAIRS]
        self.name_of = name_of
        self._specials = form.row.specials(len(self.sentences))  # of a row
        lengths = [column.tokens.lengths for column in self.sentences]  # (n,) each
        self.sizes: np.ndarray = self._specials + np.sum(lengths, axis=0)
        # For long examples: parts of each row, and the row of each word.
        self._cuts: dict[int, tuple[list[list[Stretch]], np.ndarray | None]] = {}
        self._fit()

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def refitted(self) -> list[int]:
        """Numbers of the truncated or split examples."""
        return list(self._cuts)

    def rows(self, index: int) -> list[list[Stretch]]:
        """Return the parts of its sentences in each row of an example."""
        return self._cuts[index][0] if index in self._cuts else [self._whole(index)]

    def _whole(self, index: int) -> list[Stretch]:
        return [(i, 0, column.tokens.lengths[index]) for i, column in enumerate(self.sentences)]

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return an example as arrays.

        Returns:
            ``id``; for the example's T tokens ``tokens`` and ``segments`` (T,), ``factors`` (T, F)
            with features, and if wanted ``word_of`` (T,), the number of each token's word as in
            `_syntax`; ``lengths`` of its rows; by name the wanted tree, the heads of each row's
            words, and the tables, (V, W) from the V words of the second sentence to the W of the
            first; and for labelled words ``words``, the first token of each word among the T tokens
            in the row of its label, (W,).
        """
        rows, owners = self._cuts.get(index) or (self.rows(index), None)
        columns = zip(*(self._row(index, parts) for parts in rows))
        tokens, segments, *factors = map(list, columns)
        item: dict[str, Any] = {
            "id": index,
            "tokens": joined(tokens),
            "segments": joined(segments),
            "lengths": [len(row) for row in tokens],
        }
        if factors:
            item["factors"] = joined(factors[0])
        if self.form.words or self.tree or self.tables:
            item |= self._syntax(index, rows)
        if self.form.by_word:
            item["words"] = self._word_places(index, item["lengths"], rows, owners)
        return item

    def _syntax(self, index: int, rows: list[list[Stretch]]) -> dict[str, Any]:
        """Return ``word_of`` (T,), the tree, (W,) for each row, and tables of an example.

        Words are counted over the example; with a tree, a row with part of the example counts over
        its own trees (`cut_trees`), so that a long document costs a row no more than these; with
        tables alone, over its own words. The second sentence's numbers begin one further, so that
        its first word is not beside the first sentence's last word. Special tokens have word -1.
        """
        pieces, trees, spans = [], [], []
        for parts in rows:
            start, row_heads, spans = 0, [], []
            frame = self.form.row.frame(_NO_WORD, _NO_WORD, len(parts))
            for special, part in zip(frame, parts):
                words, heads, span = self._words(index, part)
                if heads is not None:
                    row_heads += [np.array([start - 1])] * (start > 0)  # a word without tokens
                    row_heads.append(heads + start)
                pieces += [special, words + start]
                spans.append(span)
                start += len(span) + 1
            pieces.append(frame[-1])
            trees.append(joined(row_heads) if row_heads else None)
        found: dict[str, Any] = {"word_of": np.concatenate(pieces)}
        if self.tree:
            found[self.tree] = trees
        return found | {name: self._table(name, index, *spans) for name in self.tables}

    def _words(self, index: int, part: Stretch) -> tuple[np.ndarray, np.ndarray | None, range]:
        """Return the counts of one sentence in a row.

        Returns:
            The word of each wordpiece, (S,), and if wanted the words' heads, (W,), both counted
            from the first word of the range, the third result.
        """
        number, begin, end = part
        column, cut = self.sentences[number], index in self._cuts
        words = column.words[index].astype(np.int64)
        count, shown = _count(words), words[begin:end]
        if self.tree:
            heads, first = column.layers[self.tree][index].astype(np.int64), 0
            if cut:
                heads, first = cut_trees(heads, shown)
            return shown - first, heads, range(first, first + len(heads))
        if self.tables and cut:
            count = _count(shown)
        return shown, None, range(count)

    def _table(self, name: str, index: int, first: range, second: range) -> np.ndarray:
        """Return a layer's values of a pair's words, (V, W), for the words in two ranges."""
        width, height = (_count(column.words[index]) for column in self.sentences)
        table = self.sentences[1].layers[name][index].reshape(height, width)
        return table[second.start : second.stop, first.start : first.stop]

    def _fit(self) -> None:
        """Plan the rows of examples that are too long."""
        limit, specials = self.form.limit, self._specials
        if limit is None:
            return
        unfit = self.sizes > limit  # (n,)
        if self.form.long_examples == WINDOWS:
            unfit |= self.sentences[0].tokens.lengths > self.form.longest_question
        cuts = {TRUNCATE: self._truncate, SPLIT: self._split, WINDOWS: self._windows}
        for index in np.flatnonzero(unfit).tolist():
            if self.form.long_examples == ERROR:
                raise InputError(self.form.too_long(self.name_of(index), self.sizes[index]))
            cut = cuts[self.form.long_examples]
            rows, owners = self._cuts[index] = cut(index, limit - specials)
            lengths = [end - begin for parts in rows for _, begin, end in parts]
            self.sizes[index] = len(rows) * specials + sum(lengths)

    def _truncate(self, index: int, room: int) -> tuple[list[list[Stretch]], None]:
        lengths = [int(column.tokens.lengths[index]) for column in self.sentences]
        return [[(i, 0, end) for i, end in enumerate(shortened(lengths, room))]], None

    def _split(self, index: int, room: int) -> tuple[list[list[Stretch]], np.ndarray]:
        *whole, (last, *_) = self._whole(index)
        room -= sum(end for *_, end in whole)
        if room < 1:
            larger = self.form.larger_limit()
            raise InputError(
                f"{self.name_of(index)}: in {self.form.limit} tokens, special tokens included, the "
                f"question leaves no room; choices: {larger and larger + ', or '}a shorter question"
            )
        spans, owners = cut_windows(self.sentences[last].words[index], room)
        return [[*whole, (last, begin, end)] for begin, end in spans.tolist()], owners

    def _windows(self, index: int, room: int) -> tuple[list[list[Stretch]], None]:
        question, passage = (int(column.tokens.lengths[index]) for column in self.sentences)
        kept = min(question, self.form.longest_question)
        if kept >= room:
            larger = self.form.larger_limit()
            choices = f"{larger and larger + ', or '}a smaller --max-query-length"
            raise InputError(
                f"{self.name_of(index)} has a question of {kept} wordpieces: in "
                f"{self.form.limit} tokens, special tokens included, nothing of its passage "
                f"has room; choices: {choices}"
            )
        windows = stride_windows(passage, room - kept, self.form.stride).tolist()
        return [[(0, 0, kept), (1, begin, end)] for begin, end in windows], None

    def _row(self, index: int, parts: list[Stretch]) -> tuple[np.ndarray, ...]:
        """Return tokens and segments (S,), and with features factors (S, F), of a row."""
        row = self.form.row
        texts = [self.sentences[number].tokens[index][begin:end] for number, begin, end in parts]
        pieces: list[Any] = row.frame(self.form.cls, self.form.sep, len(parts))
        for place, text in enumerate(texts):
            pieces.insert(2 * place + 1, text)
        tokens = np.concatenate(pieces, dtype=np.int64)  # (S,)
        segments = np.zeros(len(tokens), dtype=np.int64)  # (S,)
        segments[row.border(len(texts[0])) :] = 1
        if not self.columns:
            return tokens, segments
        factors = np.full((len(tokens), len(self.columns)), SPECIAL_ID, dtype=np.int64)
        before = 0
        for place, (number, begin, end) in enumerate(parts):
            at = row.begin(place, before)
            factors[at : at + end - begin] = self._features(number, index)[begin:end]
            before += end - begin
        return tokens, segments, factors

    def _features(self, number: int, index: int) -> np.ndarray:
        """Return the feature ids of a sentence's wordpieces, (S, F)."""
        return np.stack(self.sentences[number].of_row(self.columns, index), axis=1)  # (S, F)

    def _word_places(
        self, index: int, lengths: list[int], rows: list[list[Stretch]], owners: np.ndarray | None
    ) -> np.ndarray:
        """Return the begin of each word among all tokens of the example, (W,)."""
        *asked, column = self.sentences
        starts = np.flatnonzero(word_begins(column.words[index]))  # (W,)
        question = sum(int(one.tokens.lengths[index]) for one in asked)  # repeated in every row
        starts += self.form.row.begin(len(asked), question)
        if owners is None:
            return starts
        before = np.cumsum([0, *lengths[:-1]])  # (K,) tokens in earlier rows
        begins = np.array([parts[-1][1] for parts in rows])  # (K,)
        return before[owners] + starts - begins[owners]  # (W,)


def _count(words: np.ndarray) -> int:
    """Return the number of words of wordpieces; words are counted from 0."""
    return int(words[-1]) + 1 if len(words) else 0


def joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return several arrays as one."""
    return np.concatenate(arrays) if len(arrays) > 1 else arrays[0]


_NO_WORD = -1

"""The feature streams of a split: read as rows (S, F), and checked against their tokens.

Trees stand there as two numbers a token, its word's and that of the word's head
(`syntax.tree`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import ConcatDataset, Dictionary
from torch import Tensor

from ..errors import InputError
from ..messages import named
from ..syntax.labels import PAD_ID
from ..syntax.layers import TREE, Layer
from ..syntax.needs import UNCONTROLLED, Controls
from ..syntax.rows import AGAIN, Rows, check_ids, stream_exists, stream_layout, stream_values
from ..syntax.tree import NO_WORD, first_bad_sentence, shortened_columns
from .controlled_columns import controlled_columns
from .streams import read_stream, stream_prefix

ROWS_AT_ONCE = 100_000  # of trees that are checked together


@dataclass(frozen=True, eq=False)
class FactorStreams:
    """Rows of feature ids, one column a feature and two a parse tree (`Layer.columns`)."""

    streams: Sequence[Any]  # one dataset a column, all of one length
    layers: Sequence[Layer]  # whose columns they are
    limit: int | None = None  # see `cut_row`
    ablate: Callable[[Tensor, int], Tensor] | None = None  # called with a row and its number

    def __len__(self) -> int:
        return len(self.streams[0])

    def __getitem__(self, index: int) -> Tensor:
        """Return row ``index``, (S, F)."""
        row = torch.stack([stream[index] for stream in self.streams], dim=-1)  # (S, F)
        row = cut_row(row, self.limit, self.layers)
        return row if self.ablate is None else self.ablate(row, int(index))


def cut_row(row: Tensor, limit: int | None, layers: Iterable[Layer]) -> Tensor:
    """Shorten a row (S, F) that is longer than ``limit``; it ends in the ids of ``</s>`` again."""
    if limit is None or len(row) <= limit:
        return row
    cut, begin = row[:limit].clone(), 0
    for layer in layers:
        own = slice(begin, begin + len(layer.columns))
        cut[-1, own] = layer.end
        if layer.enters == TREE:
            left = shortened_columns(*row[:, own].T.tolist(), length=limit - 1)
            cut[:-1, own] = torch.tensor(left).T
        begin = own.stop
    return cut


def split_parts(folder: Path, split: str, pair: str, source: str, *, combine: bool) -> list[str]:
    """Return the parts of a split, as fairseq names them: ``train``, then ``train1`` and so on.

    Raises:
        FileNotFoundError: there is no such split.
    """
    parts = [split]
    if not stream_exists(stream_prefix(folder, split, pair, source)):
        held = sorted({p.name.split(".")[0] for p in folder.glob(f"*.{pair}.{source}.idx")})
        raise FileNotFoundError(
            f"{folder} has no split {split!r} ({split}.{pair}.{source}.bin and .idx); "
            f"splits: {named(held)}"
        )
    while combine:
        part = f"{split}{len(parts)}"
        if not stream_exists(stream_prefix(folder, part, pair, source)):
            break
        parts.append(part)
    return parts


def open_factors(
    folder: Path,
    parts: Sequence[str],
    pair: str,
    source: str,
    layers: Iterable[Layer],
    *,
    upsample_primary: int = 1,
    controls: Controls = UNCONTROLLED,
) -> list[Any]:
    """Open the streams of layers of a split, its parts joined as fairseq joins the tokens.

    The first of ``parts`` (see `split_parts`) is taken ``upsample_primary`` times. ``controls`` say
    what is given in the place of layers.
    """
    layers, opened, by_part = [*layers], [], []
    names = [name for layer in layers for name in layer.columns]
    for part in parts:
        prefixes = {name: stream_prefix(folder, part, pair, f"{source}.{name}") for name in names}
        streams = {name: read_stream(prefix) for name, prefix in prefixes.items()}
        if controls.said:
            columns = {name: Rows.read(prefix) for name, prefix in prefixes.items()}
            streams |= controlled_columns(columns, layers, controls, part)
        by_part.append(streams)
    for name in names:
        datasets = [streams[name] for streams in by_part]
        ratios = [upsample_primary] + [1] * (len(parts) - 1)
        opened.append(datasets[0] if len(parts) == 1 else ConcatDataset(datasets, ratios))
    return opened


def controlled_row(row: Tensor, layers: Iterable[Layer], controls: Controls) -> Tensor:
    """Return the row (S, F) of a raw sentence under controls, which may draw nothing."""
    if not controls.said:
        return row
    layers = [*layers]
    names = [name for layer in layers for name in layer.columns]
    lengths = np.array([len(row)])
    columns = {name: Rows(column.numpy(), lengths) for name, column in zip(names, row.T)}
    found = controlled_columns(columns, layers, controls, "")
    changed = [found[name][0] if name in found else row[:, k] for k, name in enumerate(names)]
    return torch.stack(changed, dim=-1)


def check_split(
    folder: Path,
    split: str,
    pair: str,
    source: str,
    layers: Iterable[Layer],
    *,
    lines: int | None = None,
    dictionaries: Mapping[str, Dictionary] | None = None,
    target_layers: Iterable[Layer] = (),
) -> None:
    """Refuse a split whose streams disagree, before fairseq opens any of them.

    Args:
        folder, split: the prepared folder; the split, or a part of one.
        pair, source: language pair in file names; source language.
        layers, lines: those that the folder holds; number of lines the manifest promises.
        dictionaries: language -> its dictionary, of those whose tokens are checked.
        target_layers: those that the folder holds of the target.

    Raises:
        FileNotFoundError: a stream is missing.
        InputError: rows, lengths or ids that do not fit; names file, line and both values.
    """
    source_prefix = stream_prefix(folder, split, pair, source)
    sizes, _ = _read(source_prefix)
    if lines is not None and lines != len(sizes):
        raise InputError(f"{source_prefix} holds {len(sizes)} lines, but the manifest says {lines}")
    (target,) = {*pair.split("-")} - {source}
    target_prefix = stream_prefix(folder, split, pair, target)
    if any(Path(f"{target_prefix}.{ext}").is_file() for ext in ("bin", "idx")):
        _check_rows(target_prefix, len(_read(target_prefix)[0]), source_prefix, len(sizes))
    for language, dictionary in (dictionaries or {}).items():
        _check_tokens(stream_prefix(folder, split, pair, language), language, dictionary)
    for layer in layers:
        _check_layer(layer, source_prefix, sizes)
    for layer in target_layers:
        _check_layer(layer, target_prefix, _read(target_prefix)[0])


def _check_layer(layer: Layer, source: Path, sizes: np.ndarray) -> None:
    """Refuse streams of a layer that do not fit the tokens ``source``, or hold what it has not."""
    columns = []
    for name in layer.columns:
        prefix = Path(f"{source}.{name}")
        found, values = _read(prefix)
        columns.append(values)
        _check_rows(prefix, len(found), source, len(sizes))
        for row in np.flatnonzero(found != sizes)[:1]:
            raise InputError(
                f"{prefix}, line {row + 1}: {found[row]} ids for the {sizes[row]} tokens of "
                f"{source}; {AGAIN}"
            )
    if layer.enters == TREE:
        check_trees(f"{source}.{layer.columns[-1]}", *columns, sizes=sizes)
    else:
        prefix, bounds = Path(f"{source}.{layer.name}"), (PAD_ID + 1, len(layer.inventory))
        check_ids(prefix, columns[0], sizes, bounds, f"value of feature {layer.name!r}")


def _read(prefix: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the row lengths (N,) and all ids, memory-mapped, of a stream."""
    sizes, dtype = stream_layout(prefix)
    return sizes, stream_values(prefix, dtype)


def _check_rows(prefix: Path, found: int, other: Path, wanted: int) -> None:
    if found != wanted:
        raise InputError(f"{prefix} holds {found} lines, but {other} holds {wanted}")


def _check_tokens(prefix: Path, language: str, dictionary: Dictionary) -> None:
    """Refuse ids that the dictionary lacks or that pad, and lines that do not end in ``</s>``."""
    if not stream_exists(prefix):
        return
    sizes, ids = _read(prefix)
    end = dictionary.eos()
    check_ids(prefix, ids, sizes, (end, len(dictionary)), f"token of dict.{language}.txt")
    for row in np.flatnonzero(sizes < 1)[:1]:
        raise InputError(f"{prefix}, line {row + 1}: holds nothing, not even </s>; {AGAIN}")
    for row in np.flatnonzero(ids[np.cumsum(sizes, dtype=np.int64) - 1] != end)[:1]:
        raise InputError(f"{prefix}, line {row + 1}: does not end in </s>; {AGAIN}")


def check_trees(what: str, words: np.ndarray, heads: np.ndarray, sizes: np.ndarray) -> None:
    """Refuse columns that are no trees.

    Args:
        what: their place, for the message.
        words, heads: numbers of the words of all tokens, line after line, and of their heads, (N,).
        sizes: tokens in each line, ``</s>`` included; they sum to N.

    Raises:
        InputError: names the first line that is wrong.
    """
    begin = 0
    for first in range(0, len(sizes), ROWS_AT_ONCE):
        part = sizes[first : first + ROWS_AT_ONCE].astype(np.int64)
        end = begin + int(part.sum())
        columns = [np.asarray(column[begin:end], np.int64) for column in (words, heads)]
        _check_lines(what, *columns, sizes=part, done=first)
        begin = end


def _check_lines(
    what: str, words: np.ndarray, heads: np.ndarray, sizes: np.ndarray, done: int
) -> None:
    """Check some lines; ``done`` came before them."""
    line_of = np.repeat(np.arange(len(sizes)), sizes)  # (N,)
    last = np.cumsum(sizes) - 1  # places of </s>
    steps = np.diff(words, prepend=0)  # (N,)
    steps[last[:-1] + 1] = words[last[:-1] + 1]
    firsts = (steps == 1) & (words != NO_WORD)
    wrong = (steps < 0) | (steps > 1)  # numbers leave out words, or go back
    wrong[last] = words[last] != NO_WORD
    wrong |= (words == NO_WORD) != (heads == NO_WORD)
    heads_of_words = heads[firsts]  # (words of all lines,)
    within = ~firsts & (words != NO_WORD) & ~wrong
    wrong[within] |= (heads != np.roll(heads, 1))[within]  # one word, two heads
    for place in np.flatnonzero(wrong)[:1]:
        raise InputError(
            f"{what}, line {done + line_of[place] + 1}: word {words[place]} with head "
            f"{heads[place]} does not fit in with the tokens before it; {AGAIN}"
        )
    roots = heads_of_words == words[firsts]
    numbers = np.where(roots, 0, heads_of_words)
    counts = np.bincount(line_of[firsts], minlength=len(sizes))
    if bad := first_bad_sentence(numbers, counts):
        line, error = bad
        raise InputError(f"{what}, line {done + line + 1}: {error}; {AGAIN}")

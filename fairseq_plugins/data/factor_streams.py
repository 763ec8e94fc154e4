"""The feature streams of a split: read as rows (S, F), and checked against their tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import ConcatDataset, Dictionary
from torch import Tensor

from ..messages import named
from ..syntax.labels import PAD_ID
from ..syntax.layers import TREE, Layer
from ..syntax.tree import shortened_columns
from .streams import (
    AGAIN,
    check_ids,
    read_stream,
    stream_exists,
    stream_layout,
    stream_prefix,
    stream_values,
)
from .subword_trees import check_trees


class FactorStreams:
    """Rows of feature ids, one column a feature and two a parse tree (`Layer.columns`).

    Args:
        streams: one dataset a column, all of one length.
        layers: whose columns they are.
        limit: longest row; a longer one is cut, and ends in the ids of ``</s>`` again.
        ablate: called with a row and its number.
    """

    def __init__(
        self,
        streams: Sequence[Any],
        layers: Iterable[Layer],
        *,
        limit: int | None = None,
        ablate: Callable[[Tensor, int], Tensor] | None = None,
    ) -> None:
        self.streams = list(streams)
        self.layers = list(layers)
        self.limit = limit
        self.ablate = ablate

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.streams[0])

    def __getitem__(self, index: int) -> Tensor:
        """Return row ``index``, (S, F)."""
        row = torch.stack([stream[index] for stream in self.streams], dim=-1)  # (S, F)
        row = cut_row(row, self.limit, self.layers)
        return row if self.ablate is None else self.ablate(row, int(index))


def cut_row(row: Tensor, limit: int | None, layers: Iterable[Layer]) -> Tensor:
    """Shorten a row (S, F) to ``limit``, its ``</s>`` included, if it is longer; see above."""
    if limit is None or len(row) <= limit:
        return row
    cut, begin = row[:limit].clone(), 0
    for layer in layers:
        own = slice(begin, begin + len(layer.columns))
        cut[-1, own] = layer.end
        if layer.enters == TREE:
            left = shortened_columns(*row[:, own].T.tolist(), limit - 1)
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
) -> list[Any]:
    """Open the streams of layers of a split, its parts joined as fairseq joins the tokens.

    Args:
        folder: the prepared folder.
        parts: what `split_parts` returned.
        pair: language pair in file names.
        source: source language.
        layers: those that are wanted.
        upsample_primary: how often the first part is taken.
    """
    opened = []
    for name in (name for layer in layers for name in layer.columns):
        datasets = [
            read_stream(stream_prefix(folder, part, pair, f"{source}.{name}")) for part in parts
        ]
        ratios = [upsample_primary] + [1] * (len(parts) - 1)
        opened.append(datasets[0] if len(parts) == 1 else ConcatDataset(datasets, ratios))
    return opened


def check_split(
    folder: Path,
    split: str,
    pair: str,
    source: str,
    layers: Iterable[Layer],
    *,
    lines: int | None = None,
    dictionaries: Mapping[str, Dictionary] | None = None,
) -> None:
    """Refuse a split whose streams disagree, before fairseq opens any of them.

    Args:
        folder: the prepared folder.
        split: the split, or a part of one.
        pair: language pair in file names.
        source: source language.
        layers: those that the folder holds.
        lines: number of lines the manifest promises.
        dictionaries: language -> its dictionary, of those whose tokens are checked.

    Raises:
        FileNotFoundError: a stream is missing.
        ValueError: rows, lengths or ids that do not fit; names file, line and both values.
    """
    source_prefix = stream_prefix(folder, split, pair, source)
    sizes, _ = _read(source_prefix)
    if lines is not None and lines != len(sizes):
        raise ValueError(f"{source_prefix} holds {len(sizes)} lines, but the manifest says {lines}")
    target_prefix = stream_prefix(folder, split, pair, _other(pair, source))
    if any(Path(f"{target_prefix}.{ext}").is_file() for ext in ("bin", "idx")):
        _check_rows(target_prefix, len(_read(target_prefix)[0]), source_prefix, len(sizes))
    for language, dictionary in (dictionaries or {}).items():
        _check_tokens(stream_prefix(folder, split, pair, language), language, dictionary)
    for layer in layers:
        _check_layer(layer, source_prefix, sizes)


def _check_layer(layer: Layer, source: Path, sizes: np.ndarray) -> None:
    """Refuse the streams of a layer that do not fit the tokens, or that hold what it has not.

    Args:
        layer: the layer.
        source: of the tokens, without extension.
        sizes: tokens in each line.
    """
    columns = []
    for name in layer.columns:
        prefix = Path(f"{source}.{name}")
        found, values = _read(prefix)
        columns.append(values)
        _check_rows(prefix, len(found), source, len(sizes))
        for row in np.flatnonzero(found != sizes)[:1]:
            raise ValueError(
                f"{prefix}, line {row + 1}: {found[row]} ids for the {sizes[row]} tokens of "
                f"{source}; {AGAIN}"
            )
    if layer.enters == TREE:
        check_trees(str(prefix), *columns, sizes)
    else:
        bounds = (PAD_ID + 1, len(layer.inventory))
        check_ids(prefix, columns[0], sizes, bounds, f"value of feature {layer.name!r}")


def _other(pair: str, source: str) -> str:
    first, second = pair.split("-")
    return second if source == first else first


def _read(prefix: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the row lengths (N,) and all ids, memory-mapped, of a stream."""
    sizes, dtype = stream_layout(prefix)
    return sizes, stream_values(prefix, dtype)


def _check_rows(prefix: Path, found: int, other: Path, wanted: int) -> None:
    if found != wanted:
        raise ValueError(f"{prefix} holds {found} lines, but {other} holds {wanted}")


def _check_tokens(prefix: Path, language: str, dictionary: Dictionary) -> None:
    """Refuse ids that the dictionary lacks or that pad, and lines that do not end in ``</s>``."""
    if not stream_exists(prefix):
        return
    sizes, ids = _read(prefix)
    end = dictionary.eos()
    check_ids(prefix, ids, sizes, (end, len(dictionary)), f"token of dict.{language}.txt")
    for row in np.flatnonzero(sizes < 1)[:1]:
        raise ValueError(f"{prefix}, line {row + 1}: holds nothing, not even </s>; {AGAIN}")
    for row in np.flatnonzero(ids[np.cumsum(sizes, dtype=np.int64) - 1] != end)[:1]:
        raise ValueError(f"{prefix}, line {row + 1}: does not end in </s>; {AGAIN}")

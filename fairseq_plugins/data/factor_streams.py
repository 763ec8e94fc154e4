"""The feature streams of a split: read as rows (S, F), and checked against their tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq.data import ConcatDataset
from torch import Tensor

from ..messages import named
from ..syntax.labels import PAD_ID, SPECIAL_ID, Inventory
from ..syntax.subword_tree import COLUMNS, NO_WORD, shortened_columns
from .streams import read_stream, stream_exists, stream_prefix
from .subword_trees import check_trees


class FactorStreams:
    """Rows of feature ids, one column a feature; a parse tree is two columns more at the end.

    Args:
        streams: one dataset a column, all of one length.
        tree: whether the last two are those of a tree (`syntax.subword_tree`).
        limit: longest row; a longer one is cut, and ends in the id of ``</s>`` again.
        ablate: called with a row and its number.
    """

    def __init__(
        self,
        streams: Sequence[Any],
        *,
        tree: bool = False,
        limit: int | None = None,
        ablate: Callable[[Tensor, int], Tensor] | None = None,
    ) -> None:
        self.streams = list(streams)
        self.tree = tree
        self.limit = limit
        self.ablate = ablate

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.streams[0])

    def __getitem__(self, index: int) -> Tensor:
        """Return row ``index``, (S, F)."""
        row = torch.stack([stream[index] for stream in self.streams], dim=-1)  # (S, F)
        row = cut_row(row, self.limit, tree=self.tree)
        return row if self.ablate is None else self.ablate(row, int(index))


def cut_row(row: Tensor, limit: int | None, *, tree: bool) -> Tensor:
    """Shorten a row (S, F) to ``limit``, its ``</s>`` included, if it is longer; see above."""
    if limit is None or len(row) <= limit:
        return row
    cut = row[:limit].clone()
    cut[-1] = SPECIAL_ID
    if tree:
        words, heads = row[:, -len(COLUMNS) :].T.tolist()
        left = shortened_columns(words, heads, limit - 1)
        cut[-1, -len(COLUMNS) :] = NO_WORD
        cut[:-1, -len(COLUMNS) :] = torch.tensor(left).T
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
    columns: Sequence[str],
    *,
    upsample_primary: int = 1,
) -> list[Any]:
    """Open the feature and tree streams of a split, its parts joined as fairseq joins the tokens.

    Args:
        folder: the prepared folder.
        parts: what `split_parts` returned.
        pair: language pair in file names.
        source: source language.
        columns: names of the streams.
        upsample_primary: how often the first part is taken.
    """
    opened = []
    for feature in columns:
        datasets = [
            read_stream(stream_prefix(folder, part, pair, f"{source}.{feature}")) for part in parts
        ]
        ratios = [upsample_primary] + [1] * (len(parts) - 1)
        opened.append(datasets[0] if len(parts) == 1 else ConcatDataset(datasets, ratios))
    return opened


def check_split(
    folder: Path,
    split: str,
    pair: str,
    source: str,
    inventories: Mapping[str, Inventory],
    *,
    tree: bool = False,
    lines: int | None = None,
) -> None:
    """Refuse a split whose streams disagree.

    Args:
        folder: the prepared folder.
        split: the split, or a part of one.
        pair: language pair in file names.
        source: source language.
        inventories: feature -> its inventory.
        tree: whether there are parse trees, too.
        lines: number of lines the manifest promises.

    Raises:
        FileNotFoundError: a stream is missing.
        ValueError: rows, lengths or ids that do not fit; names file, line and both values.
    """
    source_prefix = stream_prefix(folder, split, pair, source)
    sizes, _ = _read(source_prefix)
    if lines is not None and lines != len(sizes):
        raise ValueError(f"{source_prefix} holds {len(sizes)} lines, but the manifest says {lines}")
    target_prefix = stream_prefix(folder, split, pair, _other(pair, source))
    if stream_exists(target_prefix):
        _check_rows(target_prefix, len(_read(target_prefix)[0]), source_prefix, len(sizes))
    columns = {}
    for name in (*inventories, *(COLUMNS if tree else ())):
        prefix = stream_prefix(folder, split, pair, f"{source}.{name}")
        found, columns[name] = _read(prefix)
        _check_rows(prefix, len(found), source_prefix, len(sizes))
        for row in np.flatnonzero(found != sizes)[:1]:
            raise ValueError(
                f"{prefix}, line {row + 1}: {found[row]} ids for the {sizes[row]} tokens of "
                f"{source_prefix}; prepare the folder again"
            )
    for name, inventory in inventories.items():
        prefix = stream_prefix(folder, split, pair, f"{source}.{name}")
        _check_ids(prefix, columns[name], sizes, inventory)
    if tree:
        prefix = stream_prefix(folder, split, pair, f"{source}.heads")
        check_trees(str(prefix), *(columns[name] for name in COLUMNS), sizes)


def _other(pair: str, source: str) -> str:
    first, second = pair.split("-")
    return second if source == first else first


def _read(prefix: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the row lengths (N,) and all ids, memory-mapped, of a stream."""
    stream = read_stream(prefix)
    sizes = np.array(stream.sizes)  # (N,)
    dtype = np.dtype(stream._index.dtype)
    binary = Path(f"{prefix}.bin")
    promised, found = int(sizes.sum(dtype=np.int64)) * dtype.itemsize, binary.stat().st_size
    if promised != found:
        raise ValueError(f"{binary} has {found} bytes, but its index says {promised}")
    return sizes, np.memmap(binary, dtype=dtype, mode="r") if found else np.empty(0, dtype)


def _check_rows(prefix: Path, found: int, other: Path, wanted: int) -> None:
    if found != wanted:
        raise ValueError(f"{prefix} holds {found} lines, but {other} holds {wanted}")


def _check_ids(prefix: Path, ids: np.ndarray, sizes: np.ndarray, inventory: Inventory) -> None:
    if not len(ids) or (ids.max() < len(inventory) and ids.min() > PAD_ID):
        return
    at = int(np.flatnonzero((ids >= len(inventory)) | (ids <= PAD_ID))[0])
    row = int(np.searchsorted(np.cumsum(sizes), at, side="right"))
    raise ValueError(
        f"{prefix}, line {row + 1}: id {ids[at]} is no value of feature {inventory.name!r}, whose "
        f"ids are {PAD_ID + 1} to {len(inventory) - 1}"
    )

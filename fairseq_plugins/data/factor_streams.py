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
from ..syntax.controls import UNCONTROLLED, Controls
from ..syntax.layer import Layer
from ..syntax.rows import AGAIN, Rows, check_ids, stream_exists, stream_layout, stream_values
from .streams import read_stream, stream_prefix


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
    columns = row.T.tolist()
    cut: list[list[int]] = []
    for layer in layers:
        own = columns[len(cut) : len(cut) + len(layer.columns)]
        cut += [[*column, layer.end] for column in layer.shortened(own, limit - 1)]
    return torch.tensor(cut).T


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
            changed = controlled_columns(columns, layers, controls, part)
            streams |= {name: LineStream(rows) for name, rows in changed.items()}
        by_part.append(streams)
    for name in names:
        datasets = [streams[name] for streams in by_part]
        ratios = [upsample_primary] + [1] * (len(parts) - 1)
        opened.append(datasets[0] if len(parts) == 1 else ConcatDataset(datasets, ratios))
    return opened


def controlled_columns(
    columns: Mapping[str, Rows], layers: Sequence[Layer], controls: Controls, key: str
) -> dict[str, Any]:
    """Return the columns that change under controls; see `Layer.controlled_columns`.

    Values of words are exchanged by words: those that the trees tell of, or else the layer of the
    subwords' places in their words; in a folder with neither, each subword is a word.
    """
    known = (layer.begins(columns) for layer in reversed(layers))  # trees come last
    begins = next((found for found in known if found is not None), True)
    changed: dict[str, Any] = {}
    for layer in layers:
        changed |= layer.controlled_columns(columns, begins, controls, key)
    return changed


@dataclass(frozen=True, eq=False)
class LineStream:
    """Rows as fairseq's datasets give them."""

    rows: Any

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Tensor:
        """Return the ids of a line, (S,)."""
        return _as_ids(self.rows[index])


def _as_ids(row: np.ndarray) -> Tensor:
    return torch.from_numpy(np.array(row, dtype=np.int64))


def controlled_row(row: Tensor, layers: Iterable[Layer], controls: Controls) -> Tensor:
    """Return the row (S, F) of a raw sentence under controls, which may draw nothing."""
    if not controls.said:
        return row
    layers = [*layers]
    names = [name for layer in layers for name in layer.columns]
    lengths = np.array([len(row)])
    columns = {name: Rows(column.numpy(), lengths) for name, column in zip(names, row.T)}
    columns |= controlled_columns(columns, layers, controls, "")
    return torch.stack([_as_ids(columns[name][0]) for name in names], dim=-1)


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
    layer.check_columns(source, columns, sizes)


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

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
from ..syntax.rows import Rows, check_count, check_lengths, refuse, stream_exists, stream_layout
from .streams import stream_prefix


@dataclass(frozen=True, eq=False)
class FactorStreams:
    """Rows of feature ids, one column a feature and two a parse tree (`Layer.columns`)."""

    streams: Sequence[Any]  # the rows of each column, all of one length
    layers: Sequence[Layer]  # whose columns they are
    limit: int | None = None  # see `cut_row`
    ablate: Callable[[Tensor, int], Tensor] | None = None  # called with a row and its number

    def __len__(self) -> int:
        return len(self.streams[0])

    def __getitem__(self, index: int) -> Tensor:
        """Return row ``index``, (S, F)."""
        columns = [stream[index] for stream in self.streams]
        row = torch.from_numpy(np.stack(columns, axis=-1).astype(np.int64))  # (S, F)
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
    return torch.tensor(cut, dtype=torch.long).reshape(len(cut), limit).T  # (limit, F)


def split_parts(folder: Path, split: str, pair: str, source: str, *, combine: bool) -> list[str]:
    """Return the parts of a split, as fairseq names them: ``train``, then ``train1`` and so on."""
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
        columns = {name: Rows.read(prefix, mapped=True) for name, prefix in prefixes.items()}
        by_part.append(controlled_columns(columns, layers, controls, part))
    for name in names:
        datasets = [columns[name] for columns in by_part]
        ratios = [upsample_primary] + [1] * (len(parts) - 1)
        opened.append(datasets[0] if len(parts) == 1 else ConcatDataset(datasets, ratios))
    return opened


def controlled_columns(
    columns: Mapping[str, Rows], layers: Sequence[Layer], controls: Controls, key: str
) -> dict[str, Any]:
    """Return columns as they are under controls; see `Layer.controlled`.

    Values of words are exchanged by words: those that the trees tell of, or else the layer of the
    subwords' places in their words; in a folder with neither, each subword is a word.
    """
    found: dict[str, Any] = dict(columns)
    if controls.said:
        known = (layer.begins(columns) for layer in reversed(layers))  # trees come last
        begins = next((found for found in known if found is not None), True)
        for layer in layers:
            found |= layer.controlled(columns, begins, controls, key)
    return found


def controlled_row(row: Tensor, layers: Sequence[Layer], controls: Controls) -> Tensor:
    """Return the row (S, F) of a raw sentence under controls, which may draw nothing."""
    names = [name for layer in layers for name in layer.columns]
    lengths = np.array([len(row)])
    columns = {name: Rows(column.numpy(), lengths) for name, column in zip(names, row.T)}
    streams = [*controlled_columns(columns, layers, controls, "").values()]
    return FactorStreams(streams, layers)[0] if controls.said else row


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
    """
    (target,) = {*pair.split("-")} - {source}
    prefixes = [stream_prefix(folder, split, pair, language) for language in (source, target)]
    tokens = Rows.read(prefixes[0], mapped=True)
    if lines is not None and lines != len(tokens):
        raise InputError(f"{prefixes[0]} holds {len(tokens)} lines, but the manifest says {lines}")
    if any(Path(f"{prefixes[1]}.{ext}").is_file() for ext in ("bin", "idx")):
        check_count(prefixes[1], Rows.read(prefixes[1], mapped=True), len(tokens))
    for language, dictionary in (dictionaries or {}).items():
        _check_tokens(stream_prefix(folder, split, pair, language), language, dictionary)
    for prefix, own in zip(prefixes, (layers, target_layers)):
        for layer in own:
            _check_layer(layer, prefix)


def _check_layer(layer: Layer, tokens: Path) -> None:
    """Refuse streams of a layer that do not fit the tokens, or hold what it has not."""
    columns, sizes = [], stream_layout(tokens)[0]
    for name in layer.columns:
        columns.append(Rows.read(Path(f"{tokens}.{name}"), mapped=True))
        check_lengths(f"{tokens}.{name}", columns[-1], sizes, row="line")
    words = columns[0] if columns[1:] else None
    layer.checked(f"{tokens}.{layer.columns[-1]}", columns[-1], words=words)


def _check_tokens(prefix: Path, language: str, dictionary: Dictionary) -> None:
    """Refuse ids that the dictionary lacks or that pad, and lines that do not end in ``</s>``."""
    if not stream_exists(prefix):
        return
    rows, end = Rows.read(prefix, mapped=True), dictionary.eos()
    rows.check(prefix, len(dictionary), f"token of dict.{language}.txt", end)
    refuse(prefix, rows.lengths < 1, "holds nothing, not even </s>", row="line")
    refuse(prefix, rows.values[rows.ends - 1] != end, "does not end in </s>", row="line")

"""Sides of parallel text: their layers in a split, read and checked, and as rows (S, F)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from fairseq.data import ConcatDataset, Dictionary
from torch import Tensor

from ..errors import InputError
from ..messages import named
from ..syntax.controls import UNCONTROLLED, Controls
from ..syntax.forms import PLAIN, Form
from ..syntax.layer import Layer
from ..syntax.rows import Rows, check_count, refuse, stream_exists
from .older_streams import OlderStreams
from .streams import stream_prefix
from .text_columns import TOKENS, SentenceColumns
from .translation_manifest import TranslationManifest


@dataclass(frozen=True, eq=False)
class FactorRows(Sequence[Tensor]):
    """The features of sentences' tokens, one column per feature and two per tree (`Layer.of_row`).

    Args:
        columns, layers: the sentences; the layers of the rows' columns.
        limit: most tokens of a row, which always ends in ``</s>``; None for any number.
        around: numbers of symbols before and after the subwords, see `syntax.forms`.
    """

    columns: SentenceColumns
    layers: Sequence[Layer]
    limit: int | None = None
    around: tuple[int, int] = PLAIN.sizes

    def __len__(self) -> int:
        return len(self.columns.words)

    def __getitem__(self, index: int) -> Tensor:
        """Return row ``index``, (S, F)."""
        words, length = self.columns.words.lengths[index], None
        begin, added = self.around[0], sum(self.around)
        if self.limit is not None and words + added > self.limit:
            words = length = self.limit - added
        row = np.empty((words + added, len(self._ends)), np.int64)
        row[:] = self._ends
        for place, column in enumerate(self.columns.of_row(self.layers, index, length)):
            row[begin : begin + words, place] = column
        return torch.from_numpy(row)

    @cached_property
    def _ends(self) -> list[int]:
        return [layer.end for layer in self.layers for _ in range(layer.width)]


def split_parts(
    folder: Path, manifest: TranslationManifest, split: str, *, combine: bool
) -> list[str]:
    """Return the parts of a split, named as in fairseq: ``train``, then ``train1`` and so on."""
    parts, pair, source = [split], manifest.pair, manifest.source_lang
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


def read_side(
    folder: Path,
    manifest: TranslationManifest,
    part: str,
    layers: Sequence[Layer],
    *,
    of_target: bool = False,
    controls: Controls = UNCONTROLLED,
) -> SentenceColumns:
    """Read the layers of a side of a split, or of a part, and check them against its tokens.

    ``controls`` replace layers.
    """
    language = manifest.target_lang if of_target else manifest.source_lang
    prefix = stream_prefix(folder, part, manifest.pair, language)
    around = manifest.form("target" if of_target else "source").sizes

    def take(name: str) -> tuple[object, Rows]:
        path = prefix if name == TOKENS else Path(f"{prefix}.{name}")
        rows = Rows.read(path, mapped=True)
        return path, rows.inner(*around) if name == TOKENS else rows

    how = {"row": "line", "first_word": 1}
    found = SentenceColumns.fitted(
        take if manifest.by_word else OlderStreams(prefix, layers), layers, **how
    )
    return found.controlled(layers, controls, part)


def open_rows(
    folder: Path,
    manifest: TranslationManifest,
    parts: Sequence[str],
    layers: Sequence[Layer],
    *,
    limit: int | None = None,
    upsample_primary: int = 1,
    **how: Any,
) -> Any:
    """Open the rows of a side of a split, its parts joined as fairseq joins the tokens.

    The first of ``parts`` (see `split_parts`) is taken ``upsample_primary`` times. The result is
    None without layers. ``limit`` is that of `FactorRows`, ``how`` as in `read_side`.
    """
    if not layers:
        return None
    sides = (read_side(folder, manifest, part, layers, **how) for part in parts)
    around = manifest.form("target" if how.get("of_target") else "source").sizes
    rows = [FactorRows(side, layers, limit, around) for side in sides]
    ratios = [upsample_primary] + [1] * (len(rows) - 1)
    return rows[0] if len(rows) == 1 else ConcatDataset(rows, ratios)


def check_tokens(
    folder: Path,
    manifest: TranslationManifest,
    part: str,
    dictionaries: Mapping[str, Dictionary] = MappingProxyType({}),
) -> None:
    """Refuse a split, or a part, whose sides disagree, before fairseq opens any side.

    Ids are checked for languages with ``dictionaries``.
    """
    languages = (manifest.source_lang, manifest.target_lang)
    source, target = (stream_prefix(folder, part, manifest.pair, one) for one in languages)
    tokens, lines = Rows.read(source, mapped=True), manifest.splits.get(part, {}).get("lines")
    if lines is not None and lines != len(tokens):
        raise InputError(f"{source} holds {len(tokens)} lines, but the manifest says {lines}")
    if any(Path(f"{target}.{ext}").is_file() for ext in ("bin", "idx")):
        check_count(target, Rows.read(target, mapped=True), len(tokens))
    for language, dictionary in dictionaries.items():
        form = manifest.form("source" if language == languages[0] else "target")
        _check_ids(stream_prefix(folder, part, manifest.pair, language), language, dictionary, form)


def _check_ids(prefix: Path, language: str, dictionary: Dictionary, form: Form) -> None:
    """Refuse ids outside the dictionary or of padding, and lines without their last symbol."""
    if not stream_exists(prefix):
        return
    rows, last = Rows.read(prefix, mapped=True), form.after[-1]
    rows.check(prefix, len(dictionary), f"token of dict.{language}.txt", dictionary.eos())
    refuse(prefix, rows.lengths < sum(form.sizes), f"holds nothing, not even {last}", row="line")
    wrong = rows.values[rows.ends - 1] != dictionary.index(last)
    refuse(prefix, wrong, f"does not end in {last}", row="line")

"""Gold values of a split: their form in a prepared folder and in a batch."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..errors import InputError
from ..messages import quoted
from ..syntax.rows import AGAIN, Rows, refuse
from ..text_reading import read_lines

if TYPE_CHECKING:
    from torch import Tensor

LABEL, SCORES = "label", "score.txt"  # a stream, a text file
NO_CLASS = -1
Written = tuple[dict[str, Rows], dict[str, list[str]]]  # streams, lines of text files


class Gold(ABC):
    """Gold values of a split's examples; some or all may be missing."""

    # STREAMS, TEXTS: names of their streams and text files
    STREAMS: ClassVar[tuple[str, ...]] = ()
    TEXTS: ClassVar[tuple[str, ...]] = ()
    of_words: ClassVar[bool] = False

    def __init__(self, values: Any, present: np.ndarray) -> None:
        self.values, self.present = values, present

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Any:
        """Return an example's value as a Python value; None if missing."""
        return self.values[index].tolist() if self.present[index] else None

    @cached_property
    def complete(self) -> bool:
        """Whether every example has its value."""
        return bool(self.present.all()) and len(self) > 0

    @classmethod
    @abstractmethod
    def read(cls, folder: Path, split: str, labels: int) -> Gold:
        """Read the values of a split, ids of ``labels`` labels."""

    @classmethod
    @abstractmethod
    def written(cls, gold: Sequence[Sequence[str] | None], ids: Mapping[str, int]) -> Written:
        """Return the streams and texts of a folder for the gold values of examples."""

    @classmethod
    def sizes(cls, labels: int) -> dict[str, int]:
        """Return the number of distinct numbers in each stream."""
        return dict.fromkeys(cls.STREAMS, labels)

    @abstractmethod
    def tensor(self, values: Sequence[Any]) -> Tensor:
        """Return values as a tensor of a batch."""


class WordIds(Gold):
    """Ids of labels, one or several for each word: ``values`` are rows, empty if missing."""

    STREAMS = (LABEL,)
    of_words = True

    def __init__(self, values: Rows) -> None:
        super().__init__(values, values.lengths > 0)

    @classmethod
    def read(cls, folder: Path, split: str, labels: int) -> Gold:
        return cls(cls.rows(folder / f"{split}.{LABEL}", labels))

    @staticmethod
    def rows(path: Path, labels: int) -> Rows:
        """Read a stream of ids of labels."""
        rows = Rows.read(path)
        rows.check(path, labels, "label of labels.txt")
        return rows

    @classmethod
    def written(cls, gold: Sequence[Sequence[str] | None], ids: Mapping[str, int]) -> Written:
        return {LABEL: Rows.of([ids[label] for label in row or ()] for row in gold)}, {}

    def tensor(self, values: Sequence[Any]) -> Tensor:
        """Return the ids of all words, (W,)."""
        import torch

        return torch.from_numpy(np.concatenate(values).astype(np.int64))


class ClassIds(Gold):
    """Ids of classes, (n,); `NO_CLASS` if missing."""

    STREAMS = (LABEL,)

    def __init__(self, values: np.ndarray) -> None:
        super().__init__(values, values != NO_CLASS)

    @classmethod
    def read(cls, folder: Path, split: str, labels: int) -> Gold:
        path = folder / f"{split}.{LABEL}"
        rows = WordIds.rows(path, labels)
        if rows.lengths.max(initial=0) > 1:
            raise InputError(f"{path}.bin holds several labels of one example; {AGAIN}")
        return cls(rows.lasts)

    written = WordIds.written

    def tensor(self, values: Sequence[Any]) -> Tensor:
        """Return the ids, (n,)."""
        import torch

        return torch.tensor(np.array(values), dtype=torch.int64)


class IdSets(Gold):
    """Sets of label ids in rows, empty if missing; the id ``labels`` is the empty set."""

    STREAMS = (LABEL,)

    def __init__(self, values: Rows, labels: int) -> None:
        super().__init__(values, values.lengths > 0)
        self.labels = labels

    def __getitem__(self, index: int) -> Any:
        ids = super().__getitem__(index)
        return [] if ids == [self.labels] else ids

    @classmethod
    def read(cls, folder: Path, split: str, labels: int) -> Gold:
        path = folder / f"{split}.{LABEL}"
        rows = WordIds.rows(path, labels + 1)
        wrong = [
            len({*row.tolist()}) < len(row) or (len(row) > 1 and labels in row) for row in rows
        ]
        refuse(path, np.array(wrong, dtype=bool), "has a label twice, or is empty beside labels")
        return cls(rows, labels)

    @classmethod
    def written(cls, gold: Sequence[Sequence[str] | None], ids: Mapping[str, int]) -> Written:
        """Return the stream of ids, each row in rising order."""
        rows = [
            [] if row is None else sorted(ids[one] for one in row) or [len(ids)] for row in gold
        ]
        return {LABEL: Rows.of(rows)}, {}

    @classmethod
    def sizes(cls, labels: int) -> dict[str, int]:
        """Return the number of labels, and the empty set."""
        return {LABEL: labels + 1}

    def tensor(self, values: Sequence[Any]) -> Tensor:
        """Return the labels of each example, 1 or 0, (n, C)."""
        import torch

        found = np.zeros((len(values), self.labels + 1), dtype=np.float32)
        for row, ids in zip(found, values):
            row[ids] = 1
        return torch.from_numpy(found[:, :-1].copy())


class Numbers(Gold):
    """Numbers, (n,); NaN if missing."""

    TEXTS = (SCORES,)

    def __init__(self, values: np.ndarray) -> None:
        super().__init__(values, ~np.isnan(values))

    @classmethod
    def read(cls, folder: Path, split: str, labels: int) -> Gold:
        """Read the numbers of a split, one per line."""
        path = folder / f"{split}.{SCORES}"
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; {AGAIN}")
        scores = []
        for number, line in enumerate(read_lines(path), 1):
            try:
                scores.append(float(line.strip() or "nan"))
            except ValueError:
                scores.append(math.nan)
            if line.strip() and not math.isfinite(scores[-1]):
                raise InputError(f"{path}:{number}: {quoted(line)} is no finite number")
        return cls(np.array(scores))

    @classmethod
    def written(cls, gold: Sequence[Sequence[str] | None], ids: Mapping[str, int]) -> Written:
        return {}, {SCORES: [str(float(row[0])) if row else "" for row in gold]}

    def tensor(self, values: Sequence[Any]) -> Tensor:
        """Return the numbers, (n,), in float64, which ``--fp16`` does not shorten."""
        import torch

        return torch.tensor(np.array(values), dtype=torch.float64)

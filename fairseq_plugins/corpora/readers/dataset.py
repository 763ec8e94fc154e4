"""What a dataset is: a task, its official files and how to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..examples import Example
from .split_file import Reading


def _none(path: Path) -> None:
    """Say that a file has no companion."""


@dataclass(frozen=True)
class Dataset:
    """A dataset in its official form.

    Args:
        name: what users call it.
        task: ``text_classification`` or ``sequence_labeling``.
        target: ``classes``, ``score`` or ``word_labels``.
        read: a split's file to examples.
        splits: our split name -> paths below the raw folder that may hold it; the first
            that exists counts.
        labels: closed set in id order; None: those of the training split, as `collect_labels`
            orders them.
        positive: the positive class, or the label of a wrong word; empty for none.
        metric: the headline metric, by its name in the logs.
        submission: split -> ``{"file": …, "labels": {ours: the server's}}``.
        companion: a split's file -> further file that its reader takes from beside it.
    """

    name: str
    task: str
    target: str
    read: Callable[[Reading], Iterator[Example]]
    splits: Mapping[str, tuple[str, ...]]
    labels: tuple[str, ...] | None
    positive: str
    metric: str
    submission: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    companion: Callable[[Path], Path | None] = _none


def below(folder: str, names: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Accept files in the raw folder itself and in ``folder`` within it."""
    return {
        split: (*files, *(f"{folder}/{name}" for name in files)) for split, files in names.items()
    }

"""A dataset: its task, its official files and their reader."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...targets.classes import CLASSES
from ...targets.target import Target
from ..examples import Example
from .split_file import SplitFile
from .tables import Table

Files = Mapping[str, tuple[str, ...]]  # split -> possible paths below the raw folder
Reader = Callable[[SplitFile], Iterator[Example]]
SPLITS = {"train": "train", "valid": "dev", "test": "test"}  # our names -> most files' names


@dataclass(frozen=True)
class Dataset:
    """A dataset in its official form; a new one is a new value of `GLUE`, `MATCHING`, `TAGGING`."""

    name: str  # for users
    splits: Files  # its files; of a split the first existing file counts
    tables: tuple[Table, ...] = ()  # possible columns, for tables with fixed columns
    reader: Reader | None = None  # a split's file -> examples, for other files
    target: Target = CLASSES  # learnt target
    # closed set in id order; None for the labels of the training split, in the order of
    # `in_order_of_ids`
    labels: tuple[str, ...] | None = None
    # label -> description, if the label needs one; only shown
    names: Mapping[str, str] = field(default_factory=dict)
    positive: str = ""  # the positive class, or the label of a wrong word; empty for none
    metric: str = "accuracy"  # the headline metric, as named in logs
    # split -> ``{"file": …, "labels": {ours: the server's}}``
    submission: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    levels: int = 1  # number of labels per word, for nested entities
    # a split's file -> further file that its reader needs, or None
    companion: Callable[[Path], Path | None] = lambda path: None

    @property
    def task(self) -> str:
        return self.target.task


def official(*patterns: str, folder: str = "", **more: tuple[str, ...]) -> Files:
    """Return the files of a dataset, in the raw folder itself or in ``folder`` inside.

    Args:
        patterns: names in which ``{}`` is ``train``, ``dev`` or ``test``.
        folder: a possible folder, or empty.
        more: split -> further names.
    """
    found: dict[str, tuple[str, ...]] = {}
    for split in {**(SPLITS if patterns else {}), **more}:
        names = [pattern.format(SPLITS[split]) for pattern in patterns if split in SPLITS]
        names += more.get(split, ())
        found[split] = (*names, *(f"{folder}/{name}" for name in names if folder))
    return found

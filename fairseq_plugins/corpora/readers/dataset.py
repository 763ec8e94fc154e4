"""What a dataset is: a task, its official files and how to read them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...targets.classes import CLASSES
from ...targets.target import Target
from ..examples import Example
from .split_file import SplitFile
from .tables import Table

Files = Mapping[str, tuple[str, ...]]  # split -> paths below the raw folder that may hold it
Reader = Callable[[SplitFile], Iterator[Example]]
SPLITS = {"train": "train", "valid": "dev", "test": "test"}  # ours -> as most files are called


@dataclass(frozen=True)
class Dataset:
    """A dataset in its official form; a new one is one more value of `GLUE`, `MATCHING`, `TAGGING`.

    Args:
        name: what users call it.
        splits: its files; of a split the first that exists counts.
        tables: columns that its files may have, where they are tables with fixed columns.
        reader: a split's file to examples, where they are not.
        target: what models learn of it.
        labels: closed set in id order; None: those of the training split, in the order
            of `in_order_of_ids`.
        names: label -> what it means, where the label itself does not say so; only shown.
        positive: the positive class, or the label of a wrong word; empty for none.
        metric: the headline metric, by its name in the logs.
        submission: split -> ``{"file": …, "labels": {ours: the server's}}``.
        levels: how many labels a word has, where entities may lie within others.
        companion: a split's file -> further file that its reader reads with it, or None.
    """

    name: str
    splits: Files
    tables: tuple[Table, ...] = ()
    reader: Reader | None = None
    target: Target = CLASSES
    labels: tuple[str, ...] | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    positive: str = ""
    metric: str = "accuracy"
    submission: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    levels: int = 1
    companion: Callable[[Path], Path | None] = lambda path: None

    @property
    def task(self) -> str:
        """Name of the task that learns it."""
        return self.target.task


def official(*patterns: str, folder: str = "", **more: tuple[str, ...]) -> Files:
    """Name the files of a dataset, in the raw folder itself or in ``folder`` within it.

    Args:
        patterns: names in which ``{}`` is ``train``, ``dev`` or ``test``.
        folder: a folder that they may lie in; empty for none.
        more: split -> further names.
    """
    found: dict[str, tuple[str, ...]] = {}
    for split in {**(SPLITS if patterns else {}), **more}:
        names = [pattern.format(SPLITS[split]) for pattern in patterns if split in SPLITS]
        names += more.get(split, ())
        found[split] = (*names, *(f"{folder}/{name}" for name in names if folder))
    return found

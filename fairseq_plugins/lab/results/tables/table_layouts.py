"""What a table of a paper looks like, and the figures that the paper prints in it.

Figures stand under their column, in the order of its metrics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

PLAIN = "bert_plain"
ACCURACY = (("Acc", "accuracy"),)


@dataclass(frozen=True)
class Column:
    """A dataset in a table.

    Args:
        dataset: its name in `prepare text`.
        title: its name in the table.
        metrics: title and name of each; the last is the one that averages take.
        tested: whether the test set is shown where all runs were tried on it; else validation.
        split: the only split that is shown, for a second column of the dataset; may be empty.
        optional: of the metrics, those that are left out where a run lacks them.
    """

    dataset: str
    title: str
    metrics: tuple[tuple[str, str], ...]
    tested: bool = False
    split: str = ""
    optional: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What the paper's figures stand under."""
        return f"{self.dataset}/{self.split}" if self.split else self.dataset


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper.

    Args:
        parameters: as printed.
        figures: key of a column -> figures.
    """

    parameters: str
    figures: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True)
class Layout:
    """A table of the paper, or one made like it.

    Args:
        title: what it is.
        columns: all of them.
        average: whether there is a column of averages (when all columns are there).
        paper: size -> kind of architecture -> what the paper found.
        source: the paper.
        own: kinds that no table of another paper shows; with a run of one of them the table is
            made unasked.
        asked_by: further kinds whose runs make it unasked, though other tables show them as well.
        only: the kinds that it shows; empty for all but other tables' own.
        baseline: kind that the others are compared with.
        marks_worse: whether systems worse than the baseline are marked, and not those better.
        notes: what else a reader has to know.
    """

    title: str
    columns: tuple[Column, ...]
    average: bool = False
    paper: Mapping[str, Mapping[str, PaperRow]] = field(default_factory=dict)
    source: str = "Li et al. (2020)"
    own: tuple[str, ...] = ()
    asked_by: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    baseline: str = PLAIN
    marks_worse: bool = False
    notes: tuple[str, ...] = ()

    @property
    def datasets(self) -> set[str]:
        """The datasets of all columns."""
        return {column.dataset for column in self.columns}

    @property
    def smallest(self) -> str:
        """The kind beyond whose parameters those of others are told."""
        return PLAIN if self.marks_worse else self.baseline

    def figures(self, size: str, kind: str, column: Column) -> tuple[float, ...]:
        """Return what the paper found with models of this size, or else of base size."""
        row = self._row(size, kind)
        return row.figures.get(column.key, ()) if row else ()

    def printed_sizes(self, sizes: set[str]) -> str:
        """Say which size the figures beside models of these sizes are of; empty for their own."""
        own = sorted(sizes & self.paper.keys())
        if len(own) == len(sizes):
            return ""
        if "base" not in self.paper:  # nothing stands beside the others
            return f"{' and '.join(own)} size"
        larger = [size for size in own if size != "base"]
        return f"base size; beside {', '.join(larger)}, the same size" if larger else "base size"

    def paper_average(self, size: str, kind: str) -> float:
        """Return the paper's mean over all datasets; nan where it has none."""
        row = self._row(size, kind)
        return fmean(f[-1] for f in row.figures.values()) if row else math.nan

    def _row(self, size: str, kind: str) -> PaperRow | None:
        return self.paper.get(size, self.paper.get("base", {})).get(kind)


def spell_rows(columns: Sequence[Column], rows: Mapping[str, tuple]) -> dict[str, PaperRow]:
    """Spell rows out: kind -> parameters, then the figures of each column."""
    keys = [column.key for column in columns]
    return {
        kind: PaperRow(first, dict(zip(keys, figures))) for kind, (first, *figures) in rows.items()
    }

"""A table of results as papers print it: systems down, datasets across."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path

from ...plan.grid import SIZES, variant
from ..outcomes import Outcome, Setting
from .composition_tables import KINDS as COMPOSED
from .paper_tables import LABELS, PLAIN, Column, Layout

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Row:
    """A system of a table.

    Args:
        size: of its architecture.
        kind: of its architecture, such as ``bert_sla``, with what was taken out of it.
        name: the system's, if it is called otherwise; else empty.
    """

    size: str
    kind: str
    name: str = ""

    @property
    def label(self) -> str:
        """What stands in the table."""
        return self.name or LABELS.get(self.kind, self.kind)

    @property
    def order(self) -> tuple:
        """Small models first, kinds as in the paper."""
        kinds = [*LABELS]
        place = kinds.index(self.kind) if self.kind in kinds else len(kinds)
        return SIZES.index(self.size) if self.size in SIZES else -1, place, self.name


@dataclass(frozen=True)
class Score:
    """One metric of a system on one dataset.

    Args:
        title, metric: what it is.
        mean, deviation: over seeds; the deviation of a single seed is nan.
        p_value: against BERT; nan without a test.
        marked: whether it is better than BERT's, significantly.
        paper: the paper's figure in %; nan if it has none.
        remark: why there is no test, where that is to be said.
    """

    title: str
    metric: str
    mean: float
    deviation: float
    p_value: float
    marked: bool
    paper: float
    remark: str = ""


@dataclass(frozen=True)
class Entry:
    """A system on one dataset.

    Args:
        setting: chosen on the validation set.
        seeds: how many.
        parameters: of the model; 0 if unknown.
        added: beyond BERT's; None where BERT's are not known.
        scores: in the order of the column's metrics.
        folder: of all its runs.
    """

    setting: Setting
    seeds: int
    parameters: int
    added: int | None
    scores: list[Score]
    folder: Path


@dataclass(frozen=True)
class Block:
    """A dataset of the table.

    Args:
        column: what is shown.
        split: the split it is shown on.
        is_tested: whether that is the one of the evaluation, which chose nothing.
        roots: folders of the runs.
        entries: the systems that were run.
    """

    column: Column
    split: str
    is_tested: bool
    roots: list[Path]
    entries: dict[Row, Entry]


@dataclass(frozen=True)
class Table:
    """A layout, filled in.

    Args:
        layout: with all its columns.
        blocks: the columns that are there.
        rows: the systems, in order.
    """

    layout: Layout
    blocks: list[Block]
    rows: list[Row]

    @property
    def is_whole(self) -> bool:
        """Whether averages can be shown: the layout has them, and no dataset is missing."""
        return self.layout.average and len(self.blocks) == len(self.layout.columns)

    def average(self, row: Row) -> float | None:
        """Return a system's mean over all datasets in %; None unless every one is there."""
        entries = [block.entries.get(row) for block in self.blocks]
        if not (self.is_whole and all(entries)):
            return None
        return 100 * statistics.fmean(entry.scores[-1].mean for entry in entries)


def row_of(run: Outcome) -> Row:
    """Return the row that a run belongs to: of its architecture, or the one it is called after."""
    size, kind = _parts(run.arch)
    named = _parts(run.setting.system)
    if named[1] in LABELS and _is_called_after(named[1], kind, run.ablated):
        return Row(*named)
    system, own = run.setting.system, [run.arch]
    if run.ablated:
        own.append(variant(run.arch, "ablate", run.ablated))
        kind = variant(kind, "ablate", run.ablated)
        if kind not in LABELS:
            return Row(size, kind, own[-1] if system in own else system)
    return Row(size, kind, "" if system in own else system)


def _is_called_after(name: str, kind: str, ablated: str) -> bool:
    """Tell whether a system of a kind may stand for the kind that its name says."""
    if ablated:
        return name == variant(kind, "ablate", ablated)
    return kind == PLAIN or name not in COMPOSED  # these are options of a plain architecture


def _parts(arch: str) -> tuple[str, str]:
    """Return size and kind of an architecture."""
    for kind in LABELS:
        for size in SIZES:
            if arch == f"{kind}_{size}":
                return size, kind
    if arch in LABELS:  # BERT's own size
        return "base", arch
    kind, _, size = arch.rpartition("_")
    return size, kind

"""Rows as a data frame, which tables, comparisons and figures read.

A line of the frame is a finished or failed run, with these columns (values are as they are, of any
type):

row, place, folder             the row itself, its file and line, and the folder of the run
part, root                     its part of the experiment, and the folder of the part's runs
setting, seed                  which run; the setting's own fields are columns as well
status, done                   how it ended, whether its result is there
dataset, data, metric, validation, evaluated, positive, arch, options, prepared, examples,
parameters, gates, note, trial as in the row
score                          the metric that chose the checkpoint; None for none
ablated                        the part of the architecture that was taken out
counts                         how each example counts, for each split (`ExampleCounts`)
best.X, last.X, evaluation.X   metric X of the best checkpoint on the split that chose it, at the
                               last validation, and on the other split; None where the run lacks it
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...messages import named
from ..rows import PlacedRow, Row, counts_of

BEST, LAST, EVALUATION = "best", "last", "evaluation"
_LARGEST = 2**24  # numbers of all counts of a file, and cells that are made of them
_AS_IN_THE_ROW = (
    "part seed status dataset data metric evaluated positive options prepared examples parameters "
    "gates note trial"
).split()


def frame_of(rows: Iterable[PlacedRow]) -> pd.DataFrame:
    """Return rows as a frame; see above.

    Raises:
        ValueError: see `counts_of`; or counts of more numbers than a file may have.
    """
    lines, numbers = [], 0
    for one in rows:
        lines.append(_line(one))
        for counts in lines[-1]["counts"].values():
            numbers += max(counts.counts.table.size, counts.counts.classes**2)
        if numbers > _LARGEST:
            raise ValueError(f"{one.place}: key 'counts': up to here over {_LARGEST:,} numbers")
    return frame(lines)


def _line(one: PlacedRow) -> dict[str, Any]:
    row, folder = one.row, one.folder
    tried = row.metrics.get(row.evaluated, {})
    scores = ((BEST, row.best), (LAST, row.last), (EVALUATION, tried))
    metrics = {f"{where}.{name}": v for where, found in scores for name, v in found.items()}
    return {
        "row": row,
        "place": one.place,
        "folder": folder,
        "root": folder.parent.parent.parent,
        **{name: getattr(row, name) for name in _AS_IN_THE_ROW},
        "done": row.is_finished,
        "validation": row.chosen_on,
        "score": row.best.get(row.metric),
        "setting": row.setting,
        **row.setting._asdict(),
        "arch": row.arch or row.system,
        "ablated": str(row.options.get("ablate", "none")).replace("none", ""),
        "counts": counts_of(one),
        **metrics,
    }


_BARE = Row(experiment="", part="", dataset="", system="", seed=0, learning_rate=0.0,
            status="failed", folder="")  # fmt: skip
COLUMNS = tuple(_line(PlacedRow("", _BARE, Path())))  # of every frame; metrics follow


def frame(lines: list[dict[str, Any]]) -> pd.DataFrame:
    """Make a data frame of lines, with values as they are."""
    columns = dict.fromkeys((*COLUMNS, *(name for line in lines for name in line)))
    cells = {name: [line.get(name) for line in lines] for name in columns}
    return pd.DataFrame(cells, dtype=object)


def rows_where(runs: pd.DataFrame, wanted: Iterable[bool]) -> pd.DataFrame:
    """Return the wanted lines of a frame, with all its columns also where it has no line."""
    return runs[np.fromiter(wanted, bool, len(runs))]


def found_scores(runs: pd.DataFrame, where: str, metric: str) -> list[float | None]:
    """Return a metric of every run; None of those that lack it."""
    return list(runs.get(f"{where}.{metric}", [None] * len(runs)))


def scores_of(runs: pd.DataFrame, where: str, metric: str) -> list[float]:
    """Return a metric of every run at `BEST`, at `LAST` or of the `EVALUATION`.

    Raises:
        ValueError: a run lacks it; names those it has.
    """
    found = found_scores(runs, where, metric)
    if None in found:
        run = runs.iloc[found.index(None)]
        there = (name for name in run.index if name.startswith(f"{where}."))
        names = sorted(name.partition(".")[2] for name in there if run[name] is not None)
        raise ValueError(f"{run.folder}: no metric {metric!r}; choices: {named(names)}")
    return [score for score in found if score is not None]

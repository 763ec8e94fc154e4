"""All tables of runs, by their names in experiment files and in the table command.

Tables of papers show systems by datasets; other tables show one dataset; `settings` shows every
setting of every system.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from ..plan.prepare import TRANSLATION
from .compare import EITHER, EXAMPLES, Significance
from .frame import find_experiments, finished_parts, tried
from .layouts import SETTINGS, SHARE, check_names, layouts, part_layouts, table_names
from .paper_tables import paper_tables
from .part_tables import part_table
from .remarks import remarked
from .setting_tables import every_setting
from .tables import ResultTable, format_table

logger = logging.getLogger(__name__)

LEFT_OUT = ": a table is left out: "


def known(name: str) -> bool:
    """Return whether a table has a name; warn if none has (any longer)."""
    if name in table_names():
        return True
    logger.warning("no table is called %r", name)
    return False


def lay_out(
    folders: Sequence[str | Path],
    names: Sequence[str] = (),
    *,
    test: Significance | None = None,
    paper: bool = True,
) -> list[str]:
    """Return tables as Markdown texts.

    Args:
        folders: of experiments or runs.
        names: of tables; empty for those of the experiments, or all that fit.
        test: of differences; None for the default.
        paper: whether to show papers' figures; never with invented corpora only.
    """
    folders = list(map(Path, folders))
    check_names(names)
    experiments = find_experiments(folders)
    own = [one for one in experiments if one.folder in folders and one.facts]
    names = names or list(dict.fromkeys(name for one in own for name in one.tables if known(name)))
    paper = paper and not all(one.is_invented for one in experiments)
    tables = tables_of(finished_parts(experiments), names, test or Significance(), paper=paper)
    if SETTINGS in names or not (tables or names):
        parts = (part for one in experiments for part in one.parts.items())
        tables += [table for part in parts for table in every_setting(*part)]
    return list(map(format_table, tables))


def tables_of(
    found: Sequence[pd.DataFrame],
    names: Sequence[str],
    test: Significance,
    *,
    paper: bool = True,
    faults: list[str] | None = None,
) -> list[ResultTable]:
    """Return tables by name, or, without names, all that fit.

    Args:
        names: of tables that need only finished runs.
        test: of differences; tables of one dataset may test over examples.
        paper: whether to show papers' figures.
        faults: collects a line for every failed table; None to raise the error.
    """
    tables: list[ResultTable] = []
    for root, make in _makers(found, names, test, paper=paper):
        tables += tried(make, faults, [], f"{root}{LEFT_OUT}")
    return [remarked(table, pd.concat(found)) for table in tables]


def _makers(
    found: Sequence[pd.DataFrame], names: Sequence[str], test: Significance, *, paper: bool
) -> Iterator[tuple[Path, Callable[[], Sequence[ResultTable]]]]:
    """Yield the folder of runs and a function that makes their tables; see `tables_of`."""
    if not found:
        return
    root, papers = found[0].root.iloc[0], [name for name in names if name in layouts()]
    if not names and any(one.dataset.iloc[0] != TRANSLATION for one in found):
        papers = [""]
    for name in papers:
        yield root, partial(paper_tables, found, name, test, paper=paper)
    test = test if test.over == EXAMPLES else replace(test, over=EITHER)
    for name, layout in part_layouts().items():
        is_share = layout.rows == SHARE
        fitting = [one for one in found if is_share or one.dataset.iloc[0] == TRANSLATION]
        for one in fitting or found[:1]:
            if name in names or (not names and is_share and one.fraction.nunique() > 1):
                yield one.root.iloc[0], partial(part_table, one, layout, test, paper=paper)

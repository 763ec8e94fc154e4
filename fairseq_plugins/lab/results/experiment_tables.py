"""All tables of runs, by the names that experiment files and the command of tables give them.

Those of papers lay systems of several datasets out, `bertqa1` says what models are, and the others
are of one dataset each; `settings` has every setting of every system.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from ..plan.prepare import TRANSLATION
from .bertqa import models_table, with_ensemble
from .compare import EITHER, EXAMPLES, Significance
from .frame import find_experiments, finished_parts
from .layouts import MODELS, SETTINGS, SHARE, check_names, layouts, part_layouts
from .paper_tables import paper_tables
from .part_tables import part_table
from .remarks import remarked
from .setting_tables import every_setting
from .tables import ResultTable, format_table, to_csv

Maker = Callable[[], Sequence[ResultTable]]


def lay_out(
    folders: Sequence[str | Path],
    names: Sequence[str] = (),
    *,
    ensembles: Sequence[str | Path] = (),
    test: Significance | None = None,
    paper: bool = True,
) -> tuple[list[str], str]:
    """Return tables as Markdown texts, and their scores, or else the first of them, as CSV.

    Args:
        folders: of experiments or of runs.
        names: of the tables; empty for those that the experiments ask for, or all that fit.
        ensembles: folders of answers of several of the runs; empty for those that steps left.
        test: of differences; None for the usual one.
        paper: whether papers' figures stand beside ours; never where all corpora are invented.

    Raises:
        FileNotFoundError: no folder holds a finished run.
        InputError: an unknown name, none of the runs stands in a table, or runs that do not go
            together.
    """
    folders, test = list(map(Path, folders)), test or Significance()
    check_names(names)
    experiments = find_experiments(folders)
    own = [one for one in experiments if one.folder in folders and one.facts]
    names = names or list(dict.fromkeys(name for one in own for name in one.tables))
    check_names(names)
    found = finished_parts(experiments)
    for folder in ensembles or [folder for one in own for folder in one.ensembles()]:
        found = with_ensemble(found, folder)
    paper = paper and not all(one.is_invented for one in experiments)
    shown = pd.concat(found)
    made = (table for _, make in makers(found, names, test, paper=paper) for table in make())
    tables = [remarked(table, shown) for table in made]
    if SETTINGS in names or not (tables or names):
        parts = (part for one in experiments for part in one.parts.items())
        tables += [table for part in parts for table in every_setting(*part)]
    scores = [line for one in tables for line in one.scores]
    return list(map(format_table, tables)), to_csv(scores or tables[0].records())


def makers(
    found: Sequence[pd.DataFrame],
    names: Sequence[str],
    test: Significance,
    *,
    paper: bool = True,
) -> Iterator[tuple[Path, Maker]]:
    """Yield what makes the tables that are asked for, or, if none is, all that fit.

    Args:
        found: the runs.
        names: of the tables; all that are made from finished runs alone.
        test: of differences; in tables of one dataset it may turn to examples.
        paper: whether papers' figures stand beside ours.

    Yields:
        The folder of the runs, and what makes the tables: an InputError if none fits that is asked
        for.
    """
    if not found:
        return
    root, papers = found[0].root.iloc[0], [name for name in names if name in layouts()]
    if not names or MODELS in names:
        yield root, partial(models_table, found, asked=bool(names))
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

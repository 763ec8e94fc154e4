"""All tables of runs, by the names that experiment files and the command of tables give them.

Those of a paper lay systems of several datasets out (`layouts`), `bertqa1` says what models are,
and the others are of one dataset each: `fractions`, `features`, `feature_dims`, and `settings`,
which has every setting of every system.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd

from ...messages import named
from ..plan.prepare import TRANSLATION
from .bertqa import models_layout, models_table, with_ensemble
from .compare import EITHER, EXAMPLES, Significance
from .frame import Experiment, find_experiments, finished_parts
from .layouts import layouts
from .one_dataset import feature_table, fraction_table, label_of, width_table
from .paper_formats import paper_table
from .paper_tables import CSV, Filled, make_tables
from .remarks import remarked
from .setting_tables import settings_table
from .table_names import FEATURE_DIMS, FEATURES, FRACTIONS, MODELS, SETTINGS, check_names
from .tables import ResultTable, format_table, to_csv

Form = Callable[[Filled, Significance], ResultTable]  # how papers' tables are laid out
_OF_ONE_DATASET = {  # all but the first are of translation
    FRACTIONS: fraction_table,
    FEATURES: feature_table,
    FEATURE_DIMS: width_table,
}


def lay_out(
    folders: Sequence[str | Path],
    names: Sequence[str] = (),
    *,
    ensembles: Sequence[str | Path] = (),
    test: Significance | None = None,
    paper: bool = True,
) -> tuple[list[str], str]:
    """Return tables as Markdown texts, and their scores, or else the models, as CSV.

    Args:
        folders: of experiments or of runs.
        names: of the tables; empty for those that the experiments ask for, or all that fit.
        ensembles: folders of answers of several of the runs; empty for those that steps left.
        test: of differences in the papers' tables; None for the usual one.
        paper: whether papers' figures stand beside ours; never where all corpora are invented.

    Raises:
        FileNotFoundError: no folder holds a finished run.
        ValueError: an unknown name, none of the runs stands in a table, or runs that do not go
            together.
    """
    folders, test = list(map(Path, folders)), test or Significance()
    experiments = find_experiments(folders)
    found, names = _read(experiments, folders, names, ensembles)
    paper = paper and not all(one.is_invented for one in experiments)
    tables = [one for _, make in makers(found, names, test, paper, paper_table) for one in make()]
    shown = pd.concat(found)
    tables = [remarked(table, shown) for table in tables]
    if SETTINGS in names or not (tables or names):
        parts = (part for one in experiments for part in one.parts.items())
        tables += [table for name, runs in parts for table in settings_table(name, runs)]
    return list(map(format_table, tables)), _csv(tables)


def _csv(tables: Sequence[ResultTable]) -> str:
    """Return the scores of tables, or else the models, as CSV."""
    if scores := [line for one in tables for line in one.scores]:
        return to_csv(scores, CSV)
    models = [table.records() for table in tables if table.title == models_layout().title]
    return to_csv(models[0]) if models else ""


def _read(
    experiments: Sequence[Experiment],
    folders: Sequence[Path],
    names: Sequence[str],
    ensembles: Sequence[str | Path],
) -> tuple[list[pd.DataFrame], Sequence[str]]:
    """Return the finished runs, with their ensembles, and the tables that are asked for."""
    check_names(names)
    own = [one for one in experiments if one.folder in folders and one.facts]
    names = names or list(dict.fromkeys(name for one in own for name in one.tables))
    check_names(names)
    found = finished_parts(experiments)
    for folder in ensembles or [folder for one in own for folder in one.ensembles()]:
        found = with_ensemble(found, folder)
    return found, names


def makers(
    found: Sequence[pd.DataFrame],
    names: Sequence[str],
    test: Significance,
    paper: bool,
    form: Form,
    *,
    shares: bool = False,
) -> Iterator[tuple[Path, Callable[[], Sequence[ResultTable]]]]:
    """Yield what makes the tables that are asked for, or, if none is, all that fit.

    Args:
        found: the runs.
        names: of the tables; all that are made from finished runs alone.
        test: of differences in the papers' tables.
        paper: whether papers' figures stand beside ours.
        form: of papers' tables.
        shares: whether runs on several shares of the data have their table even if not asked for.

    Yields:
        The folder of the runs, and what makes the tables: a ValueError if none fits that is asked
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
        yield root, partial(_papers, found, name, test, paper, form)
    either = test if test.over == EXAMPLES else replace(test, over=EITHER)
    for name, make in _OF_ONE_DATASET.items():
        fitting = [one for one in found if name == FRACTIONS or one.dataset.iloc[0] == TRANSLATION]
        if name in names and not fitting:
            yield root, partial(_refuse, name, found)
        for one in fitting:
            several = name == FRACTIONS and one.fraction.nunique() > 1
            if name in names or (several and (shares or not names)):
                yield one.root.iloc[0], lambda make=make, one=one: [make(one, either, paper)]


def _papers(
    found: Sequence[pd.DataFrame], name: str, test: Significance, paper: bool, form: Form
) -> list[ResultTable]:
    return [form(one, test) for one in make_tables(found, name, test, paper=paper)]


def _refuse(name: str, found: Sequence[pd.DataFrame]) -> list[ResultTable]:
    there = named(sorted({label_of(one) for one in found}))
    raise ValueError(f"table {name!r} is of translation; the runs are on {there}")

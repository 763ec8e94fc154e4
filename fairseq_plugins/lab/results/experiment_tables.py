"""All tables of runs, by the names that experiment files and the command of tables give them.

Those of a paper lay systems of several datasets out (`layouts`), `bertqa1` says what models are,
and the others are of one dataset each: `fractions`, `features`, `feature_dims`, and `settings`,
which has every setting of every system.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from ...messages import named
from ..plan.grid import TRANSLATION
from . import bertqa_models
from .comparisons import EITHER, Significance
from .ensembles import with_ensemble
from .feature_tables import feature_table, width_table
from .fractions import fraction_table, shares_of
from .layouts import layouts
from .one_dataset import Compared, label_of
from .paper_formats import format_markdown
from .paper_tables import CSV, Filled, make_tables
from .runs import Outcomes, find_experiments, is_invented, outcomes_of, read_experiments
from .settings_table import settings_table
from .tables import Table, format_table, to_csv

FRACTIONS, SETTINGS = "fractions", "settings"
OF_TRANSLATION = {"features": feature_table, "feature_dims": width_table}
_OF_ONE_DATASET = (FRACTIONS, *OF_TRANSLATION)


def table_names() -> list[str]:
    """Return the names of all tables."""
    return [bertqa_models.TABLE, *layouts(), *_OF_ONE_DATASET, SETTINGS]


def check_names(names: Sequence[str]) -> None:
    """Refuse names that no table has.

    Raises:
        ValueError: names them and the choices.
    """
    for name in names:
        if name not in table_names():
            raise ValueError(f"table {name!r}: choices are {', '.join(table_names())}")


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
        ensembles: folders of answers of some of the runs together; empty for those that steps of
            the experiments left.
        test: of differences in the papers' tables; None for the usual one.
        paper: whether papers' figures stand beside ours; never where all corpora are invented.

    Raises:
        FileNotFoundError: no folder holds a finished run.
        ValueError: an unknown name, none of the runs stands in a table, or runs that do not go
            together.
    """
    check_names(names)
    folders, test = list(map(Path, folders)), test or Significance()
    experiments = find_experiments(folders)
    own = [one for one in experiments if one.folder in folders and one.facts]
    names = names or list(dict.fromkeys(name for one in own for name in one.tables))
    check_names(names)
    found = outcomes_of(experiments)
    for folder in ensembles or [folder for one in own for folder in one.ensembles()]:
        found = with_ensemble(found, folder)
    paper = paper and not all(is_invented(folder) for folder in folders)
    models = bertqa_models.models_table(found)
    models = models if not names or bertqa_models.TABLE in names else None
    if not models and bertqa_models.TABLE in names:
        raise ValueError(
            f"table {bertqa_models.TABLE!r}: no run is called model1, model2 or model3"
        )
    of_papers = [*_of_papers(found, names, test, paper)]
    of_one = [*_of_one_dataset(found, names, test, paper)]
    texts = [format_table(models)] if models else []
    texts += [format_markdown(table, test.name) for table in of_papers]
    texts += map(format_table, of_one)
    if SETTINGS in names or not (texts or names):
        texts += map(format_table, _settings(folders))
    scores = [*chain.from_iterable(table.score_lines() for table in (*of_papers, *of_one))]
    if scores or not models:
        return texts, to_csv(scores, CSV) if scores else ""
    return texts, to_csv(models.records(), None)


def _of_papers(
    found: Sequence[Outcomes], names: Sequence[str], test: Significance, paper: bool
) -> Iterator[Filled]:
    """Yield the papers' tables that are asked for, or, if no table is, all that fit."""
    if not names and any(one.dataset != TRANSLATION for one in found):
        yield from make_tables(found, "", test, paper=paper)
    for name in names:
        if name in layouts():
            yield from make_tables(found, name, test, paper=paper)


def _of_one_dataset(
    found: Sequence[Outcomes], names: Sequence[str], test: Significance, paper: bool
) -> Iterator[Compared]:
    """Yield the tables of one dataset that are asked for, or, if no table is, those of fractions.

    Raises:
        ValueError: a table that is asked for is of translation, and there is none.
    """
    for name in _OF_ONE_DATASET:
        fitting = [one for one in found if name == FRACTIONS or one.dataset == TRANSLATION]
        if name in names and not fitting:
            there = named(sorted({label_of(one) for one in found}))
            raise ValueError(f"table {name!r} is of translation; the runs are on {there}")
        for one in fitting:
            if name in names or (name == FRACTIONS and not names and len(shares_of(one)) > 1):
                yield of_one_dataset(one, name, test, paper)


def of_one_dataset(found: Outcomes, name: str, drawn: Significance, paper: bool) -> Compared:
    """Make a table of one dataset.

    Args:
        found: its runs.
        name: of the table.
        drawn: samples and seed of the bootstrap.
        paper: whether the paper's figures stand beside ours.
    """
    test = Significance(EITHER, drawn.samples, drawn.seed)
    if name == FRACTIONS:
        return fraction_table(found, test, paper=paper)
    return OF_TRANSLATION[name](found, test)


def _settings(folders: Sequence[Path]) -> Iterator[Table]:
    """Yield the table of all settings of every dataset."""
    for experiment in (one for folder in folders for one in read_experiments(folder, [])):
        for part in experiment.parts:
            table = settings_table(experiment.name_of(part), experiment.of(part))
            yield from [table] if table else []

"""Which tables a report has: those that the experiment asks for, or all that fit, and those of
every report: all settings, and every system against a baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ..plan.prepared_data import TRANSLATION
from ..results.outcomes import Outcomes
from ..results.tables import bertqa_models, fractions
from ..results.tables.experiment_tables import OF_ONE_DATASET, TABLES
from ..results.tables.found_runs import ensembles_of
from ..results.tables.paper_tables import BERTQA_MODELS, LAYOUTS
from ..results.tables.table_making import (
    make_tables,
    over_drawn_examples,
    over_seeds,
    without_paper,
)
from ..results.tables.variants import seeds_or_examples
from .model import MARKDOWN, Table, Text
from .records import Experiment, is_invented
from .settings import name_of, settings_table
from .tables import comparison_table, has_repeated, paper_table

_SHORT = 2  # parts up to which the tables of all settings are open
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class ReportOptions:
    """How a report is made.

    Args:
        title: of the page; empty for the experiment's.
        paper: whether the papers' figures stand beside ours.
        baseline: system that the others are compared with; empty for the only plain BERT.
        samples: of the bootstrap over examples.
        seed: of it.
    """

    title: str = ""
    paper: bool = True
    baseline: str = ""
    samples: int = 1000
    seed: int = 12345


def tables_of(
    experiment: Experiment, found: Sequence[Outcomes], options: ReportOptions, remarks: list[str]
) -> list[Table | Text]:
    """Return all tables of an experiment.

    Args:
        experiment: its runs.
        found: the finished ones, part by part.
        options: see there.
        remarks: tables that cannot be made are added, a line each.
    """
    tables: list[Table | Text] = []
    wanted, found = experiment.tables, _with_ensembles(experiment, found, remarks)
    for name in wanted:
        if name not in TABLES:
            remarks.append(f"{experiment.folder}: no table is called {name!r}")
    tables += _models(found, wanted)
    tables += _paper_tables(experiment, found, options, remarks)
    tables += _one_dataset(experiment, found, options, remarks)
    is_folded = len(experiment.parts) > _SHORT
    for part in experiment.parts:
        title = f"{name_of(experiment, part)}: every setting"
        table = settings_table(title, experiment.of(part), is_folded=is_folded)
        tables += [table] if table else []
    drawn = {"samples": options.samples, "seed": options.seed}
    for one in found:
        table = _tried(partial(comparison_table, one, options.baseline, **drawn), one.root, remarks)
        tables += [table] if table else []
    return tables


def _tried(make: Callable[[], _Made], place: object, remarks: list[str]) -> _Made | None:
    """Make something of files that may be broken; None, with a remark, where they are."""
    try:
        return make()
    except (ValueError, KeyError, TypeError, OSError) as error:
        reason = str(error) if isinstance(error, (ValueError, OSError)) else repr(error)
        remarks.append(f"{place}: a table is left out: {reason}")
        return None


def _with_ensembles(
    experiment: Experiment, found: Sequence[Outcomes], remarks: list[str]
) -> Sequence[Outcomes]:
    """Return runs with the ensembles of some of them whose answers later steps left."""
    for folder in ensembles_of(experiment.folder):
        joined = partial(bertqa_models.with_ensemble, found, folder)
        found = _tried(joined, folder, remarks) or found
    return found


def _models(found: Sequence[Outcomes], wanted: Sequence[str]) -> Iterator[Text]:
    """Yield Table 1 of BERTQA, if its models are there."""
    models = bertqa_models.models_of(found)
    if models and (not wanted or BERTQA_MODELS in wanted):
        text = bertqa_models.format_markdown(models).split("\n", 1)[1]  # without its title
        yield Text(bertqa_models.TITLE, MARKDOWN, text)


def _paper_tables(
    experiment: Experiment,
    found: Sequence[Outcomes],
    options: ReportOptions,
    remarks: list[str],
) -> Iterator[Table]:
    """Yield the papers' layouts that the experiment names, or else all that fit."""
    test, name = over_seeds, "two-sided Welch's t-test over seeds"
    if not has_repeated(found):
        test = over_drawn_examples(options.samples, options.seed)
        name = f"paired bootstrap over examples, {options.samples:,} samples"
    layouts = [layout for layout in experiment.tables if layout in LAYOUTS]
    found = [one for one in found if one.dataset != TRANSLATION]
    for layout in (layouts or ([] if experiment.tables else [""])) if found else ():
        tables = _tried(partial(make_tables, found, layout, test), experiment.folder, remarks) or []
        if not _prints(experiment, options):
            tables = [without_paper(table) for table in tables]
        yield from (paper_table(table, name) for table in tables)


def _prints(experiment: Experiment, options: ReportOptions) -> bool:
    """Tell whether papers' figures stand beside ours."""
    return options.paper and not is_invented(experiment.folder)


def _one_dataset(
    experiment: Experiment,
    found: Sequence[Outcomes],
    options: ReportOptions,
    remarks: list[str],
) -> Iterator[Table]:
    """Yield tables of one dataset that the experiment names, and those of shares of the data."""
    test = seeds_or_examples(options.samples, options.seed)
    for name, laying in OF_ONE_DATASET.items():
        for one in found:
            shares = name == "fractions" and len(fractions.shares_of(one)) > 1
            fits = one.dataset == TRANSLATION or not laying.translates
            if fits and (shares or (name in experiment.tables and name != "fractions")):
                made = partial(
                    laying.table, one, test, **laying.asked(_prints(experiment, options))
                )
                table = _tried(made, one.root, remarks)
                yield from [table] if table else []

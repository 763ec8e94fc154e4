"""Which tables a report has: those that the experiment asks for, or all that fit, and those of
every report: all settings, and every system against a baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from ..results.comparisons import EXAMPLES, SEEDS, Significance, against, only_plain
from ..results.ensembles import with_ensemble
from ..results.experiment_tables import makers
from ..results.paper_formats import page_table
from ..results.runs import Experiment, Outcomes
from ..results.seed_report import compared_table
from ..results.settings_table import settings_table
from ..results.table_names import table_names
from ..results.tables import Table

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
) -> list[Table]:
    """Return all tables of an experiment.

    Args:
        experiment: its runs.
        found: the finished ones, part by part.
        options: see there.
        remarks: tables that cannot be made are added, a line each.
    """
    wanted, drawn = experiment.tables, Significance(SEEDS, options.samples, options.seed)
    paper = options.paper and not experiment.is_invented
    for name in wanted:
        if name not in table_names():
            remarks.append(f"{experiment.folder}: no table is called {name!r}")
    for folder in experiment.ensembles():
        found = _tried(partial(with_ensemble, found, folder), folder, remarks) or found
    several = any(one.runs.duplicated(["root", "setting"]).any() for one in found)
    test = drawn if several else replace(drawn, over=EXAMPLES)
    shown: list[Table] = []
    for root, make in makers(found, wanted, test, paper, page_table, shares=True):
        shown += _tried(make, root, remarks) or []
    shown += _all_settings(experiment)
    for one in found:
        compared = partial(comparison_tables, one, options.baseline, drawn)
        shown += _tried(compared, one.root, remarks) or []
    return shown


def _tried(make: Callable[[], _Made], place: object, remarks: list[str]) -> _Made | None:
    """Make something of files that may be broken; None, with a remark, where they are."""
    try:
        return make()
    except (ValueError, KeyError, TypeError, OSError) as error:
        reason = str(error) if isinstance(error, (ValueError, OSError)) else repr(error)
        remarks.append(f"{place}: a table is left out: {reason}")
        return None


def _all_settings(experiment: Experiment) -> Iterator[Table]:
    is_folded = len(experiment.parts) > _SHORT
    for part in experiment.parts:
        title = f"{experiment.name_of(part)}: every setting"
        table = settings_table(title, experiment.of(part), is_folded=is_folded)
        yield from [table] if table else []


def comparison_tables(found: Outcomes, baseline: str, drawn: Significance) -> list[Table]:
    """Compare each system with a baseline over seeds and over examples, on the validation set.

    Args:
        found: runs on one dataset.
        baseline: a system; empty for the only one called ``bert_plain…``.
        drawn: samples and seed of the bootstrap over examples.

    Returns:
        One table; none without baseline or without anything to compare it with.
    """
    baseline = baseline or only_plain(found.runs)
    if baseline not in set(found.runs.system):
        return []
    title = f"{found.dataset}: every system against {baseline}"
    compared = list(against(found.runs, found.metric, baseline, drawn))
    return [compared_table(title, found.metric, compared)] if compared else []

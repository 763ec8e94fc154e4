"""The page about experiments: read, select, draw the figures, write the page.

A page can be made at any time: everything broken or half-written becomes a remark. The page shows
the tables that the experiment names, or all that fit, and two usual ones: all settings, and every
system against a baseline.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pandas as pd

from ...errors import InputError
from ...files import write_text
from ...messages import named
from ..results.choice import plain_of, shown_of
from ..results.compare import EXAMPLES, SEEDS, Significance, against
from ..results.experiment_tables import LEFT_OUT, tables_of
from ..results.frame import Experiment, Shown, compared, read_experiments, tried
from ..results.layouts import table_names
from ..results.part_tables import label_of
from ..results.remarks import remarked
from ..results.seed_report import compared_table
from ..results.setting_tables import every_setting
from ..results.tables import ResultTable
from ..results.verdicts import sentences
from .facts import chapter_of
from .figures import draw
from .page import Chapter, Figure, File, to_html
from .steps import left_by_steps

_SHORT = 2  # tables of all settings are open up to this number of parts


@dataclass(frozen=True)
class ReportOptions:
    """Options of a page."""

    title: str = ""  # empty for the experiment's title
    paper: bool = True  # whether to show the papers' figures
    baseline: str = ""  # of comparisons; empty for the only plain BERT
    samples: int = 1000  # of the bootstrap over examples
    seed: int = 12345  # of the bootstrap


def write_report(
    root: str | Path, page: str | Path = "", options: ReportOptions | None = None
) -> tuple[Path, list[Chapter], list[str]]:
    """Write the page of one or several experiments.

    Args:
        page: the file; ``.html`` is added. Empty for ``report.html`` in the folder.
        options: None for the defaults.

    Returns:
        The file, its chapters, and remarks about missing parts.
    """
    page, options = Path(page or Path(root) / "report"), options or ReportOptions()
    page = page.with_name(f"{page.name.removesuffix('.html')}.html")
    experiments, remarks = read_experiments(root)
    remarks += [fault for one in experiments for fault in one.faults]
    systems = dict.fromkeys(system for one in experiments for system in one.runs.system)
    if options.baseline and options.baseline not in systems:
        raise InputError(f"--baseline {options.baseline!r}: choices are {named(systems)}")
    chapters = [_chapter(one, page.parent, options, remarks) for one in experiments]
    several = f"Experiments in {Path(root).resolve().name}"
    title = options.title or (chapters[0].title if len(chapters) == 1 else several)
    remarks = list(dict.fromkeys(remarks))
    text = to_html(title, chapters, remarks)
    write_text(page, text.encode(errors="replace").decode())  # file names may be any bytes
    return page, chapters, remarks


def _chapter(
    experiment: Experiment, page: Path, options: ReportOptions, remarks: list[str]
) -> Chapter:
    found = {}
    for name, runs in experiment.parts.items():
        what = f"{runs.root.iloc[0]}: in no table that compares systems: "
        one = tried(partial(compared, runs), remarks, None, what) if runs.done.any() else None
        found |= {name: one} if one is not None else {}
    tables = all_tables(experiment, list(found.values()), options, remarks)
    figures = [
        figure
        for name, runs in experiment.parts.items()
        for figure in draw(name, runs, found.get(name), remarks, baseline=options.baseline)
    ]
    left = list(left_by_steps(experiment.folder, page, remarks))
    return replace(
        chapter_of(experiment),
        answers=[line for table in tables for line in table.told],
        tables=tables,
        figures=[*figures, *(one for one in left if isinstance(one, Figure))],
        files=[one for one in left if isinstance(one, File)],
    )


def all_tables(
    experiment: Experiment,
    found: Sequence[pd.DataFrame],
    options: ReportOptions,
    remarks: list[str],
) -> list[ResultTable]:
    """Return all tables of an experiment, its own first; failures become remarks."""
    wanted, drawn = experiment.tables, Significance(SEEDS, options.samples, options.seed)
    for name in wanted:
        if name not in table_names():
            remarks.append(f"{experiment.folder}: no table is called {name!r}")
    several = any(one.duplicated(["root", "setting"]).any() for one in found)
    test = drawn if several else replace(drawn, over=EXAMPLES)
    paper = options.paper and not experiment.is_invented
    shown = tables_of(found, wanted, test, paper=paper, faults=remarks)
    for name, runs in experiment.parts.items():
        is_folded, title = len(experiment.parts) > _SHORT, f"{name}: every setting"
        make = partial(every_setting, title, runs, is_folded=is_folded)
        shown += tried(make, remarks, [], f"{runs.root.iloc[0]}{LEFT_OUT}")
    for one in found:
        make = partial(comparison_tables, one, options.baseline, drawn)
        shown += tried(make, remarks, [], f"{one.root.iloc[0]}{LEFT_OUT}")
    return shown


def comparison_tables(found: pd.DataFrame, baseline: str, drawn: Significance) -> list[ResultTable]:
    """Compare each system with a baseline over seeds and examples, on the metric of `shown_of`.

    Returns one table, or none without a baseline (empty for `choice.plain_of`) or another system.
    """
    baseline, shown = baseline or plain_of(found), shown_of(found)
    if baseline not in set(found.system):
        return []
    title = f"{found.dataset.iloc[0]}: every system against {baseline}"
    compared = against(found, shown, baseline, drawn)
    table = compared_table(title, shown, compared)
    told = (f"{label_of(found)}: {line}" for line in _answers(compared, baseline, shown))
    table = replace(table, told=tuple(told))
    return [remarked(table, found)] if len(compared) else []


def _answers(compared: pd.DataFrame, baseline: str, shown: Shown) -> Iterator[str]:
    """Yield a sentence for each tested comparison, or one line if none was tested."""
    tested = compared[compared.corrected_p.notna()]
    yield from sentences(tested, baseline, shown)
    if tested.empty and len(compared):
        why = ", ".join(dict.fromkeys(compared.untested))
        yield f"too little to conclude anything against {baseline} ({why})."

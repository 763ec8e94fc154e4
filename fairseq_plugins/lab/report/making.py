"""The report on experiments: read, choose what is shown, draw the figures, write both pages.

It may be made at any time. What is broken or half-written costs one remark on the page.
"""

from __future__ import annotations

from pathlib import Path

from ...files import write_text
from ...messages import named
from ..results.runs import Experiment, Outcomes, compared, read_experiments
from ..safe_files import refuse_links
from .choice import ReportOptions, tables_of
from .figures import draw
from .html import to_html
from .markdown import to_markdown
from .model import Chapter, Report
from .progress import commands_of, counts_of, facts_of, failures_of, unfinished_table
from .settings import options_tables, parts_table, versions_table
from .steps import leftovers


def write_report(
    root: str | Path, stem: str | Path = "", options: ReportOptions | None = None
) -> tuple[list[Path], Report]:
    """Write ``<stem>.html``, ``<stem>.md`` and the figures of the latter in ``<stem>_files``.

    Args:
        root: folder of an experiment, or above several.
        stem: empty for ``report`` in the folder.
        options: see there; None for the usual ones.

    Returns:
        The two pages, and what they show.

    Raises:
        FileNotFoundError: there is nothing to report on.
        ValueError: the baseline is in no experiment, or the folder of the figures is a link.
    """
    stem = Path(stem or Path(root) / "report")
    figures = stem.with_name(f"{stem.name}_files")
    refuse_links(figures.parent, figures)
    report = make_report(root, figures, options or ReportOptions())
    pages = [stem.with_name(f"{stem.name}{suffix}") for suffix in (".html", ".md")]
    for page, text in zip(pages, (to_html(report), to_markdown(report, stem.parent))):
        write_text(page, text.encode(errors="replace").decode())  # names of files may be any bytes
    return pages, report


def make_report(root: str | Path, figures: Path, options: ReportOptions) -> Report:
    """Read experiments and draw their figures.

    Args:
        root: see `write_report`.
        figures: folder for them.
        options: see `write_report`.

    Raises:
        FileNotFoundError, ValueError: see `write_report`.
    """
    remarks: list[str] = []
    experiments = read_experiments(root, remarks)
    systems = dict.fromkeys(system for one in experiments for system in one.runs.system)
    if options.baseline and options.baseline not in systems:
        raise ValueError(f"--baseline {options.baseline!r}: choices are {named(systems)}")
    chapters = []
    for number, experiment in enumerate(experiments, start=1):
        prefix = f"{number}-" if len(experiments) > 1 else ""
        chapters.append(_chapter(experiment, figures, prefix, options, remarks))
    several = f"Experiments in {Path(root).resolve().name}"
    title = options.title or (chapters[0].title if len(chapters) == 1 else several)
    return Report(title, chapters, list(dict.fromkeys(remarks)))


def _chapter(
    experiment: Experiment,
    figures: Path,
    prefix: str,
    options: ReportOptions,
    remarks: list[str],
) -> Chapter:
    """Put together what is shown of an experiment."""
    found = _outcomes(experiment, remarks)
    versions = versions_table(experiment)
    settings = [versions] if versions else []
    for part in experiment.parts:
        settings += options_tables(experiment.name_of(part), experiment.of(part))
    return Chapter(
        experiment.title,
        counts_of(experiment),
        facts_of(experiment),
        parts_table(experiment),
        tables=tables_of(experiment, list(found.values()), options, remarks),
        figures=[
            *draw(experiment, found, figures, prefix, remarks),
            *leftovers(experiment.folder, remarks),
        ],
        failures=failures_of(experiment),
        unfinished=unfinished_table(experiment),
        commands=commands_of(experiment),
        settings=settings,
    )


def _outcomes(experiment: Experiment, remarks: list[str]) -> dict[str, Outcomes]:
    """Return the finished runs of every part, for tables that compare them."""
    found = {}
    for part in experiment.parts:
        runs = experiment.of(part)
        if runs.done.any():
            try:
                found[part.name] = compared(runs)
            except ValueError as error:
                remarks.append(f"{part.folder}: in no table that compares systems: {error}")
    return found

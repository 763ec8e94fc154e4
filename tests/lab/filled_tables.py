"""Tables of runs that were never trained."""

from __future__ import annotations

from lab.finished_runs import finish

from fairseq_plugins.lab.results.tables.found_runs import find_outcomes
from fairseq_plugins.lab.results.tables.table_formats import format_markdown
from fairseq_plugins.lab.results.tables.table_making import make_tables, over_seeds


def fill(root, dataset, metric, scores, **changes):
    """Write runs of several systems: system -> values of its seeds."""
    for system, values in scores.items():
        for seed, value in enumerate(values, start=1):
            own = {"dataset": dataset, "options": {"arch": system}, **changes}
            finish(root, system, 2e-5, seed, value, metric=metric, **own)


def table_of(folders, layout="sla1", test=over_seeds):
    (table,) = make_tables(find_outcomes(folders), layout, test)
    return table


def cells(table):
    """Return the table of the Markdown: rows of cells."""
    text = format_markdown([table], "a test")
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert len({len(row) for row in rows}) == 1
    return rows

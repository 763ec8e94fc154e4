"""Tables of runs that were never trained."""

from __future__ import annotations

from lab.finished_runs import finish

from fairseq_plugins.lab.results.compare import Significance
from fairseq_plugins.lab.results.frame import find_experiments, finished_parts
from fairseq_plugins.lab.results.paper_tables import paper_tables
from fairseq_plugins.lab.results.tables import table_lines

OVER_SEEDS = Significance()


def fill(root, dataset, metric, scores, **changes):
    """Write runs of several systems: system -> values of its seeds."""
    for system, values in scores.items():
        for seed, value in enumerate(values, start=1):
            own = {"dataset": dataset, "options": {"arch": system}, **changes}
            finish(root, system, 2e-5, seed, value, metric=metric, **own)


def parts_of(folders):
    """Return the finished runs of folders, part by part."""
    return finished_parts(find_experiments(folders))


def tables_of(folders, layout="", test=OVER_SEEDS, **options):
    return paper_tables(parts_of(folders), layout, test, **options)


def table_of(folders, layout="sla1", test=OVER_SEEDS):
    (table,) = tables_of(folders, layout, test)
    return table


def cells(table, cited=False):
    """Return the table of the Markdown: rows of cells, those of cited systems where asked for."""
    lines = (line.replace("**", "").strip("| ") for line in table_lines(table))
    rows = [line.split(" | ") for line in lines if not line.startswith("---")]
    assert len({len(row) for row in rows}) == 1
    return [row for row in rows if cited or not row[0].endswith("(cited)")]


def named(table):
    """Return what the systems of a table are called."""
    return [row[0] for row in cells(table)[1:]]


def column(table, head):
    first, *rows = cells(table)
    return {row[0]: row[first.index(head)] for row in rows}

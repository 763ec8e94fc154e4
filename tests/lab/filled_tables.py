"""Tables of runs that were never trained."""

from __future__ import annotations

from lab.finished_runs import finish

from fairseq_plugins.lab.results.compare import Significance
from fairseq_plugins.lab.results.frame import find_experiments, finished_parts
from fairseq_plugins.lab.results.paper_formats import paper_table
from fairseq_plugins.lab.results.paper_tables import Row, make_tables
from fairseq_plugins.lab.results.tables import format_table

OVER_SEEDS = Significance()


def fill(root, dataset, metric, scores, **changes):
    """Write runs of several systems: system -> values of its seeds."""
    for system, values in scores.items():
        for seed, value in enumerate(values, start=1):
            own = {"dataset": dataset, "options": {"arch": system}, **changes}
            finish(root, system, 2e-5, seed, value, metric=metric, **own)


def parts_of(folders):
    """Return the finished runs of each part."""
    return finished_parts(find_experiments(folders))


def table_of(folders, layout="sla1", test=OVER_SEEDS):
    (table,) = make_tables(parts_of(folders), layout, test)
    return table


def format_markdown(table, test):
    return format_table(paper_table(table, test))


def entry_of(table, kind, size="minilm", place=0):
    """Return the scores of a system on a dataset of a table."""
    return table.entry(Row(size, kind), place)


def cells(table, cited=False):
    """Return the table of the Markdown: rows of cells, those of cited systems where asked for."""
    text = format_markdown(table, OVER_SEEDS)
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert len({len(row) for row in rows}) == 1
    return [row for row in rows if cited or not row[0].endswith(", cited")]

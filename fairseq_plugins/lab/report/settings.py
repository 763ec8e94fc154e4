"""Tables of a report that say what an experiment is: parts, options, versions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from ..results.run_frame import FAILED, FINISHED, UNFINISHED
from ..results.runs import Experiment
from ..results.seeds import chosen_finished
from ..results.settings_table import shown_metrics
from ..results.tables import NONE, Cell, Heading, Table, number_cell


def parts_table(experiment: Experiment) -> Table:
    """Return one line a part: what it is, and how much of it is done; no column of noughts."""
    counted = ["systems", "settings", "seeds", FINISHED, FAILED, UNFINISHED]
    rows = []
    for part in experiment.parts:
        runs, shown = experiment.of(part), shown_metrics(experiment.of(part))
        numbers = [
            *(runs[column].nunique() for column in ("system", "setting", "seed")),
            *((runs.status == status).sum() for status in counted[3:]),
        ]
        cells = [Cell(experiment.name_of(part)), Cell(part.dataset or NONE)]
        cells += [number_cell(number, "{:,}") for number in numbers]
        cells += [Cell(shown[0].metric, shown[0].split) if shown else Cell(NONE)]
        tried = ", ".join(one.metric for one in shown[1:])
        cells += [Cell(tried, shown[1].split) if tried else Cell(NONE)]
        rows.append(cells)
    names = ["part", "dataset", *counted, "chosen by", "tried on"]
    told = [
        place
        for place, name in enumerate(names)
        if name not in (FAILED, UNFINISHED, "tried on")
        or any(row[place].text not in ("0", NONE) for row in rows)
    ]
    headings = [Heading(names[place], is_number=names[place] in counted) for place in told]
    return Table("Parts", headings, [[row[place] for place in told] for row in rows])


def options_tables(title: str, runs: pd.DataFrame) -> Iterator[Table]:
    """Yield the options that all chosen systems share, and those in which they differ."""
    chosen = chosen_finished(runs)
    options = {system: _spelled(one.runs.options.iloc[0]) for system, one in chosen.items()}
    names = list(dict.fromkeys(name for own in options.values() for name in own))
    same = [name for name in names if len({own.get(name) for own in options.values()}) == 1]
    heads = [Heading("option", is_number=False), Heading("value", is_number=False)]
    if same:
        values = next(iter(options.values()))
        rows = [[Cell(name), Cell(values[name])] for name in same]
        about = "Options of fairseq-train at the chosen settings, first seed."
        yield Table(f"{title}: options of all systems", heads, rows, about, is_folded=True)
    differing = [name for name in names if name not in same]
    if differing:
        rows = [
            [Cell(system), *(Cell(own.get(name, NONE)) for name in differing)]
            for system, own in options.items()
        ]
        headings = [Heading(name, is_number=False) for name in ["system", *differing]]
        yield Table(f"{title}: options that differ", headings, rows, is_folded=True)


def _spelled(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options as they are written; seeds differ by design."""
    return {
        str(name): value if isinstance(value, str) else json.dumps(value)
        for name, value in options.items()
        if name != "seed"
    }


def versions_table(experiment: Experiment) -> Table | None:
    """Return what the runs depended on: one line a package, one column for each set of versions."""
    found = [
        experiment.facts.get("versions"),
        *(facts.get("versions") for facts in experiment.runs.facts),
    ]
    sets = [one for k, one in enumerate(found) if isinstance(one, dict) and one not in found[:k]]
    names = list(dict.fromkeys(str(name) for one in sets for name in one))
    if not names:
        return None
    heads = ["version"] if len(sets) == 1 else [f"version {k}" for k in range(1, len(sets) + 1)]
    rows = [[Cell(name), *(Cell(str(one.get(name, NONE))) for one in sets)] for name in names]
    headings = [Heading(name, is_number=False) for name in ["package", *heads]]
    note = "" if len(sets) == 1 else "Runs were made with different versions."
    return Table("Versions", headings, rows, note)

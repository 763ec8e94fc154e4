"""Tables of a report that need no paper: every setting, options, versions."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..results.outcomes import Setting
from .curves import by_setting, chosen_finished, finished
from .model import Cell, Heading, Table
from .records import FAILED, FINISHED, UNFINISHED, Experiment, Part, RunRecord
from .tables import NONE, score_cell, with_best

FOLDED = 30  # rows from which a table is folded
_BLEU = ("bleu", "chrf")


class Shown(NamedTuple):
    """What is shown of runs: a metric on a split, of the field `best` or `evaluation`."""

    metric: str
    split: str
    field: str

    @property
    def title(self) -> str:
        """To be read."""
        return f"{self.metric} ({self.split})"

    def values(self, runs: Sequence[RunRecord]) -> list[float]:
        """Return it of those runs that have it."""
        found = (getattr(run, self.field).get(self.metric) for run in runs)
        return [value for value in found if value is not None]


def shown_metrics(records: Sequence[RunRecord]) -> list[Shown]:
    """Return what there is to show of runs: the metric that chose, and those of the evaluation."""
    done = finished(records)
    if not done:
        return []
    found = [Shown(done[0].metric, done[0].validation, "best")]
    tried = [run for run in done if run.evaluation]
    if tried:
        names = [name for name in _BLEU if any(name in run.evaluation for run in tried)]
        names = names or [name for name in (done[0].metric,) if name in tried[0].evaluation]
        found += [Shown(name, tried[0].evaluated, "evaluation") for name in names]
    return found


def parts_table(experiment: Experiment) -> Table:
    """Return one line a part: what it is, and how much of it is done; no column of noughts."""
    counted = ["systems", "settings", "seeds", FINISHED, FAILED, UNFINISHED]
    rows = []
    for part in experiment.parts:
        runs, shown = experiment.of(part), shown_metrics(experiment.of(part))
        numbers = [
            len({run.setting.system for run in runs}),
            len(by_setting(runs)),
            len({run.seed for run in runs}),
            *(sum(run.status == status for run in runs) for status in counted[3:]),
        ]
        cells = [Cell(name_of(experiment, part)), Cell(part.dataset or NONE)]
        cells += [Cell(f"{number:,}", value=number) for number in numbers]
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


def name_of(experiment: Experiment, part: Part) -> str:
    """Return what a part is called."""
    return part.name if part.name != "." else experiment.folder.resolve().name


def settings_table(
    title: str, records: Sequence[RunRecord], *, is_folded: bool = False
) -> Table | None:
    """Return one line a setting, the chosen ones marked; None before the first run is finished.

    Args:
        title: of the table.
        records: runs of one part.
        is_folded: whether it is folded though it is short.
    """
    groups, shown = by_setting(finished(records)), shown_metrics(records)
    if not groups:
        return None
    best = {runs[0].setting for runs in _chosen_everywhere(records)}
    names, parted = _shared_choices(groups), any(setting.fraction != 1 for setting in groups)
    headings = [Heading("system", is_number=False), *map(Heading, names)]
    headings += [Heading("learning rate"), Heading("length")]
    headings += [Heading("data")] if parted else []
    headings += [Heading(one.metric, one.split) for one in shown]
    headings += [Heading("parameters"), Heading("chosen", is_number=False)]
    rows = [
        [
            *_setting_cells(setting, names, parted),
            *(score_cell(one.values(runs), one.metric) for one in shown),
            _millions(runs),
            Cell("✓" if setting in best else ""),
        ]
        for setting, runs in groups.items()
    ]
    for place, one in enumerate(shown, start=len(headings) - len(shown) - 2):
        with_best(rows, place, one.metric)
    caption = (
        "Mean ± standard deviation over seeds; shares in %, BLEU and chrF in points. ✓: the "
        f"system's best by {shown[0].title}, among its settings with most seeds."
        f"{' Bold: best of the column.' if len(rows) > 1 else ''}"
    )
    return Table(title, headings, rows, caption, is_folded=is_folded or len(rows) >= FOLDED)


def _shared_choices(settings: Iterable[Setting]) -> list[str]:
    """Return the choices that all settings make, if they make the same and no others."""
    names = [[name for name, _ in setting.choice] for setting in settings]
    return names[0] if all(own == names[0] for own in names) else []


def _setting_cells(setting: Setting, names: Sequence[str], parted: bool) -> list[Cell]:
    """Return what a setting is; choices without a column stand below the system's name."""
    choice, share = dict(setting.choice), setting.fraction
    own = "" if names else ", ".join(f"{name} {value}" for name, value in setting.choice)
    cells = [Cell(setting.system, own), *(_value(choice[name]) for name in names)]
    cells += [_value(setting.learning_rate), _length(setting)]
    return cells + ([Cell(f"{100 * share:g} %", value=share)] if parted else [])


def _chosen_everywhere(records: Sequence[RunRecord]) -> Iterator[list[RunRecord]]:
    """Yield the runs of the chosen settings, of every fraction."""
    for fraction in {record.setting.fraction for record in records}:
        here = [record for record in records if record.setting.fraction == fraction]
        yield from chosen_finished(here).values()


def _value(value: Any) -> Cell:
    """Show a value of an option."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Cell(NONE if value is None else str(value))
    text = f"{value:g}".replace("e-0", "e-")
    return Cell(NONE if math.isnan(value) else text, value=float(value))


def _length(setting: Setting) -> Cell:
    if setting.updates:
        return Cell(f"{setting.updates:,} updates", value=setting.updates)
    return Cell(f"{setting.epochs} epoch{'s' * (setting.epochs != 1)}", value=setting.epochs)


def _millions(runs: Sequence[RunRecord]) -> Cell:
    count = runs[0].facts["parameters"]
    return Cell(f"{count / 1e6:.2f}M", value=count) if count else Cell(NONE)


def options_tables(title: str, records: Sequence[RunRecord]) -> Iterator[Table]:
    """Yield the options that all chosen systems share, and those in which they differ."""
    runs = {system: group[0] for system, group in chosen_finished(records).items()}
    options = {system: _spelled(run.options) for system, run in runs.items()}
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
        *(run.facts.get("versions") for run in experiment.records),
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

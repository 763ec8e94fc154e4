"""What there is to know about an experiment: parts, progress, failures, commands, settings."""

import json
import math
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pandas as pd

from ...files import sha256
from ..results.choice import chosen_finished
from ..results.frame import Experiment
from ..results.remarks import remarks_of
from ..results.setting_tables import shown_metrics
from ..results.tables import NONE, Heading, ResultTable, TableCell, number_cell, words
from ..results.training_log import updates_so_far
from ..rows import FAILED, FINISHED
from ..run_files import LOG, RESULT, ROWS, SETTINGS
from ..safe_files import is_file, read_tail
from .model import Command, Counts, Failure

STATES = (FINISHED, FAILED)
_LAST_LINES = 20  # of a log
_TAIL = 100_000  # bytes that hold them


def names_of(run: Any) -> tuple[str, str]:
    """Return what a run is called: its part and system; its setting and seed."""
    part = f"{run.part} · " if run.part != "." else ""
    return part + run.system, f"{run.setting.values} · seed {run.seed}"


def title_of(run: Any) -> str:
    """Return what it is called in lists."""
    return " · ".join(names_of(run))


def counts_of(experiment: Experiment) -> Counts:
    """Return how many runs are how far."""
    ended = [int((experiment.runs.status == one).sum()) for one in STATES]
    begun = len(_begun(experiment))
    return Counts(*ended, unfinished=begun, waiting=len(experiment.waiting) - begun)


def facts_of(experiment: Experiment) -> list[tuple[str, str]]:
    """Return what there is to know about an experiment, as names and values."""
    runs = experiment.runs
    systems, seeds = list(dict.fromkeys(runs.system)), sorted(set(runs.seed))
    updates = sum(row.updates for row in runs.row if row.is_finished)
    found = [
        ("note", " ".join(remarks_of(runs))),
        ("file", str(experiment.facts.get("file") or "")),
        ("folder", str(experiment.folder)),
        ("rows", _hash_of(experiment.folder / ROWS)),
        ("systems", f"{len(systems)}: {', '.join(systems)}" if systems else ""),
        ("seeds", ", ".join(map(str, seeds))),
        ("updates", f"{updates:,} in finished runs" if updates else ""),
        ("begun", "".join(_written(*(folder / SETTINGS for folder in runs.folder))[:1])),
        ("last result", "".join(_written(*(folder / RESULT for folder in runs.folder))[-1:])),
    ]
    return [(name, value) for name, value in found if value]


def _hash_of(path: Path) -> str:
    """Return the beginning of a file's SHA-256; empty if it is not there."""
    return f"SHA-256 {sha256(path)[:12]}" if is_file(path) else ""


def _written(*paths: Path) -> list[str]:
    """Return when those files that are there were written, sorted."""
    times = sorted(path.stat().st_mtime for path in paths if is_file(path))
    stamps = (datetime.fromtimestamp(time, timezone.utc) for time in times)
    return [stamp.strftime("%Y-%m-%d %H:%M UTC") for stamp in stamps]


def failures_of(experiment: Experiment) -> list[Failure]:
    """Return the failed runs, each with the last lines of what it said."""
    found, runs = [], experiment.runs
    for run in runs[runs.status == FAILED].itertuples():
        done = updates_so_far(run.folder / LOG)
        told = f"{done:,} of {run.row.updates:,} updates"
        text = run.row.error
        text = text if text.strip() else read_tail(run.folder / LOG, _TAIL)
        last = "\n".join(text.rstrip().splitlines()[-_LAST_LINES:]) or "It left no message."
        found.append(Failure(title_of(run), str(run.folder), told, last))
    return found


def unfinished_table(experiment: Experiment) -> ResultTable | None:
    """Return how far runs are that have begun and are not finished; None if there are none."""
    headings = [*words("run"), Heading("updates"), Heading("done"), *words("log last written")]
    begun = _begun(experiment).items()
    rows = [list(_how_far(*one, experiment.folder)) for one in begun]
    return ResultTable("Unfinished runs", headings, rows) if rows else None


def _begun(experiment: Experiment) -> dict[Path, int]:
    """Return folder -> updates of the runs that train, or have trained, and have no row."""
    waiting = experiment.waiting.items()
    return {folder: updates for folder, updates in waiting if is_file(folder / LOG)}


def _how_far(folder: Path, updates: int, root: Path) -> Iterator[TableCell]:
    """Yield the cells of an unfinished run."""
    log = folder / LOG
    done = updates_so_far(log)
    share = min(1.0, done / updates) if updates else math.nan
    yield TableCell(str(folder.relative_to(root)))
    yield TableCell(f"{done:,}", f"of {updates:,}" if updates else "", done)
    yield TableCell("" if math.isnan(share) else f"{100 * share:.0f} %", value=share, share=share)
    yield TableCell("".join(_written(log)) or "not yet")


def commands_of(experiment: Experiment) -> list[Command]:
    """Return the command of the experiment, then that of every run."""
    own = str(experiment.facts.get("command") or "")
    found = [Command("the whole experiment", own, True)] if own else []
    told = ((title_of(run), run.row.command) for run in experiment.runs.itertuples())
    return [*found, *(Command(title, text) for title, text in told if text)]


def parts_table(experiment: Experiment) -> ResultTable:
    """Return one line a part: what it is, and how much of it is done; no column of noughts."""
    counted = ["systems", "settings", "seeds", *STATES]
    rows = []
    for name, runs in experiment.parts.items():
        shown = shown_metrics(runs)
        numbers = [
            *(runs[column].nunique() for column in ("system", "setting", "seed")),
            *((runs.status == status).sum() for status in STATES),
        ]
        cells = [TableCell(name), TableCell(runs.dataset.iloc[0] or NONE)]
        cells += [number_cell(number, "{:,}") for number in numbers]
        cells += [TableCell(shown[0].metric, shown[0].split) if shown else TableCell(NONE)]
        tried = ", ".join(one.metric for one in shown[1:])
        cells += [TableCell(tried, shown[1].split) if tried else TableCell(NONE)]
        rows.append(cells)
    names = ["part", "dataset", *counted, "chosen by", "tried on"]
    told = [
        place
        for place, name in enumerate(names)
        if name not in (FAILED, "tried on")
        or any(row[place].text not in ("0", NONE) for row in rows)
    ]
    headings = [Heading(names[place], is_number=names[place] in counted) for place in told]
    return ResultTable("Parts", headings, [[row[place] for place in told] for row in rows])


def options_tables(title: str, runs: pd.DataFrame) -> Iterator[ResultTable]:
    """Yield the options that all chosen systems share, and those in which they differ."""
    chosen = chosen_finished(runs)
    options = {system: _spelled(one.options.iloc[0]) for system, one in chosen.items()}
    names = list(dict.fromkeys(name for own in options.values() for name in own))
    same = [name for name in names if len({own.get(name) for own in options.values()}) == 1]
    if same:
        values = next(iter(options.values()))
        rows = [[TableCell(name), TableCell(values[name])] for name in same]
        about = "Options of fairseq-train at the chosen settings, first seed."
        yield ResultTable(
            f"{title}: options of all systems",
            words("option", "value"),
            rows,
            about,
            is_folded=True,
        )
    differing = [name for name in names if name not in same]
    if differing:
        rows = [
            [TableCell(system), *(TableCell(own.get(name, NONE)) for name in differing)]
            for system, own in options.items()
        ]
        heads = words("system", *differing)
        yield ResultTable(f"{title}: options that differ", heads, rows, is_folded=True)


def _spelled(options: Mapping[str, Any]) -> dict[str, str]:
    """Return options as they are written; seeds differ by design."""
    return {
        str(name): value if isinstance(value, str) else json.dumps(value)
        for name, value in options.items()
        if name != "seed"
    }


def versions_table(experiment: Experiment) -> list[ResultTable]:
    """Return what the runs depended on, if known: a line a package, a column a set of versions."""
    found = [experiment.facts.get("versions"), *(row.versions for row in experiment.runs.row)]
    found = [one for one in found if isinstance(one, dict) and one]
    sets = [one for k, one in enumerate(found) if one not in found[:k]]
    names = list(dict.fromkeys(str(name) for one in sets for name in one))
    if not names:
        return []
    heads = ["version"] if len(sets) == 1 else [f"version {k}" for k in range(1, len(sets) + 1)]
    rows = [
        [TableCell(name), *(TableCell(str(one.get(name, NONE))) for one in sets)] for name in names
    ]
    note = "" if len(sets) == 1 else "Runs were made with different versions."
    return [ResultTable("Versions", words("package", *heads), rows, note)]

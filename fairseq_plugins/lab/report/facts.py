"""Facts about an experiment: progress, parts, failures, commands, versions."""

from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ...files import sha256
from ..results.frame import Experiment
from ..results.remarks import remarks_of
from ..results.setting_tables import shown_metrics
from ..results.tables import NONE, ResultTable, TableCell, headings, number_cell
from ..results.training_log import updates_so_far
from ..rows import FAILED, FINISHED
from ..run_files import LOG, RESULT, ROWS, SETTINGS
from ..safe_files import is_file, read_tail
from .page import Chapter, Failure

STATES = (FINISHED, FAILED)
_LAST_LINES = 20  # of a log
_TAIL = 100_000  # bytes of the log that contain them


def chapter_of(experiment: Experiment) -> Chapter:
    """Return the facts about an experiment's runs, without tables and figures."""
    runs = experiment.runs.itertuples()
    return Chapter(
        experiment.title,
        counts_of(experiment),
        _facts(experiment),
        _parts_table(experiment),
        list(failures_of(experiment)),
        command=str(experiment.facts.get("command") or ""),
        commands={_title_of(run): run.row.command for run in runs if run.row.command},
    )


def _title_of(run: Any) -> str:
    part = f"{run.part} · " if run.part != "." else ""
    return f"{part}{run.system} · {run.setting.values} · seed {run.seed}"


def counts_of(experiment: Experiment) -> dict[str, int]:
    """Return state -> number of runs; a waiting run has not begun."""
    ended = {state: int((experiment.runs.status == state).sum()) for state in STATES}
    left = len(experiment.waiting)
    begun = sum(is_file(folder / LOG) for folder in experiment.waiting)
    return {**ended, "unfinished": begun, "waiting": left - begun}


def _facts(experiment: Experiment) -> dict[str, str]:
    runs, told, rows = experiment.runs, experiment.facts, experiment.folder / ROWS
    sets = [told.get("versions"), *(row.versions for row in runs.row)]
    versions = [
        ", ".join(f"{name} {version}" for name, version in one.items())
        for one in sets
        if isinstance(one, dict)
    ]
    updates = sum(row.updates for row in runs.row if row.is_finished)
    found = {
        "note": " ".join(remarks_of(runs)),
        "file": str(told.get("file") or ""),
        "folder": str(experiment.folder),
        "rows": f"SHA-256 {sha256(rows)[:12]}" if is_file(rows) else "",
        "systems": ", ".join(dict.fromkeys(runs.system)),
        "seeds": ", ".join(map(str, sorted(set(runs.seed)))),
        "updates": f"{updates:,} in finished runs" if updates else "",
        "begun": "".join(_written(*(folder / SETTINGS for folder in runs.folder))[:1]),
        "last result": "".join(_written(*(folder / RESULT for folder in runs.folder))[-1:]),
        "versions": "; others: ".join(dict.fromkeys(filter(None, versions))),
    }
    return {name: value for name, value in found.items() if value}


def _written(*paths: Path) -> list[str]:
    times = sorted(path.stat().st_mtime for path in paths if is_file(path))
    stamps = (datetime.fromtimestamp(time, timezone.utc) for time in times)
    return [stamp.strftime("%Y-%m-%d %H:%M UTC") for stamp in stamps]


def _parts_table(experiment: Experiment) -> ResultTable:
    """Return one line per part: its size and progress."""
    counted = ("systems", "settings", "seeds", *STATES)
    rows = []
    for name, runs in experiment.parts.items():
        numbers = [runs[column].nunique() for column in ("system", "setting", "seed")]
        numbers += [int((runs.status == status).sum()) for status in STATES]
        chose, *tried = [f"{one.metric} ({one.split})" for one in shown_metrics(runs)] or [NONE]
        texts = [name, runs.dataset.iloc[0] or NONE]
        cells = [number_cell(number, "{:,}") for number in numbers]
        last = [chose, ", ".join(tried) or NONE]
        rows.append([*map(TableCell, texts), *cells, *map(TableCell, last)])
    heads = headings("part", "dataset", *counted, "chosen by", "tried on")
    return ResultTable("Parts", heads, rows)


def failures_of(experiment: Experiment) -> Iterator[Failure]:
    """Yield the failed runs, each with the last lines of its log."""
    runs = experiment.runs
    for run in runs[runs.status == FAILED].itertuples():
        told = f"{updates_so_far(run.folder / LOG):,} of {run.row.updates:,} updates"
        text = run.row.error if run.row.error.strip() else read_tail(run.folder / LOG, _TAIL)
        last = "\n".join(text.rstrip().splitlines()[-_LAST_LINES:]) or "It left no message."
        yield Failure(_title_of(run), str(run.folder), told, last)

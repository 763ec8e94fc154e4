"""What is recorded of an experiment: its description, and a row for every run.

``experiment.json`` says what it is, ``rows.jsonl`` holds one line a run that came to an end, in the
plan's order; see `lab.rows`.
"""

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...files import alone_in, write_text
from ..plan.prepared_data import TRANSLATION
from ..results.origins import made_of, trained_with
from ..rows import FAILED, FINISHED, Row, read_rows
from ..rows import write_rows as write_file
from ..run_files import DESCRIPTION, RESULT, ROWS
from ..safe_files import read_json
from .experiment import Plan
from .run import Run, versions

logger = logging.getLogger(__name__)

_OF_RESULT = ("positive", "best_updates", "parameters", "processes", "command", "versions", "last")
_OF_RESULT += ("device",)


def write_description(plan: Plan, command: str) -> None:
    """Write ``experiment.json``; what an earlier plan made and is still there stays in it."""
    path = plan.root / DESCRIPTION
    with alone_in(plan.root):  # another command may run other parts
        found = _description(plan, command, read_json(path))
        write_text(path, json.dumps(found, indent=2, ensure_ascii=False) + "\n")


def _description(plan: Plan, command: str, earlier: Mapping[str, Any]) -> dict[str, Any]:
    experiment = plan.experiment
    names = [part.name for part in experiment.parts]
    runs = [
        {"folder": str(run.folder.relative_to(plan.root)), "updates": run.updates}
        for run in plan.runs
    ]
    others = [run for run in earlier.get("runs", []) if run not in runs]
    parts = [
        {
            "name": part.name,
            "folder": "." if experiment.is_grid else part.name,
            "dataset": part.grid.dataset,
            "data": str(part.folder),
            "kind": TRANSLATION if part.grid.dataset == TRANSLATION else "understanding",
        }
        for part in experiment.parts
    ]
    return {
        "name": experiment.name,
        "title": experiment.title,
        "file": str(experiment.file),
        "command": command,
        "parts": parts + [one for one in earlier.get("parts", []) if one["name"] not in names],
        "runs": runs + [run for run in others if (plan.root / run["folder"]).is_dir()],
        "tables": list(experiment.tables),
        "after": dict(experiment.after),  # name -> words
        "versions": versions(),
    }


def rows(plan: Plan, failures: Mapping[Path, str]) -> list[Row]:
    """Return a row for every run that came to an end; failures are folder -> what went wrong."""
    found = []
    for run in plan.runs:
        result, error = read_json(run.folder / RESULT), failures.get(run.folder, "")
        if result or error:
            found.append(_row(plan, run, result, error))
    return found


def _row(plan: Plan, run: Run, result: Mapping[str, Any], error: str) -> Row:
    """Return what is known of a run."""
    settings = run.settings
    tried = read_json(run.evaluation) if result else {}
    metrics = {settings["validation"]: result["best"]} if result else {}
    metrics |= {tried["of"]: tried["metrics"]} if tried else {}
    speed = result.get("updates_per_second")
    return Row(
        experiment=plan.experiment.name,
        part=run.part,
        folder=str(run.folder.relative_to(plan.root)),
        status=FAILED if error else FINISHED,
        error=error,
        metrics=metrics,
        gates={str(layer): share for layer, share in result.get("gates", {}).items()},
        seconds=round(run.updates / speed, 1) if speed else None,
        **_planned(run),
        **{name: result[name] for name in _OF_RESULT if name in result},
    )


def _planned(run: Run) -> dict[str, Any]:
    """Return what a row says of a run before it begins."""
    (setting, seed), settings = run.cell, run.settings
    options = {name: value for name, value in settings["options"].items() if name != "seed"}
    return {
        **{name: getattr(setting, name) for name in ("system", "learning_rate", "epochs")},
        **{name: settings[name] for name in ("dataset", "metric")},
        "arch": options.get("arch", ""),
        "seed": seed,
        "share": setting.fraction,
        "updates": run.updates,
        "choice": dict(setting.choice),
        "options": options,
        "chosen_on": settings["validation"],
        "data": settings.get("validation_data", settings["data"]),
        "prepared": str(run.data.folder),
        "examples": run.data.examples,
        "made_of": made_of(run.data.manifest),
        "trained": trained_with(settings),
        "note": run.grid.note,
        "trial": run.grid.trial,
    }


def write_rows(plan: Plan, failures: Mapping[Path, str]) -> None:
    """Write ``rows.jsonl`` anew: the plan's runs, then others that were planned and done before.

    Lines that are no rows, as those of an earlier release, are left out with a warning, and so are
    results of runs that were removed.
    """
    with alone_in(plan.root):
        planned = {run.folder for run in plan.runs}
        path = plan.root / ROWS
        remarks: list[str] = []
        earlier = read_rows(path, remarks) if path.is_file() else []
        for remark in remarks:
            logger.warning(remark)
        kept = [one for one in earlier if (one.folder / RESULT).is_file()]
        for one in earlier:
            if one.row.is_finished and one not in kept:
                logger.warning("%s: left out, its run was removed: %s", one.place, one.folder)
        others = [one.row for one in kept if one.folder not in planned]
        write_file(path, [*rows(plan, failures), *others])

"""What is recorded of an experiment: its description, and a row for every run.

``experiment.json`` says what it is, ``rows.jsonl`` holds one line a run that came to an end, in the
plan's order. Everything about time stands in a row's ``time``: the rest is the same whenever and
however often it was interrupted.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...files import alone_in, write_text
from ..plan.prepared_data import TRANSLATION
from ..results.kept_rows import numbered_rows
from ..results.origins import DEVICE, MADE_OF, TRAINED, made_of, trained_with
from ..run_files import DESCRIPTION, RESULT, ROWS
from ..safe_files import read_json
from .experiment import Plan
from .run import Run, versions

# of a result, what a row has under the same name; the rest is spelt in `_row`
_SHARED = ("dataset", "system", "learning_rate", "metric", "validation", "best", "last")
_MORE = ("positive", "best_updates", "parameters", "processes", DEVICE, "command", "versions")


def write_description(plan: Plan, command: str) -> None:
    """Write ``experiment.json``; what an earlier plan made and is still there stays in it."""
    experiment, earlier = plan.experiment, read_json(plan.root / DESCRIPTION)
    names = [part.name for part in experiment.parts]
    runs = [str(run.folder.relative_to(plan.root)) for run in plan.runs]
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
    found = {
        "name": experiment.name,
        "title": experiment.title,
        "file": str(experiment.file),
        "command": command,
        "parts": parts + [one for one in earlier.get("parts", []) if one["name"] not in names],
        "runs": runs + [run for run in others if (plan.root / run).is_dir()],
        "tables": list(experiment.tables),
        "after": dict(experiment.after),  # name -> words
        "versions": versions(),
    }
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    write_text(plan.root / DESCRIPTION, text)


def rows(plan: Plan, failures: Mapping[Path, str]) -> list[dict[str, Any]]:
    """Return a row for every run that came to an end; failures are folder -> what went wrong."""
    found = []
    for run in plan.runs:
        result = read_json(run.folder / RESULT)
        if run.folder in failures:
            result = {**run.settings, **result, "error": failures[run.folder]}
        if result:
            found.append(_row(plan, run, result))
    return found


def _row(plan: Plan, run: Run, result: Mapping[str, Any]) -> dict[str, Any]:
    """Lay out what is known of a run."""
    tried = read_json(run.evaluation)
    speed = result.get("updates_per_second")
    error = {"error": result["error"]} if "error" in result else {}
    return {
        "experiment": plan.experiment.name,
        "part": run.part,
        **{name: result.get(name) for name in _SHARED},
        "arch": result.get("options", {}).get("arch", ""),
        "epochs": result.get("epochs", 0),
        "updates": run.updates,
        "fraction": run.cell.fraction,
        "choice": dict(run.cell.choice),
        "seed": run.cell.seed,
        "status": "failed" if error else "finished",
        "evaluated": tried.get("of", ""),
        "evaluation": tried.get("metrics", {}),
        **{name: result.get(name) for name in _MORE},
        MADE_OF: made_of(run.data.manifest),
        TRAINED: trained_with(run.settings),
        **run.marks,
        "folder": str(run.folder.relative_to(plan.root)),
        **error,
        "time": {
            "updates_per_second": speed,
            "seconds": round(run.updates / speed, 1) if speed else None,
        },
    }


def write_rows(plan: Plan, failures: Mapping[Path, str]) -> None:
    """Write ``rows.jsonl`` anew: the plan's runs, then others that were planned and done before."""
    with alone_in(plan.root):
        _write_rows(plan, failures)


def _write_rows(plan: Plan, failures: Mapping[Path, str]) -> None:
    planned = {str(run.folder.relative_to(plan.root)) for run in plan.runs}
    earlier = read_rows(plan.root) if (plan.root / ROWS).is_file() else []
    others = [row for row in earlier if row.get("folder") not in planned]
    others = [row for row in others if (plan.root / str(row.get("folder")) / RESULT).is_file()]
    found = [*rows(plan, failures), *others]
    lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in found]
    write_text(plan.root / ROWS, "".join(lines))


def read_rows(folder: str | Path) -> list[dict[str, Any]]:
    """Read the rows of an experiment.

    Raises:
        FileNotFoundError: it has none.
        ValueError: a line that is no row; names file and line.
    """
    return [row for _, row in numbered_rows(Path(folder) / ROWS)]

"""Records of an experiment: its description, and a row for every run that ended.

``experiment.json`` describes the experiment. ``rows.jsonl`` holds the rows of its runs in the
plan's order, also those of failed runs; see `lab.rows`.
"""

import json
import logging

from ...files import alone_in, write_text
from ..rows import FAILED, FINISHED, Row, read_rows
from ..rows import write_rows as write_file
from ..run_files import DESCRIPTION, ERROR, ROWS
from ..safe_files import is_file, read_json, read_text
from .experiment import Plan, has_ended
from .run import Run
from .training import planned_row, versions

logger = logging.getLogger(__name__)


def write_description(plan: Plan, command: str) -> None:
    """Write ``experiment.json``; existing runs of an earlier plan stay in it."""
    path, experiment = plan.root / DESCRIPTION, plan.experiment
    runs = [
        {"folder": str(run.folder.relative_to(plan.root)), "updates": run.updates}
        for run in plan.runs
    ]
    with alone_in(plan.root):  # another command may run other parts
        others = [run for run in read_json(path).get("runs", []) if run not in runs]
        found = {
            "name": experiment.name,
            "title": experiment.title,
            "file": str(experiment.file),
            "command": command,
            "runs": runs + [run for run in others if (plan.root / run["folder"]).is_dir()],
            "tables": list(experiment.tables),
            "versions": versions(),
        }
        write_text(path, json.dumps(found, indent=2, ensure_ascii=False) + "\n")


def write_rows(plan: Plan) -> None:
    """Write ``rows.jsonl`` again: the plan's runs, then runs that ended under an earlier plan.

    Lines that are not rows, such as those of an earlier release, are dropped with a warning. Rows
    of removed runs are dropped.
    """
    path, planned = plan.root / ROWS, {run.folder for run in plan.runs}
    remarks: list[str] = []
    with alone_in(plan.root):
        rows = [*filter(None, (_row(plan, run) for run in plan.runs))]
        for one in read_rows(path, remarks) if path.is_file() else []:
            if has_ended(one.folder):
                rows += [one.row] if one.folder not in planned else []
            elif one.row.is_finished:
                remarks.append(f"{one.place}: left out, its run was removed: {one.folder}")
        for remark in remarks:
            logger.warning(remark)
        write_file(path, rows)


def _row(plan: Plan, run: Run) -> Row | None:
    """Return the row of a run, also of a failed run; None if the run has not ended."""
    row, path, error = run.row(), run.folder / ERROR, ""
    if is_file(path) and not run.is_finished():
        error = read_text(path, errors="replace").strip()
    if not (row or error):
        return None
    own = {"experiment": plan.experiment.name, "part": run.part}
    own |= {"note": run.grid.note, "trial": run.grid.trial, "error": error}
    own |= {"folder": str(run.folder.relative_to(plan.root))}
    row = row or planned_row(run, status=FAILED)
    return row.model_copy(update=own | {"status": FAILED if error else FINISHED})

"""All of a plan from beginning to end: partial training sets, records, runs, rows."""

from ...prep.subset import write_subset
from .experiment import Plan
from .records import write_description, write_rows
from .runner import execute


def complete(plan: Plan, command: str, *, apart: bool = False) -> list[str]:
    """Finish all runs and keep their rows; return a message for every failed run.

    Args:
        command: by which the plan can be carried out again, for its description.
        apart: see `runner.execute`.
    """
    for data in {run.data.folder: run.data for run in plan.runs}.values():
        if data.taken:
            write_subset(data.taken[0], data.folder, data.taken[1])
    write_description(plan, command)
    write_rows(plan)
    return execute(plan.runs, lambda *_: write_rows(plan), apart=apart)

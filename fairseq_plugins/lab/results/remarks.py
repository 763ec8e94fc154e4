"""What results must not be taken for: those of runs that were cut short, or on invented corpora."""

from dataclasses import replace

import pandas as pd

from .tables import ResultTable

TRIALS = {  # mark of runs that were cut short -> what is said of them
    "smoke": "Smoke test: two updates a run show that it runs; nothing is learnt or tested.",
    "quick": "Quick trial: runs shorter than the experiment asks for; nothing is tested.",
}


def remarks_of(runs: pd.DataFrame) -> list[str]:
    """Return what has to be said of runs wherever they are shown; nothing of whole ones."""
    marks = set(runs.trial)
    trials = [said for mark, said in TRIALS.items() if mark in marks]
    return [*trials, *dict.fromkeys(filter(None, runs.note))]


def remarked(table: ResultTable, runs: pd.DataFrame) -> ResultTable:
    """Return a table with what has to be said of its runs before all else below it."""
    caption = " ".join([*remarks_of(runs), table.caption]).strip()
    return replace(table, caption=caption)

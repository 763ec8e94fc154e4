"""What results must not be taken for: those of runs that were cut short, or on invented corpora."""

from collections import Counter
from dataclasses import replace

import pandas as pd

from ..rows import CPU
from .origins import WORDS
from .tables import ResultTable

TRIALS = {  # mark of runs that were cut short -> what is said of them
    "smoke": "Smoke test: two updates a run show that it runs; nothing is learnt or tested.",
    "quick": "Quick trial: runs shorter than the experiment asks for; nothing is tested.",
}


def remarks_of(runs: pd.DataFrame) -> list[str]:
    """Return what has to be said of runs wherever they are shown; nothing of whole ones."""
    marks = set(runs.trial)
    trials = [said for mark, said in TRIALS.items() if mark in marks]
    notes = dict.fromkeys(filter(None, runs.note))
    return [*trials, *notes, *_words_of(runs), *devices_of(runs)]


def devices_of(runs: pd.DataFrame) -> list[str]:
    """Say what runs were trained on, unless all were on CPUs."""
    found = Counter(row.device for row in runs.row)
    told = ", ".join(f"{name} ({count} runs)" for name, count in sorted(found.items()))
    return [f"Trained on: {told}."] if {*found} - {CPU} else []


def _words_of(runs: pd.DataFrame) -> list[str]:
    """Say how the text of each dataset became words, unless no run tells it."""
    found: dict[str, dict[str, None]] = {}
    for run in runs.itertuples():
        cut = run.row.made_of.get(WORDS)
        found.setdefault(cut or "not said", {})[run.dataset] = None
    told = "; ".join(f"{cut} ({', '.join(names)})" for cut, names in found.items())
    return [f"Words: {told}."] if {*found} - {"not said"} else []


def remarked(table: ResultTable, runs: pd.DataFrame) -> ResultTable:
    """Return a table with what has to be said of its runs before all else below it."""
    caption = " ".join([*remarks_of(runs), table.caption]).strip()
    return replace(table, caption=caption)

"""Warnings beside results: runs cut short, invented corpora, mixed devices or words."""

from collections import Counter
from dataclasses import replace

import pandas as pd

from ..rows import CPU
from .origins import WORDS
from .tables import ResultTable

TRIALS = {  # mark of runs cut short -> warning
    "smoke": "Smoke test: two updates a run show that it runs; nothing is learnt or tested.",
    "quick": "Quick trial: runs shorter than the experiment asks for; nothing is tested.",
}


def remarks_of(runs: pd.DataFrame) -> list[str]:
    """Return the warnings about runs; none for complete runs."""
    marks = set(runs.trial)
    trials = [said for mark, said in TRIALS.items() if mark in marks]
    notes = dict.fromkeys(filter(None, runs.note))
    return [*trials, *notes, *_words_of(runs), *devices_of(runs)]


def devices_of(runs: pd.DataFrame) -> list[str]:
    """Name the devices of runs, unless all are CPUs."""
    found = Counter(row.device for row in runs.row)
    told = ", ".join(f"{name} ({count} runs)" for name, count in sorted(found.items()))
    return [f"Trained on: {told}."] if {*found} - {CPU} else []


def _words_of(runs: pd.DataFrame) -> list[str]:
    """Say how the text of each dataset became words, unless unknown."""
    found: dict[str, dict[str, None]] = {}
    for run in runs.itertuples():
        cut = run.row.made_of.get(WORDS)
        found.setdefault(cut or "not said", {})[run.dataset] = None
    told = "; ".join(f"{cut} ({', '.join(names)})" for cut, names in found.items())
    return [f"Words: {told}."] if {*found} - {"not said"} else []


def remarked(table: ResultTable, runs: pd.DataFrame) -> ResultTable:
    """Return a table with the warnings about its runs in its caption."""
    caption = " ".join([*remarks_of(runs), table.caption]).strip()
    return replace(table, caption=caption)

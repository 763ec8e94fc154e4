"""Answers of several runs together, as ``scripts/predict_squad.py`` gives them, as a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import squad_answers
from .bertqa_models import QUERY
from .paper_tables import row_of
from .run_frame import BEST, LAST, frame
from .runs import Outcomes
from .setting import Setting

ENSEMBLE = "ensemble"  # kind of the system


def with_ensemble(found: Sequence[Outcomes], folder: str | Path) -> list[Outcomes]:
    """Return runs with an ensemble of some of them.

    Args:
        found: runs, all members among them.
        folder: with the ensemble's ``metrics.json`` on the validation set.

    Raises:
        FileNotFoundError, ValueError: no such metrics, members that are none of the runs, or
            another split than the one that they were validated on.
    """
    folder = Path(folder)
    metrics = squad_answers.metrics_of(folder)
    about = squad_answers.read_json(folder / squad_answers.METRICS)
    runs = {run["folder"].resolve(): run for one in found for run in one.runs.to_dict("records")}
    members = []
    for checkpoint in map(Path, about.get("checkpoints", ())):
        run = runs.get(checkpoint.resolve().parent)
        if run is None:
            raise ValueError(f"{folder}: {checkpoint} is of none of the runs that are reported")
        members.append(run)
    if not members or not str(about.get("of", "")).startswith(f"{members[0]['validation']} of "):
        raise ValueError(
            f"{folder} holds no answers of checkpoints to split 'valid', but to {about.get('of')!r}"
        )
    added = _ensemble(members, metrics, folder, str(about.get("ensemble")))
    return [
        replace(one, runs=frame([*one.runs.to_dict("records"), added]))
        if one.root == added["root"]
        else one
        for one in found
    ]


def _ensemble(
    members: Sequence[dict[str, Any]], metrics: dict[str, float], folder: Path, rule: str
) -> dict[str, Any]:
    """Return an ensemble as if it were a run."""
    first = frame(list(members))
    rows = [row_of(run) for run in first.itertuples()]
    wired = QUERY if all(row.kind.startswith(QUERY) for row in rows) else ""
    choice = (("of", ", ".join(first.system)), ("rule", rule))
    setting = Setting(f"{wired}{ENSEMBLE}_{rows[0].size}", math.nan, 0, choice)
    scores = {f"{where}.{name}": metrics[name] for where in (BEST, LAST) for name in metrics}
    of_runs = ("part", "root", "dataset", "data", "metric", "validation", "arch", "status", "done")
    return {
        **{name: members[0][name] for name in of_runs},
        **setting._asdict(),
        "setting": setting,
        "seed": 1,
        "folder": folder,
        "parameters": sum(first.parameters),
        **dict.fromkeys(("ablated", "positive", "evaluated", "prepared"), ""),
        "options": {},
        "facts": {},
        **scores,
    }

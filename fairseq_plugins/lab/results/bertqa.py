"""Models of question answering, by Chadha and Sood (2019): Table 1, and ensembles of several runs.

The layout ``bertqa1`` says what the paper says of models, and which options are named. Answers of
several runs together, as ``fairseq-plugins answer`` gives them, stand in tables as a run.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ...errors import InputError
from ...messages import quoted
from ..rows import PlacedRow, Row
from . import squad_answers
from .frame import frame_of
from .layouts import MODELS, Entries, labels, special
from .paper_tables import row_of
from .tables import Heading, ResultTable, TableCell, words

ENSEMBLE = "ensemble"  # kind of the system
QUERY = "query_"  # how the names of systems in the other wiring begin


class Models(Entries):
    """The layout; its file says what its entries are."""

    title: str
    systems: dict[str, str]
    usual: dict[str, str | None]
    called: dict[str, str]


def models_table(found: Sequence[pd.DataFrame], asked: bool = False) -> list[ResultTable]:
    """Lay the paper's models among runs out, each once; no table if there are none.

    Raises:
        InputError: there are none, and they are asked for.
    """
    layout, models = special(MODELS, Models), {}
    for run in (run for one in found for run in one.itertuples()):
        row = row_of(run)
        said = layout.systems.get(row.kind.removeprefix(QUERY))
        if said and not row.name and row not in models:
            batch, accumulated = (
                _whole(run, name, usual) for name, usual in (("batch-size", 0), ("update-freq", 1))
            )
            own = {name: run.options.get(name, usual) for name, usual in layout.usual.items()}
            changes = [f"{name} {own[name]}" for name in own if own[name] != layout.usual[name]]
            texts = [f"{row.label} ({row.size})", batch * accumulated, accumulated]
            texts += [f"{run.learning_rate:g}", Path(run.prepared).name or "–"]
            texts += [", ".join(layout.called.get(one, one) for one in changes) or "none", said]
            models[row] = [TableCell(str(text)) for text in texts]
    if asked and not models:
        raise InputError(f"table {MODELS!r}: no run is called model1, model2 or model3")
    headings = [*words("model"), *map(Heading, ("BS", "GA", "LR"))]
    headings += words("dataset", "arch. changes", "paper")
    rows = [models[row] for row in sorted(models, key=lambda row: [*labels()].index(row.kind))]
    caption = "BS: questions of an update; GA: batches that they are read in. Paper: the same."
    return [ResultTable(layout.title, headings, rows, caption)] if models else []


def _whole(run: Any, name: str, usual: int) -> int:
    """Return an option that is a whole number; InputError names row and option."""
    said = run.options.get(name, usual)
    try:
        return int(said)
    except (TypeError, ValueError, OverflowError):
        told = f"option {name!r}: {quoted(said)} is no whole number"
        raise InputError(f"{run.place}: {told}") from None


def with_ensemble(found: Sequence[pd.DataFrame], folder: str | Path) -> list[pd.DataFrame]:
    """Return runs with an ensemble of some of them, as if it were a run.

    Args:
        found: runs, all members among them.
        folder: with the ensemble's ``metrics.json`` on the validation set.

    Raises:
        FileNotFoundError, InputError: no such metrics, members that are none of the runs, or
            another split than the one that they were validated on.
    """
    folder = Path(folder)
    metrics = squad_answers.metrics_of(folder)
    about = squad_answers.read_json(folder / squad_answers.METRICS)
    runs = {run.folder.resolve(): run for one in found for run in one.itertuples()}
    members: list[Any] = []
    listed = about.get("checkpoints")
    for checkpoint in map(str, listed if isinstance(listed, list) else ()):
        if (at := Path(checkpoint).resolve().parent) not in runs:
            raise InputError(f"{folder}: {checkpoint} is of none of the runs that are reported")
        members.append(runs[at])
    of = str(about.get("of", ""))
    if not members or not of.startswith(f"{members[0].validation} of "):
        raise InputError(
            f"{folder} holds no answers of checkpoints to split 'valid', but to {of!r}"
        )
    kinds = [row_of(run).kind for run in members]
    wired, first = QUERY * all(kind.startswith(QUERY) for kind in kinds), members[0].row
    whose = ", ".join(run.system for run in members)
    own = {
        "system": f"{wired}{ENSEMBLE}_{row_of(members[0]).size}",
        "seed": 1,
        "learning_rate": math.nan,
        "choice": {"of": whose, "rule": str(about.get("ensemble"))},
        "metrics": {first.chosen_on: metrics},
        "last": metrics,
        "parameters": sum(run.parameters for run in members),
    }
    whole = dict.fromkeys(("counts", "options", "gates"), {}) | {"epochs": 0, "updates": 0}
    made = Row(**first.model_dump() | whole | own)
    line = frame_of([PlacedRow(str(folder), made, folder)]).assign(root=members[0].root)
    return [
        pd.concat([one, line], ignore_index=True) if one.root.iloc[0] == members[0].root else one
        for one in found
    ]

"""Models of question answering, by Chadha and Sood (2019): Table 1, and ensembles of several runs.

The layout ``bertqa1`` says what the paper says of models, and which options are named. Answers of
several runs together, as ``fairseq-plugins answer`` gives them, stand in tables as a run.
"""

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from ..rows import PlacedRow, Row
from . import squad_answers
from .frame import frame, frame_of
from .layouts import Entries, labels, special
from .paper_tables import row_of
from .table_names import MODELS
from .tables import Heading, ResultTable, TableCell, words

ENSEMBLE = "ensemble"  # kind of the system
QUERY = "query_"  # how the names of systems in the other wiring begin


class Models(Entries):
    """The layout.

    Args:
        title: of the table.
        systems: kind -> what the paper says of it.
        usual: option -> value that goes without saying; the options that are named.
        called: option and value -> what the paper calls it.
    """

    title: str
    systems: dict[str, str]
    usual: dict[str, str | None]
    called: dict[str, str]

    def changes(self, options: dict[str, Any]) -> str:
        """Say what a model has otherwise than its architecture."""
        named = (name for name in self.usual if options.get(name) != self.usual[name])
        words = (f"{name} {options[name]}" for name in named if name in options)
        return ", ".join(self.called.get(word, word) for word in words) or "none"


@cache
def models_layout() -> Models:
    """Return the layout."""
    return special(MODELS, Models)


def models_table(found: Sequence[pd.DataFrame], asked: bool = False) -> list[ResultTable]:
    """Lay the paper's models among runs out, each once; no table if there are none.

    Raises:
        ValueError: there are none, and they are asked for.
    """
    models: dict[tuple[int, str], list[str]] = {}
    for run in (run for one in found for run in one.itertuples()):
        row = row_of(run)
        said = models_layout().systems.get(row.kind.removeprefix(QUERY))
        if said and not row.name:
            size, accumulated = (
                int(run.options.get(name, usual))
                for name, usual in (("batch-size", 0), ("update-freq", 1))
            )
            texts = [f"{row.label} ({row.size})", str(size * accumulated), str(accumulated)]
            texts += [f"{run.learning_rate:g}", Path(run.prepared).name or "–"]
            texts += [models_layout().changes(run.options), said]
            models.setdefault((list(labels()).index(row.kind), row.size), texts)
    if not models:
        if asked:
            raise ValueError(f"table {MODELS!r}: no run is called model1, model2 or model3")
        return []
    headings = [*words("model"), *map(Heading, ("BS", "GA", "LR"))]
    headings += words("dataset", "arch. changes", "paper")
    rows = [list(map(TableCell, models[key])) for key in sorted(models)]
    caption = "BS: questions of an update; GA: batches that they are read in. Paper: the same."
    return [ResultTable(models_layout().title, headings, rows, caption)]


def with_ensemble(found: Sequence[pd.DataFrame], folder: str | Path) -> list[pd.DataFrame]:
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
    runs = {run["folder"].resolve(): run for one in found for run in one.to_dict("records")}
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
    is_home = [one.root.iloc[0] == added["root"] for one in found]
    return [
        frame([*one.to_dict("records"), added]) if here else one
        for one, here in zip(found, is_home)
    ]


def _ensemble(
    members: Sequence[dict[str, Any]], metrics: dict[str, float], folder: Path, rule: str
) -> dict[str, Any]:
    """Return an ensemble as if it were a run."""
    first = frame(list(members))
    rows = [row_of(run) for run in first.itertuples()]
    wired = QUERY if all(row.kind.startswith(QUERY) for row in rows) else ""
    of_runs = ("experiment", "part", "dataset", "arch", "status", "metric", "chosen_on", "data")
    made = Row(
        **{name: getattr(members[0]["row"], name) for name in of_runs},
        system=f"{wired}{ENSEMBLE}_{rows[0].size}",
        seed=1,
        learning_rate=math.nan,
        choice={"of": ", ".join(first.system), "rule": rule},
        metrics={members[0]["validation"]: metrics},
        last=metrics,
        parameters=sum(first.parameters),
        folder="",
    )
    (line,) = frame_of([PlacedRow(str(folder), made, folder)]).to_dict("records")
    return {**line, "root": members[0]["root"]}

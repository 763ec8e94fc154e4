"""BERTQA's models and ensembles among runs: Table 1 of Chadha and Sood (2019), and the ensemble of
their Table 3, whose answers `answer` gave.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import squad_answers
from ..outcomes import Outcome, Outcomes, Setting
from .bertqa_tables import ENSEMBLE, KINDS, MODELS, QUERY
from .result_table import row_of

TITLE = "BERTQA's models (layout of Chadha and Sood 2019, Table 1)"
_HEAD = ("model", "BS", "GA", "LR", "dataset", "arch. changes", "paper")
_PAPER = {
    "model1": "6, 3, 1.5e-5, 2.Q (35%), none",
    "model2": "6, 3, 1.2e-5, 2.Q (35%), no LSTM",
    "model3": "6, 3, 1.1e-5, 2.Q (50%), none",
}
_CHANGES = {  # option and value -> what the paper would call it
    ("span-lstm", "none"): "no LSTM",
    ("span-head", "joint"): "joint head",
}
_USUAL = {"coattention-skip": "simple", "span-lstm": "forward", "span-head": "separate"}
_PARTS = (*_USUAL, "coattention-blocks", "local-convolutions", "coattention", "span-inputs")


@dataclass(frozen=True)
class Model:
    """One of the paper's models as it was run.

    Args:
        label: its name in the tables.
        batch: examples of an update.
        accumulated: batches of an update.
        rate: peak of the learning rate.
        data: name of the prepared folder.
        changes: what it has otherwise than its architecture.
        paper: what the paper says of it.
    """

    label: str
    batch: int
    accumulated: int
    rate: float
    data: str
    changes: str
    paper: str


def models_of(found: Sequence[Outcomes]) -> list[Model]:
    """Return the paper's models among runs, each once, in the order of the tables."""
    models = {}
    for run in (run for one in found for run in one.runs):
        row = row_of(run)
        if row.kind.removeprefix(QUERY) in MODELS and not row.name:
            models.setdefault((list(KINDS).index(row.kind), row.size), _model(run))
    return [models[key] for key in sorted(models)]


def _model(run: Outcome) -> Model:
    row, options = row_of(run), run.options
    size, accumulated = options.get("batch-size", 0), options.get("update-freq", 1)
    changes = [
        _CHANGES.get((name, options[name]), f"{name} {options[name]}")
        for name in _PARTS
        if name in options and options[name] != _USUAL.get(name)
    ]
    return Model(
        label=f"{row.label} ({row.size})",
        batch=int(size) * int(accumulated),
        accumulated=int(accumulated),
        rate=run.setting.learning_rate,
        data=Path(run.data).name or "–",
        changes=", ".join(changes) or "none",
        paper=_PAPER[row.kind.removeprefix(QUERY)],
    )


def format_markdown(models: Sequence[Model]) -> str:
    """Lay the models out in Markdown."""
    lines = [f"**{TITLE}**", "", f"| {' | '.join(_HEAD)} |", "|---|---:|---:|---:|---|---|---|"]
    lines += [f"| {' | '.join(_cells(model))} |" for model in models]
    lines += ["", "BS: questions of an update; GA: batches that they are read in. Paper: the same."]
    return "\n".join(lines) + "\n"


def format_csv(models: Sequence[Model]) -> str:
    """Return one line a model."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(_HEAD)
    writer.writerows(_cells(model) for model in models)
    return stream.getvalue()


def _cells(model: Model) -> Iterator[str]:
    yield from (model.label, str(model.batch), str(model.accumulated), f"{model.rate:g}")
    yield from (model.data, model.changes, model.paper)


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
    members, home = [], None
    for checkpoint in map(Path, about.get("checkpoints", ())):
        place = checkpoint.resolve().parent
        pairs = ((one, run) for one in found for run in one.runs)
        pair = next((p for p in pairs if p[1].folder.resolve() == place), None)
        if pair is None:
            raise ValueError(f"{folder}: {checkpoint} is of none of the runs that are reported")
        home = home or pair[0]
        members.append(pair[1])
    if home is None or not str(about.get("of", "")).startswith(f"{home.validation} of "):
        raise ValueError(
            f"{folder} holds no answers of checkpoints to split 'valid', but to {about.get('of')!r}"
        )
    added = _ensemble(members, metrics, folder, str(about.get("ensemble")))
    return [replace(one, runs=[*one.runs, added]) if one is home else one for one in found]


def _ensemble(
    members: Sequence[Outcome], metrics: dict[str, float], folder: Path, rule: str
) -> Outcome:
    """Return an ensemble as if it were a run."""
    rows = [row_of(run) for run in members]
    kind = ENSEMBLE
    if all(row.kind.startswith(QUERY) for row in rows):
        kind = f"{QUERY}{ENSEMBLE}"
    names = ", ".join(run.setting.system for run in members)
    setting = Setting(f"{kind}_{rows[0].size}", math.nan, 0, (("of", names), ("rule", rule)))
    return Outcome(
        setting,
        1,
        metrics,
        metrics,
        folder,
        arch=members[0].arch,
        parameters=sum(run.parameters for run in members),
    )

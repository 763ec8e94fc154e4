"""Train from Python: a run as the commands `train` and `run` make it, and its results."""

from __future__ import annotations

import os
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, TrainingError
from ..quiet import undisturbed
from .prepare import Data

if TYPE_CHECKING:
    from pandas import DataFrame

    from ..lab.execution.experiment import Plan
    from ..lab.rows import Row
    from .models import Model


class Run:
    """A finished run.

    Args:
        path: its folder, which holds ``result.json``.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __fspath__(self) -> str:
        return str(self.path)

    @cached_property
    def _row(self) -> Row:
        from ..lab.rows import read_rows
        from ..lab.run_files import RESULT

        if not (self.path / RESULT).is_file():
            raise InputError(f"{self.path} holds no finished run ({RESULT})")
        return read_rows(self.path / RESULT, remarks=[])[0].row

    @property
    def metrics(self) -> dict[str, dict[str, float]]:
        """Split -> metrics of the best checkpoint."""
        return dict(self._row.metrics)

    def table(self) -> DataFrame:
        """Return all validations of the training: a row each, by the number of updates."""
        from pandas import DataFrame, Index

        from ..lab.results.training_log import MACHINE, validations
        from ..lab.run_files import LOG

        found = validations(self.path / LOG, self._row.chosen_on)
        updates = Index([one.updates for one in found], name="updates")
        return DataFrame([one.metrics for one in found], updates).drop(
            columns=[*MACHINE], errors="ignore"
        )

    def load(self, **options: Any) -> Model:
        """Load the best checkpoint; see `load`."""
        from .models import load

        return load(self, **options)

    def _chief(self) -> dict[str, dict[str, float]]:
        """Return `metrics` without those of labels, layers and the machine."""
        from ..lab.results.training_log import chief
        from ..targets.by_label import parted

        first = self._row.metric
        return {split: chief(parted(found)[0], first) for split, found in self.metrics.items()}

    def __repr__(self) -> str:
        row, scores = self._row, []
        for split, found in self._chief().items():
            scores.append(f"{split}: {', '.join(f'{k} {v:.4g}' for k, v in found.items())}")
        of = f"{row.arch} on {row.prepared}, {row.updates:,} updates, seed {row.seed}"
        return f"Run {self.path}: {of}; {'; '.join(scores)}"

    def _repr_html_(self) -> str:
        from pandas import DataFrame

        table = DataFrame(self._chief()).T.to_html(float_format="{:.4g}".format, border=0)
        return f"<p>{escape(repr(self).partition(';')[0])}</p>{table}"


@undisturbed()
def train(
    data: Data | str | os.PathLike[str],
    arch: str,
    *,
    features: str | None = None,
    epochs: int | None = None,
    updates: int | None = None,
    lr: float | None = None,
    batch_size: int | None = None,
    metric: str | None = None,
    seed: int = 1,
    name: str = "",
    runs: str | Path | None = None,
    cpu: bool = False,
    **options: Any,
) -> Run:
    """Train a model in a process of its own, and predict the validation set (and a test set).

    What is not given is usual for the architecture in the experiments of ``examples/``. The run is
    where the command `train` would put it, RUNS/NAME/SETTING/seedN. A finished run is returned at
    once, and one that was interrupted continues.

    Args:
        data: prepared folder.
        arch: architecture, e.g. ``bert_sla_minilm`` (``fairseq-plugins options`` lists them).
        features: layers to read beside the subwords, e.g. ``pos,heads``.
        epochs: length of the training; for translation give ``updates``.
        updates: length in updates, in place of ``epochs``.
        lr: learning rate.
        batch_size: examples of an update; of translation ``max_tokens`` limits a batch.
        metric: of the validation, which chooses the checkpoint (default: that of the data).
        seed: of initialisation, dropout and order.
        name: of the model among those of the folder (default: the architecture).
        runs: folder of the runs (default: ``runs/`` and the name of the prepared folder).
        cpu: use no GPU.
        options: further options of fairseq-train, e.g. ``dropout=0.2``, ``max_tokens=4096``; True
            is a bare flag, None leaves a usual option out.

    Raises:
        FileNotFoundError: there is no such folder.
        InputError: an unknown architecture or option, or the folder of the run holds one with other
            settings.
        TrainingError: the training failed; the message ends with the end of its log.
    """
    from ..lab.execution.complete import complete

    if epochs is not None and updates is not None:
        raise InputError("epochs and updates both say how long to train: give one of them")
    keys = {"epochs": epochs, "updates": updates, "learning_rates": lr, "seeds": seed}
    keys |= {"metric": metric}
    if updates is not None and updates < 1:
        raise InputError(f"updates={updates}: at least 1")
    given = {"features": features, "batch-size": batch_size}
    given = {name: value for name, value in given.items() if value is not None}
    given |= {name.replace("_", "-"): value for name, value in options.items()}
    folder = Data.open(data)
    plan = _plan(folder, arch, name or arch, keys, given, runs, cpu)
    said = {name: value for name, value in {**keys, **given}.items() if value is not None}
    failed = complete(
        plan, f"fairseq_plugins.train({os.fspath(folder)!r}, {arch!r}, **{said})", apart=True
    )
    if failed:
        raise TrainingError(failed[0])
    return Run(plan.runs[0].folder)


def _plan(
    data: Data,
    arch: str,
    name: str,
    keys: dict[str, Any],
    options: dict[str, Any],
    runs: str | Path | None,
    cpu: bool,
) -> Plan:
    """Return the plan of one run; refuse what would fail later."""
    from ..lab.execution.experiment import JOBS, check_plan, make_plan
    from ..lab.execution.machine import Machine, gpus_here
    from ..lab.plan.experiment_file import PlannedExperiment, PlannedPart
    from ..lab.plan.grid import changed, grid_of
    from ..lab.plan.grid_selection import with_options
    from ..lab.plan.prepared_data import read_folders
    from ..lab.plan.usual import usual

    manifest = data.manifest
    tested = "test" in manifest.splits and manifest.labelled("test")
    content = {"dataset": manifest.dataset, "systems": [{"name": name, "arch": arch}]}
    content |= usual(arch, manifest.target) | {"evaluate": "test" if tested else ""}
    own = {key: value for key, value in keys.items() if value is not None}
    grid = changed(with_options(grid_of(content, "train"), options), own, "train")
    part = PlannedPart(manifest.dataset, grid, str(data.path))
    root = Path(runs or Path("runs") / data.path.resolve().name)
    experiment = PlannedExperiment(root.name, "", Path("train"), (part,), is_grid=True)
    machine = Machine(root / JOBS, gpus_per_node=0 if cpu else min(1, gpus_here()))
    plan = make_plan(experiment, root, {part.name: read_folders(part.folder, grid)}, machine)
    check_plan(plan)
    if len(plan.runs) > 1:
        raise InputError(f"{len(plan.runs)} runs: give one value of each argument, not a list")
    return plan

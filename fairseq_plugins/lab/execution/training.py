"""One run in its folder: train, predict, evaluate, write its row.

Errors are written to the folder. The commands of a run hold its lock too, so a command that
outlives its job still keeps others out. The next job finishes the folder of a killed job.
`squad_answers` makes rows and metrics of question answering, whose predictions are several files;
translations are in files named by split.
"""

import fcntl
import json
import logging
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...errors import InputError, TrainingError
from ...evaluation.metrics import LOWER_IS_BETTER
from ...files import try_lock, write_text
from .. import run_files as files
from ..results import squad_answers
from ..results.origins import made_of, trained_with
from ..results.training_log import best, device, gates, parameters, speed, validations
from ..rows import FINISHED, Row
from ..safe_files import open_file, read_json
from .checkpoints import mend, strip, updates_of
from .processes import Environment, launch
from .run import Launch, Run

LOCK = ".lock"
_PACKAGES = ("fairseq-plugins", "fairseq-fixed", "torch", "numpy", "sacrebleu", "spacy")

logger = logging.getLogger(__name__)


def finish(run: Run, environment: Environment) -> None:
    """Finish a run, or wait for a process that works in its folder; write errors to the folder."""
    (run.folder / files.ERROR).unlink(missing_ok=True)  # of an earlier attempt
    try:
        with locked(run.folder) as lock:
            if not run.is_finished():
                execute(run, lambda words, log: launch(words, log, environment, lock))
    except Exception as error:
        known = isinstance(error, (TrainingError, InputError, OSError))
        write_text(run.folder / files.ERROR, f"{error if known else repr(error)}\n")
        raise


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Make a run's folder and lock it; wait if another process holds the lock.

    Yields:
        The open file that holds the lock.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open_file(folder / LOCK, "ab") as stream:
        if not try_lock(stream, folder):
            logger.warning("%s: another process is at work there; waiting for it", folder)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield stream.fileno()


def execute(run: Run, launch: Launch) -> None:
    """Train, predict, evaluate, write the row, and remove the files that only training needs."""
    if not (run.folder / files.RESULT).is_file():
        _train(run, launch)
    if run.lacks_answers:
        _predict(run, launch)
    if run.lacks_evaluation:
        _predict(run, launch, tested=True)
    write_text(run.folder / files.RESULT, _ended(run).line())
    for path in run.folder.glob("checkpoint*.pt"):
        if path.name not in (files.BEST, files.AVERAGE):
            path.unlink()


def _train(run: Run, launch: Launch) -> None:
    write_text(run.folder / files.SETTINGS, json.dumps(run.settings, indent=2) + "\n")
    last = run.folder / files.LAST
    mend(last, run.folder / files.BEST)
    if updates_of(last) < run.updates:
        for made in (run.folder / files.PREDICTIONS, run.evaluation):  # of another training
            made.unlink(missing_ok=True)
        launch(run.train_command(), run.folder / files.LOG)
    if updates_of(last) < run.updates:  # fairseq succeeds even if it stops early
        raise TrainingError(f"the training ended after {updates_of(last)} of {run.updates} updates")
    strip(run.folder / files.BEST)
    if run.data.translates and run.grid.average:
        launch(run.average_command(), run.folder / "average.log")


def _predict(run: Run, launch: Launch, *, tested: bool = False) -> None:
    """Predict the validation set, or evaluate on the other split."""
    launch(run.predict_command(tested=tested), run.folder / "predict.log")
    if run.answers_questions:
        split = run.grid.evaluate if tested else run.grid.validation
        rows = run.folder / (files.EVALUATED if tested else files.PREDICTIONS)
        squad_answers.write_rows(rows, run.data.folder / f"{split}.examples.jsonl")
        if tested:
            squad_answers.write_evaluation(rows, split, run.evaluation)


def _ended(run: Run) -> Row:
    row, split = run.row() or _trained(run), run.grid.validation
    metrics = {split: dict(row.best)}
    if run.predict and run.answers_questions:
        metrics[split] |= squad_answers.tuned_metrics(run.folder / files.PREDICTIONS)
    if run.is_tested:
        metrics.setdefault(run.grid.evaluate, {}).update(read_json(run.evaluation)["metrics"])
    return row.model_copy(update={"metrics": metrics})


def _trained(run: Run) -> Row:
    """Return the row of a training: the best and the last validation of its log."""
    log, metric = run.folder / files.LOG, run.settings["metric"]
    found, rate = validations(log, run.grid.validation), speed(log)
    chosen = best(found, metric, metric not in LOWER_IS_BETTER)
    told = {
        "processes": run.machine.processes,
        "command": run.shown_command(),
        "versions": versions(),
    }
    earlier = read_json(run.folder / files.RESULT)  # an earlier release may have trained it
    return planned_row(
        run,
        status=FINISHED,
        metrics={run.grid.validation: chosen.metrics},
        last=found[-1].metrics,
        best_updates=chosen.updates,
        parameters=parameters(log),
        gates={str(layer): share for layer, share in gates(chosen).items()},
        device=device(log),
        seconds=round(run.updates / rate, 1) if rate else None,
        **{name: earlier.get(name, value) for name, value in told.items()},
    )


def planned_row(run: Run, **known: Any) -> Row:
    """Return the row of a run before it begins, with further known values.

    `records` adds the names of experiment and folder.
    """
    (setting, seed), own = run.cell, run.settings
    options = {name: value for name, value in own["options"].items() if name != "seed"}
    same = ("system", "learning_rate", "epochs")
    return Row(
        experiment="",
        part=run.part,
        folder=".",
        seed=seed,
        **{name: getattr(setting, name) for name in same},
        **{name: own[name] for name in ("dataset", "metric", "positive")},
        arch=options.get("arch", ""),
        share=setting.fraction,
        updates=run.updates,
        choice=dict(setting.choice),
        options=options,
        chosen_on=own["validation"],
        data=own.get("validation_data", own["data"]),
        prepared=str(run.data.folder),
        examples=run.data.examples,
        made_of=made_of(run.data.manifest),
        trained=trained_with(own),
        **known,
    )


def versions() -> dict[str, str]:
    """Return package -> version, Python's first; missing packages are left out."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found

"""What is done when an experiment's runs are finished: figures, tables of examples, ensembles.

Each step (`plan.steps`) is a command whose placeholders are filled in (`step_places`); it leaves
what it makes in ``after/<name>/``. It is done when this folder has ``done.json``: the command, and
a fingerprint of the results that it was made of. With other results it is done anew. A folder with
nothing but ``log`` is what a step that failed leaves.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path

from ...files import write_text
from ..commands import command
from ..plan.prepared_data import raw_folder
from ..plan.steps import AfterStep
from ..safe_files import is_file, read_bytes, read_json, read_text, refuse_links, remove_folder
from .experiment import Plan
from .processes import Commands
from .run import Launch, RunError
from .step_places import DONE, ExperimentPlaces, NotThere, PartPlaces, fill

LOG = "log"
_LINES = 5  # of a failed step's log that are shown

logger = logging.getLogger(__name__)


def perform_all(plan: Plan, raw: Path | None = None) -> list[str]:
    """Do the steps of an experiment, on this machine; some read the folder of raw data.

    Returns:
        See `perform`.
    """
    experiment = plan.experiment
    parts = {}
    for part in experiment.parts:
        own = raw_folder(part, raw) if raw and raw.is_dir() else None
        parts[part.name] = PartPlaces(experiment.runs_of(part, plan.root), part.folder, own)
    places = ExperimentPlaces(plan.root, parts, experiment.file)
    return perform(experiment.after, places, Commands({}).launch)


def perform(steps: Sequence[AfterStep], places: ExperimentPlaces, launch: Launch) -> list[str]:
    """Do the steps of one experiment that are not done, in their order.

    Returns:
        A message for every step that failed; a failure stops none of the others. A step that lacks
        what it is about is passed over with a remark in the log.
    """
    failures = []
    for step in steps:
        try:
            if _perform(step, places, launch):
                logger.info("after: %s: %s", step.name, places.left_by(step.name))
        except NotThere as reason:
            logger.info("after: %s is passed over: %s", step.name, reason)
        except (RunError, ValueError, OSError) as error:
            logger.error("after: %s: %s", step.name, error)
            failures.append(f"after: {step.name}: {error}")
    return failures


def _perform(step: AfterStep, places: ExperimentPlaces, launch: Launch) -> bool:
    """Do a step unless it is done; return whether it was to be done."""
    folder = places.left_by(step.name)
    made = folder.with_name(f".{step.name}.tmp")
    words, sources = fill(step, places, made)
    mark = _fingerprint(step, sources, places)
    if _mark_of(folder / DONE) == mark:
        return False
    refuse_links(places.folder, folder)
    remove_folder(made)
    made.mkdir(parents=True)
    try:
        launch(command(*words), made / LOG)
    except RunError:
        log = _text_of(made, folder)
        remove_folder(made)  # but for the log
        made.mkdir()
        write_text(made / LOG, log)
        _replace(folder, made)
        lines = [f"failed; the end of {folder / LOG}:", *log.splitlines()[-_LINES:]]
        raise RunError("\n  ".join(lines)) from None
    write_text(made / LOG, _text_of(made, folder))
    own = [word.replace(str(made), str(folder)) for word in words]
    done = {"command": command(*own), "fingerprint": mark}
    write_text(made / DONE, json.dumps(done, indent=2, ensure_ascii=False) + "\n")
    _replace(folder, made)
    return True


def _text_of(made: Path, folder: Path) -> str:
    """Return the log of an unfinished step, with its folder's final name in it."""
    log = made / LOG
    text = read_text(log, errors="replace") if is_file(log) else ""
    return text.replace(str(made), str(folder))


def _fingerprint(step: AfterStep, sources: Sequence[Path], places: ExperimentPlaces) -> str:
    """Return a hash of what a step is made of: its words, and all results behind them."""
    digest = hashlib.sha256(json.dumps(step.words).encode())
    for path in sorted(set(sources)):
        inside = path.is_relative_to(places.folder)
        name = path.relative_to(places.folder) if inside else path.name
        own = path if inside else path.resolve()  # a prepared folder may be put together by links
        content = read_bytes(own) if path.is_file() else b""
        content = _mark_of(path).encode() if path.name == DONE else content  # names no folder
        digest.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\0".encode())
    return digest.hexdigest()


def _mark_of(done: Path) -> str:
    """Return the fingerprint of a step that is done; empty for one that is not."""
    try:
        return str(read_json(done)["fingerprint"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _replace(folder: Path, made: Path) -> None:
    """Put a folder in another's place."""
    old = folder.with_name(f".{folder.name}.old")
    remove_folder(old)
    if folder.exists():
        folder.rename(old)
    made.rename(folder)
    remove_folder(old)

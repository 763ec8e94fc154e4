"""The steps after an experiment's runs: figures, tables of examples, ensembles.

A step (`plan.steps`) is a command. The placeholders in its words stand for folders:

==========================  ======================================================================
``{runs}``                  folder of the experiment
``{runs:PART}``             folder of a part's runs
``{run:PART/SYSTEM}``       run of a system: its first seed, at the setting chosen on the validation
                            set, on the largest share of the training data
``{runs:PART/SYSTEM}``      all seeds of that setting: one word each, or joined by commas behind a
                            prefix such as ``NAME=``
``{data:PART}``             prepared folder; also the prepared folder of a run's part
``{raw:PART}``              folder of the part's raw files
``{after:STEP}``            folder of an earlier step
``{out}``                   folder of the step itself: ``after/STEP``
==========================  ======================================================================

``PART`` is optional in an experiment of one part, and so is the size in the name of a system. A
word that begins with ``?`` is left out if its runs are missing; any other word with missing runs
skips the whole step. A finished step's folder has ``done.json``: its command, and a hash of the
rows and files that it used. If these change, the step runs again. A failed step leaves only
``log``.
"""

import hashlib
import json
import logging
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from ...errors import InputError, TrainingError
from ...files import sha256, working_folder, write_text
from ...messages import named
from ..commands import command
from ..plan.experiment_file import PlannedPart
from ..plan.grid import SIZES
from ..plan.prepared_data import raw_folder
from ..plan.steps import OPTIONAL, PLACE, AfterStep, check_words
from ..results.choice import chosen_at
from ..results.frame import read_runs
from ..rows import read_rows
from ..run_files import AFTER, DONE, ROWS
from ..safe_files import LARGEST, is_file, read_json, read_tail, refuse_links
from .experiment import Plan
from .processes import launch as run_command
from .run import Launch

LOG = "log"
_LINES = 5  # of a failed step's log that are shown
_PLACEHOLDER = re.compile(r"\{([a-z]+)(?::([^{}]*))?\}(/[^{}:,]*)?")

logger = logging.getLogger(__name__)


class NotThere(LookupError):
    """A step needs something that was not run or not given."""


def perform(plan: Plan, raw: Path | None = None, launch: Launch = run_command) -> list[str]:
    """Do the unfinished steps of an experiment in their order.

    Args:
        plan: its runs are finished.
        raw: folder of raw data, if given.
        launch: runs a command.

    Returns:
        A message for every failed step. The other steps still run. A step without its runs is
        skipped with a remark in the log.
    """
    failures = []
    for step in plan.experiment.after:
        try:
            if _perform(step, plan, raw, launch):
                logger.info("after: %s: %s", step.name, plan.root / AFTER / step.name)
        except NotThere as reason:
            logger.info("after: %s is passed over: %s", step.name, reason)
        except (TrainingError, InputError, OSError) as error:
            logger.error("after: %s: %s", step.name, error)
            failures.append(f"after: {step.name}: {error}")
    return failures


def _perform(step: AfterStep, plan: Plan, raw: Path | None, launch: Launch) -> bool:
    """Do a step; return False if it was done before."""
    folder, failed = plan.root / AFTER / step.name, False
    words, behind = _fill(step, plan, raw, folder)
    mark = hashlib.sha256(json.dumps([step.words, behind]).encode()).hexdigest()
    if _mark_of(folder) == mark:
        return False
    refuse_links(plan.root, folder)
    with working_folder(folder) as made:
        try:
            launch(command(*_fill(step, plan, raw, made)[0]), made / LOG)
        except TrainingError:
            failed = True
        log = read_tail(made / LOG, LARGEST).replace(str(made), str(folder))
        if folder.exists():
            shutil.rmtree(folder)
        if failed:
            write_text(folder / LOG, log)
            lines = [f"failed; the end of {folder / LOG}:", *log.splitlines()[-_LINES:]]
            raise TrainingError("\n  ".join(lines))
        write_text(made / LOG, log)
        done = {"command": command(*words), "fingerprint": mark}
        write_text(made / DONE, json.dumps(done, indent=2, ensure_ascii=False) + "\n")
        made.rename(folder)
    return True


def _mark_of(folder: Path) -> str:
    """Return the hash of a finished step; empty if the step is not done."""
    try:
        return str(read_json(folder / DONE)["fingerprint"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _fill(step: AfterStep, plan: Plan, raw: Path | None, out: Path) -> tuple[list[str], list]:
    """Return the words of a step's command, and for each its evidence: rows and hashes of files."""
    kept: list[str] = []
    words: list[str] = []
    behind: list[list[str]] = []
    for word in step.words:
        try:
            found, own = _filled(word, plan, raw, out) if PLACE.fits(word) else ([word], [])
        except NotThere:
            if not word.startswith(OPTIONAL):
                raise
            continue
        kept, words, behind = [*kept, word], [*words, *found], [*behind, own]
    try:
        check_words(kept)
    except InputError as error:
        raise NotThere(f"of what is there, {error}") from None
    return words, behind


def _filled(word: str, plan: Plan, raw: Path | None, out: Path) -> tuple[list[str], list[str]]:
    """Return the words that replace a word, and their evidence."""
    behind: list[str] = []

    def paths(found: re.Match) -> list[str]:
        kind, name, inner = found.groups()
        if kind == "out":
            return [f"{out}{inner or ''}"]
        folders = _folders(kind, name, plan, raw)
        inside = [_inside(one, inner) for one in folders]
        for folder, path in zip(folders, inside):
            behind.extend(_evidence(plan.root, folder, path))
        return list(map(str, inside))

    word = word.removeprefix(OPTIONAL)
    if found := _PLACEHOLDER.fullmatch(word):
        return paths(found), behind
    return [_PLACEHOLDER.sub(lambda found: ",".join(paths(found)), word)], behind


def _inside(folder: Path, inner: str | None) -> Path:
    """Return a path inside a folder; refuse a link that leads outside."""
    path = Path(f"{folder}{inner or ''}")
    if inner and not path.exists():
        raise NotThere(f"{path} is not there")
    if inner and not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{path}: lies outside {folder}, behind a link")
    return path


def _evidence(root: Path, folder: Path, path: Path) -> Iterator[str]:
    """Yield the rows of runs in a folder, and hashes of its manifest, of a file and of its step."""
    rows = read_rows(root / ROWS) if is_file(root / ROWS) else []
    yield from (one.row.line() for one in rows if one.folder.is_relative_to(folder))
    if (manifest := folder / "manifest.json").is_file():
        yield sha256(manifest)
    if path.is_file():
        yield sha256(path)
    yield _mark_of(folder)


def _folders(kind: str, name: str | None, plan: Plan, raw: Path | None) -> list[Path]:
    if kind == "after":
        folder = plan.root / AFTER / str(name)
        if not _mark_of(folder):
            raise NotThere(f"step {name!r} left nothing")
        refuse_links(plan.root, folder)
        return [folder]
    if kind == "runs" and name is None:
        return [plan.root]
    part, system = _part_of(kind, name or "", plan)
    if kind == "data":
        return [part.folder]
    if kind == "raw":
        if not raw or not raw.is_dir():
            raise NotThere(f"the raw files of {part.name!r} were not given")
        return [raw_folder(part, raw)]
    runs = plan.experiment.runs_of(part, plan.root)
    return _chosen(runs, system, part.name)[: 1 if kind == "run" else None] if system else [runs]


def _part_of(kind: str, name: str, plan: Plan) -> tuple[PlannedPart, str]:
    parts = {part.name: part for part in plan.experiment.parts}
    label, _, system = name.partition("/")
    if label not in parts:
        if not label and len(parts) > 1:
            raise InputError(f"{{{kind}}}: name a part: {named(parts)}")
        if system or len(parts) > 1 or (label and kind in ("data", "raw")):
            raise NotThere(f"no part {label!r} was run")
        label, system = next(iter(parts)), label  # the only part
    if kind == "run" and not system:
        raise InputError(f"{{run:{name}}}: name a system of the part: {{run:{label}/SYSTEM}}")
    return parts[label], system


def _chosen(runs: Path, system: str, part: str) -> list[Path]:
    """Return the folders of a system's runs at the setting chosen on the validation set."""
    try:
        found = read_runs(runs)
    except FileNotFoundError:
        raise NotThere(f"no run on {part!r} is finished") from None
    names = set(found.system)
    sized = [system] if system in names else sorted(names & {f"{system}_{s}" for s in SIZES})
    if len(sized) > 1:
        raise InputError(f"{part}/{system} is any of {named(sized)}: name one of them")
    if not sized:
        raise NotThere(f"no run of {system!r} on {part!r} is finished")
    chosen = chosen_at(found, found.system)[sized[0]]
    return list(chosen.sort_values("seed").folder)

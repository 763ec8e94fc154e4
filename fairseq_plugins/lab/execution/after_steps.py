"""What is done when an experiment's runs are finished: figures, tables of examples, ensembles.

``after`` of an experiment's file lists steps. A step calls a script with arguments in which
placeholders stand for runs (`step_places`), and leaves what it makes in ``after/<name>/``:

    after:
      - name: gates
        script: plot_gates.py
        arguments: ["{runs:cola/bert_wla}", "{runs:cola/bert_sla}", --out, "{out}/gates"]

A step is done when its folder has ``done.json``: the command, and a fingerprint of the results that
it was made of. With other results it is done anew. A folder with nothing but ``log`` is what a step
that failed leaves.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...files import write_text
from ...messages import quoted
from ..plan.preparations import raw_folder
from ..plan.step_arguments import SUBCOMMANDS, check_step
from ..run_files import subcommand
from ..safe_files import is_file, read_bytes, read_text, refuse_links, remove_folder
from .experiment import Plan
from .job import Commands
from .run import Launch, RunError
from .step_places import DONE, OPTIONAL, Context, Filled, NotThere, check, fill, places_of

LOG = "log"

logger = logging.getLogger(__name__)

_KEYS = ("name", "script", "arguments")
_NAME = re.compile(r"[A-Za-z0-9][\w-]*")
_LINES = 5  # of a failed step's log that are shown


@dataclass(frozen=True)
class Step:
    """A script that is called with an experiment's runs.

    Args:
        name: of its folder.
        script: what the file calls a subcommand, one of those of `step_arguments`.
        arguments: its arguments, with placeholders.
    """

    name: str
    script: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        """Return its command, placeholders and all."""
        command = shlex.join(["fairseq-plugins", *SUBCOMMANDS[self.script], *self.arguments])
        return f"after: {self.name}: {command}"


def read_steps(value: Any) -> list[Step]:
    """Read ``after`` of an experiment's file.

    Args:
        value: list of mappings with `name`, `script` and `arguments`; None for no steps.

    Raises:
        ValueError: what is wrong with which step, and what could stand there.
    """
    if value is None:
        return []
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError(f"after: {quoted(value)} is no list of steps")
    steps: list[Step] = []
    for number, entry in enumerate(value, start=1):
        if not isinstance(entry, Mapping):
            raise ValueError(
                f"after: step {number}: {quoted(entry)} is no mapping of {', '.join(_KEYS)}"
            )
        steps.append(_step(entry, f"after: step {number}", [step.name for step in steps]))
    return steps


def _step(entry: Mapping[str, Any], place: str, earlier: Sequence[str]) -> Step:
    """Read a step."""
    for key in entry:
        if key not in _KEYS:
            raise ValueError(f"{place}: unknown key {quoted(key)}; choices: {', '.join(_KEYS)}")
    name, script, arguments = entry.get("name"), entry.get("script"), entry.get("arguments", [])
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{place}: name {quoted(name)}: letters, digits, - and _ make a name")
    if name in earlier:
        raise ValueError(f"{place}: {quoted(name)} is the name of an earlier step")
    place = f"after: {name}"
    if script not in SUBCOMMANDS:
        raise ValueError(f"{place}: script {quoted(script)}; choices: {', '.join(SUBCOMMANDS)}")
    simple = (str, int, float)
    if not isinstance(arguments, list) or not all(
        isinstance(one, simple) and not isinstance(one, bool) for one in arguments
    ):
        raise ValueError(f"{place}: arguments: {quoted(arguments)} is no list of words and numbers")
    words = tuple(map(str, arguments))
    try:
        for word in words:
            check(word, earlier)
        check_step(script, [word.removeprefix(OPTIONAL) for word in words])
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
    return Step(name, script, words)


def perform_all(plan: Plan, raw: Path | None = None) -> list[str]:
    """Do the steps of an experiment, on this machine.

    Args:
        plan: the experiment.
        raw: folder of raw data, as the preparation reads it; some steps read it as well.

    Returns:
        A message for every step that failed.

    Raises:
        ValueError: see `read_steps`; runs of a part that do not go together.
    """
    experiment = plan.experiment
    parts = {}
    for part in experiment.parts:
        own = raw_folder(part, raw) if raw else None
        runs = experiment.runs_of(part, plan.root)
        parts[part.name] = places_of(runs, part.folder, own if own and own.is_dir() else None)
    context = Context(plan.root, parts, experiment.file)
    return perform(read_steps(experiment.after), context, Commands({}).launch)


def perform(steps: Sequence[Step], context: Context, launch: Launch) -> list[str]:
    """Do the steps that are not done, in their order.

    Args:
        steps: of one experiment.
        context: its runs.
        launch: runs a command, adding its output to a log.

    Returns:
        A message for every step that failed; a failure stops none of the others. A step that lacks
        what it is about is passed over with a remark in the log.
    """
    failures = []
    for step in steps:
        try:
            made = _perform(step, context, launch)
        except NotThere as reason:
            logger.info("after: %s is passed over: %s", step.name, reason)
            continue
        except (RunError, ValueError, OSError) as error:
            logger.error("after: %s: %s", step.name, error)
            failures.append(f"after: {step.name}: {error}")
            continue
        if made:
            logger.info("after: %s: %s", step.name, context.left_by(step.name))
    return failures


def _perform(step: Step, context: Context, launch: Launch) -> bool:
    """Do a step unless it is done; tell whether it was."""
    folder = context.left_by(step.name)
    filled = fill(step.arguments, context, folder)
    check_step(step.script, filled.words)  # what is left out may change what others mean
    mark = _fingerprint(step, filled, context)
    if _mark_of(folder / DONE) == mark:
        return False
    made = folder.with_name(f".{step.name}.tmp")
    refuse_links(context.folder, folder)
    remove_folder(made)
    made.mkdir(parents=True)
    there = fill(step.arguments, context, made)
    start = subcommand(*SUBCOMMANDS[step.script])
    try:
        launch([*start, *there.arguments], made / LOG)
    except RunError:
        lines = _keep_log(made, folder).splitlines()[-_LINES:]
        raise RunError("\n  ".join([f"failed; the end of {folder / LOG}:", *lines])) from None
    _keep_log(made, made, folder)
    done = {"command": [*start, *filled.arguments], "fingerprint": mark}
    write_text(made / DONE, json.dumps(done, indent=2, ensure_ascii=False) + "\n")
    _replace(folder, made)
    return True


def _fingerprint(step: Step, filled: Filled, context: Context) -> str:
    """Return a hash of what a step is made of: its arguments, and all results behind them."""
    digest = hashlib.sha256(json.dumps([step.script, *step.arguments]).encode())
    for path in sorted(set(filled.sources)):
        inside = path.is_relative_to(context.folder)
        name = path.relative_to(context.folder) if inside else path.name
        own = path if inside else path.resolve()  # a prepared folder may be put together by links
        content = read_bytes(own) if path.is_file() else b""
        content = _mark_of(path).encode() if path.name == DONE else content  # names no folder
        digest.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\0".encode())
    return digest.hexdigest()


def _mark_of(done: Path) -> str:
    """Return the fingerprint of a step that is done; empty for one that is not."""
    try:
        return str(json.loads(read_text(done))["fingerprint"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _keep_log(made: Path, kept: Path, named: Path | None = None) -> str:
    """Write a step's log with its folder's final name in it.

    Args:
        made: unfinished folder; of a step that failed, nothing but the log is kept of it.
        kept: folder of the log.
        named: what to call the folder; default: where the log is kept.
    """
    log = made / LOG
    text = read_text(log, errors="replace") if is_file(log) else ""
    text = text.replace(str(made), str(named or kept))
    if kept != made:
        remove_folder(made)
        made.mkdir()
        write_text(made / LOG, text)
        _replace(kept, made)
    else:
        write_text(log, text)
    return text


def _replace(folder: Path, made: Path) -> None:
    """Put a folder in another's place."""
    old = folder.with_name(f".{folder.name}.old")
    remove_folder(old)
    if folder.exists():
        folder.rename(old)
    made.rename(folder)
    remove_folder(old)

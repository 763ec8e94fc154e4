"""Refuses, in one line, unregistered names on fairseq's command line.

argparse's own message stands below a hundred lines of options and lists every registered name. A
schedule that needs the number of updates is also refused here: fairseq makes the schedule after
loading data. ``--replace-unk`` is refused too, since fairseq fails with it before asking a task.
"""

import importlib
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import InputError
from .messages import like, quoted
from .quiet import is_fairseq_running
from .registration import ROOMS

OPTIONS = {  # option -> its other spellings
    "arch": ("-a",),
    "task": (),
    "criterion": (),
    "optimizer": (),
    "lr-scheduler": (),
}
LENGTHS = {"max-update": (), "total-num-update": ()}
WITHOUT_END = (
    "--lr-scheduler linear_warmup falls to the last update, so it has to know which that is: give "
    "--max-update (or --total-num-update)"
)
WITHOUT_TEXT = (
    "--replace-unk does not go with --task syntax_translation: prepared folders keep no raw text "
    "to copy words from; segment into subwords, which leave hardly any word unknown"
)


def check_command_line() -> None:
    """Check the names on the command line of fairseq's commands.

    Does nothing while a room that registers names is being imported.
    """
    rooms = (sys.modules.get(f"{__package__}.{room}") for room in ROOMS)
    if is_fairseq_running() and all(hasattr(room, "__all__") for room in rooms):
        check_chosen_names(sys.argv[1:])


def check_chosen_names(words: Sequence[str]) -> None:
    """Refuse an unknown name of a task, architecture, criterion, optimiser or schedule.

    Only where ``--user-dir`` is this package: another package may register names later.

    Args:
        words: of the command line, without the program.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--replace-unk", nargs="?", const="")
    for option, spellings in {"user-dir": (), **OPTIONS, **LENGTHS}.items():
        parser.add_argument(f"--{option}", *spellings, dest=option, nargs="?")
    chosen = vars(parser.parse_known_args(words)[0])
    if not _is_here(chosen.pop("user-dir")):
        return
    if chosen.pop("replace_unk") is not None and chosen["task"] == "syntax_translation":
        raise InputError(WITHOUT_TEXT)
    lengths = [chosen.pop(option) for option in LENGTHS]
    for option, name in chosen.items():
        known = _registered(option)
        if name is None or name in known:
            continue
        near = like(name, known, 0.5)
        hint = f" (like it: {near})" if near else ""
        raise InputError(f"--{option} {quoted(name, 100)}: nothing has this name{hint}")
    if chosen["lr-scheduler"] == "linear_warmup" and not any(lengths):
        raise InputError(WITHOUT_END)


def _is_here(folder: str | None) -> bool:
    return folder is not None and Path(folder).resolve() == Path(__file__).resolve().parent


def _registered(option: str) -> Mapping[str, object]:
    if option == "arch":
        return importlib.import_module("fairseq.models").ARCH_MODEL_REGISTRY
    if option == "task":
        return importlib.import_module("fairseq.tasks").TASK_REGISTRY
    registries = importlib.import_module("fairseq.registry").REGISTRIES
    return registries[option.replace("-", "_")]["registry"]

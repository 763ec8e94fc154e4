"""Count the updates of checkpoints, repair and shrink them; no checkpoint can run code."""

import shutil
import zipfile
from pathlib import Path

from ...door.torch_files import read_plain, write_state
from ...errors import InputError
from ...files import copy, replaced

_UNREADABLE = (ValueError, OSError, KeyError, IndexError, TypeError)


def updates_of(checkpoint: Path) -> int:
    """Return the updates of a checkpoint; 0 if the file is missing. A partial file is removed."""
    if not checkpoint.is_file():
        return 0
    try:
        return int(read_plain(checkpoint)["optimizer_history"][-1]["num_updates"])
    except _UNREADABLE as error:
        if not _is_broken(checkpoint):
            reason = (str(error).strip() or repr(error)).removeprefix(f"{checkpoint}: ")
            raise InputError(f"{checkpoint}: whole, but cannot be read: {reason}") from None
    checkpoint.unlink(missing_ok=True)  # killed during the copy
    return 0


def _is_broken(checkpoint: Path) -> bool:
    """Return whether a file is not a zip archive, or its content does not match its checksums."""
    try:
        with zipfile.ZipFile(checkpoint) as archive:
            return archive.testzip() is not None
    except (zipfile.BadZipFile, EOFError, FileNotFoundError):  # a training replaced it
        return True
    except OSError as error:
        raise InputError(f"{checkpoint}: {error.strerror or error}") from None


def mend(last: Path, best: Path) -> None:
    """Repair the files of a killed training.

    fairseq writes one checkpoint under a temporary name and copies it to the other names, so a
    killed training leaves a partial copy or an old last checkpoint. The newest complete checkpoint
    becomes the last, and also the best if it is the best; partial files are removed.
    """
    for pattern in ("*.pt.tmp", ".*.tmp[0-9]*"):
        for path in last.parent.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    whole = {path: updates_of(path) for path in (last, best, *last.parent.glob("checkpoint*.pt"))}
    newer = [path for path in whole if whole[path] > whole[last]]
    for newest in sorted(newer, key=whole.__getitem__, reverse=True):
        if "last_optimizer_state" in (state := read_plain(newest)):  # averages have none
            break
    else:  # no checkpoint to continue from
        return
    extra = state.get("extra_state", {})
    loss = extra.get("val_loss")
    if newest != best and loss is not None and loss == extra.get("best"):
        copy(newest, best)
    copy(newest, last)


def strip(checkpoint: Path) -> None:
    """Remove the optimiser's state, two thirds of the file, from a checkpoint."""
    state = read_plain(checkpoint)
    if state.pop("last_optimizer_state", None) is not None:
        with replaced(checkpoint) as temporary:
            write_state(state, temporary)

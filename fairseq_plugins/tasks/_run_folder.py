"""The files that a training leaves in its run folder, to read raw text.

fairseq's options of the whole run surround a task's own.
"""

import logging
import os
import weakref
from datetime import datetime
from pathlib import Path
from socket import gethostname
from typing import IO, Any

from ..bundles.card import about, card
from ..bundles.run_folder import FOLDER, check_place, keep, told_of
from ..data.manifests import AnyManifest
from ..data.text_manifest import TextManifest
from ..errors import InputError
from ..files import open_own, try_lock
from ..messages import shortened
from ._checkpoint_options import architecture_of, training_of, unresolved
from ._checks import Refused

logger = logging.getLogger(__name__)
_held: weakref.WeakValueDictionary[Path, IO[bytes]] = weakref.WeakValueDictionary()

LOCK = ".training.lock"  # in the run's folder
LONGEST = 400  # bytes of the holder's name
NEEDS = "Where fairseq and its plug-ins are installed, of the folder with the checkpoints"


def keep_folder(task: Any, folder: str | Path, model_cfg: Any, model: Any) -> dict[str, str]:
    """Store in the run's locked folder what raw text needs of its prepared folder."""
    whole = training_of(task.cfg)
    if whole is None or whole.checkpoint.no_save:
        return {}
    run, folder = Path(whole.checkpoint.save_dir), Path(folder)
    first = not whole.distributed_training.distributed_rank  # writes, as it writes checkpoints
    try:
        if first:
            _lock(run, task)
        has = check_place(run, folder)
    except InputError as error:
        raise Refused(str(error)) from None
    if not first:
        return {}
    if not has:
        keep(run, folder, _card(task.manifest, model_cfg, model))
        logger.info("%s keeps what raw text needs of %s", run / FOLDER, folder)
    return told_of(run, task.cfg.data)


def _lock(run: Path, task: Any) -> None:
    """Lock a run's folder against other trainings while a task is in use.

    The system releases the lock with the process, even after a kill. Its file names the holder.
    """
    run.mkdir(parents=True, exist_ok=True)
    if held := _held.get(run.resolve()):  # one training after the other, in this process
        weakref.finalize(task, id, held)
        return
    stream = open_own(run / LOCK)
    if not try_lock(stream, run):
        stream.seek(0)
        other = shortened(stream.read(LONGEST).decode(errors="replace"), LONGEST)
        stream.close()
        raise InputError(
            f"{run}: another training is at work there ({other}): choose another --save-dir, or "
            "wait for its end"
        )
    stream.truncate(0)
    begun = datetime.now().isoformat(" ", "minutes")
    name = f"process {os.getpid()} on {gethostname()}, training on {task.cfg.data} since {begun}"
    stream.write(name.encode(errors="replace"))
    stream.flush()
    _held[run.resolve()] = stream
    weakref.finalize(task, id, stream)  # held by the task, closed with the last task


def _let_go() -> None:
    """Close the locks in a child process, such as a data loader, which may outlive a training."""
    for stream in _held.values():
        stream.close()
    _held.clear()


os.register_at_fork(after_in_child=_let_go)


def _card(manifest: AnyManifest, model_cfg: Any, model: Any) -> str:
    options = {**unresolved(model_cfg), "_name": architecture_of(unresolved(model_cfg))}
    versions = ", ".join(f"{name} {version}" for name, version in manifest.versions.items())
    rows = {**about(manifest, model, options), "versions": versions}
    data = manifest.dataset if isinstance(manifest, TextManifest) else manifest.pair
    return card(f"{options['_name']}: {data}", rows, manifest, NEEDS)

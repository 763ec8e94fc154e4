"""The commands that prepare the data of an experiment's parts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..commands import command
from .experiment_file import Part
from .prepare_options import SQUAD, TRANSLATION, preparing, words_of

_DEVELOPMENT = ("dev-v2.0.json", "dev-v1.1.json", "dev.json")


def raw_folder(part: Part, raw: Path) -> Path:
    """Return the folder of a part's raw data: that of its name below the folder given, or this."""
    inner = raw / (part.raw or part.name)
    return inner if inner.is_dir() else raw


def preparation(
    part: Part, raw: Path, pretrained: str = "", more: Sequence[str] = ()
) -> list[list[str]]:
    """Return the commands that prepare a part's folder, and those of systems with other data.

    Args:
        part: whose data.
        raw: folder of raw data, of this part or with a folder for each.
        pretrained: Hugging Face BERT directory; empty for the default.
        more: further options.

    Raises:
        FileNotFoundError: there is no such folder.
    """
    raw = raw_folder(part, raw)
    if not raw.is_dir():
        raise FileNotFoundError(f"--raw {raw}: no such folder")
    dataset, given = part.grid.dataset, ["--pretrained", pretrained] if pretrained else []
    own = [*([] if dataset == TRANSLATION else given), *words_of(part.grid.prepare, raw), *more]
    first = command(*preparing(dataset, raw), "--destdir", str(part.folder), *own)
    return [first, *(_augmented(part, raw, own) if dataset == SQUAD else [])]


def _augmented(part: Part, raw: Path, own: Sequence[str]) -> list[list[str]]:
    """Return the commands for ``train_35.json`` and the like, validated on the same questions."""
    valid = next((raw / name for name in _DEVELOPMENT if (raw / name).is_file()), None)
    found = []
    for train in sorted(raw.glob("train_*.json")):
        share = train.stem.removeprefix("train_")
        if share.isdigit() and valid:
            files = ["--train-file", str(train), "--valid-file", str(valid)]
            folder = part.folder.with_name(f"{part.folder.name}_{share}")
            found.append(command("prepare questions", "--destdir", str(folder), *files, *own))
    return found

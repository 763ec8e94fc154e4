"""What a run keeps of its prepared folder, in ``prepared/`` beside its checkpoints.

It is what raw text needs (`folder.keep_folder`) with a card, written whole before the first
checkpoint, so that a run can be moved and shared alone. The manifest there has size and SHA-256 of
the other files, and the run's checkpoints have the SHA-256 of the manifest: a checkpoint that came
to lie beside another's folder does not take it for its own. Links are refused, as in a bundle.
"""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..data.manifest import FILE_NAME, TRANSLATION, Manifest, changes
from ..data.products import check_whole, faults, record_products
from ..files import complete_folder, refuse_link, sha256, temporary_beside, write_text
from ..messages import named
from ..text_reading import read_text
from .folder import keep_folder, kept_files, kept_manifest
from .index import CARD

logger = logging.getLogger(__name__)

FOLDER = "prepared"  # in the run's folder
STATE = "prepared"  # what a checkpoint's state of the task calls the SHA-256 of its manifest
SHOWN, SHORT = 3, 12  # differences in a message; digits of a hash


def check_place(run: Path, folder: Path) -> bool:
    """Tell whether a run already keeps what it would keep of a prepared folder.

    Raises:
        ValueError: its place is taken by something else, or by a link; or it has checkpoints and
            keeps another folder, which they are of.
    """
    place = run / FOLDER
    refuse_link(place)
    if not place.exists() or place.resolve() == folder.resolve():
        return place.exists()
    if not _is_copy(place):
        raise ValueError(
            f"{place} is there, and is nothing that a run keeps of a prepared folder: choose "
            "another --save-dir"
        )
    difference = unlike(place, folder)
    if difference and (checkpoints := sorted(path.name for path in run.glob("*.pt"))):
        raise ValueError(
            f"{run} holds {named(checkpoints, SHOWN)}, trained on another prepared folder than "
            f"{folder} ({difference}): choose another --save-dir, or remove {place} to go on with "
            "them all the same"
        )
    return not difference


def _is_copy(place: Path) -> bool:
    """Tell whether a folder is one that `keep` wrote, which has no data."""
    try:
        return not Manifest.load(place).splits
    except (OSError, ValueError):
        return False


def keep(run: Path, folder: Path, card: str) -> None:
    """Write what a run keeps of a prepared folder, in the place of what it kept before.

    Args:
        run: the run's folder; made if it is not there.
        folder: the prepared folder.
        card: text for people.
    """
    place, old = run / FOLDER, temporary_beside(run / FOLDER)
    if place.exists():
        os.rename(place, old)
    try:
        with complete_folder(place) as new:
            keep_folder(folder, Manifest.load(folder), new)
            manifest = Manifest.load(new)
            record_products(new, manifest)
            manifest.save(new)
            write_text(new / CARD, card)
    finally:
        shutil.rmtree(old, ignore_errors=True)


def kept_by(run: Path) -> str:
    """Return the SHA-256 of the manifest that a run keeps; empty if it keeps none."""
    path = run / FOLDER / FILE_NAME
    return sha256(path) if path.is_file() else ""


def unlike(copy: Path, folder: Path) -> str:
    """Say where a prepared folder differs from a run's copy of one; empty if they read text alike.

    What data a folder holds, and the versions of the tools that made it, make no difference.
    """
    try:
        kept, manifest = open_copy(copy), Manifest.load(folder)
        check_whole(folder, manifest, partial=manifest.kind is TRANSLATION)
        found = changes(_decisive(copy, kept), _decisive(folder, manifest))
    except (OSError, ValueError) as error:
        return str(error)
    return named(found, SHOWN, between="; ", none="")


def _decisive(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """Return what decides how raw text is read, of the manifest and of the files."""
    kept = kept_manifest(manifest)
    names = {*kept.kind.fields} - {"versions", "inputs", "products"}
    files = {path.name: _digest(path) for path in kept_files(kept, folder)}
    compared = {"wordnet": kept.inputs.get("wordnet", {}), "files": files}
    return {name: getattr(kept, name) for name in names} | compared


def _digest(path: Path) -> str:
    """Return the begin of a file's SHA-256; of dictionaries counts are left out."""
    if not path.name.startswith("dict."):
        return sha256(path)[:SHORT]
    words = [line.rpartition(" ")[0] for line in read_text(path).split("\n")]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()[:SHORT]


def open_copy(place: Path) -> Manifest:
    """Return the manifest of a run's copy, all whose files are as they were written.

    Raises:
        FileNotFoundError, ValueError: a file that is missing, a link, or other than it was.
    """
    for path in (place, place / FILE_NAME):
        _refuse_link(path)
    manifest = Manifest.load(place)
    for path in kept_files(manifest, place):
        _refuse_link(path)
    for fault in faults(place, replace(manifest, splits={}), hashes=True):
        raise type(fault)(f"{fault}: take an unchanged copy of the run, or name its --data")
    return manifest


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise ValueError(f"{path} is a symbolic link: a run has what it keeps in itself")


def prepared_folder(
    checkpoint: Path, copy: str, recorded: str | None, given: str | Path | None = None
) -> str:
    """Return the prepared folder that a checkpoint's model is to read with.

    It is the one it was trained on where that is there and reads text as it did, else its run's
    copy. Checkpoints without a copy, of older releases or alone, have the former only.

    Args:
        checkpoint: the file.
        copy: SHA-256 of the manifest of its run's copy; empty if it knows none.
        recorded: the folder it was trained on; several are joined by ``:``.
        given: the folder that the user names in its place.

    Raises:
        FileNotFoundError: there is none of these.
        ValueError: a copy that holds a link, or was changed.
    """
    folder = str(given or recorded or "")
    there = _is_there(folder)
    if not given and copy and kept_by(checkpoint.parent) == copy:
        return _own_or_recorded(checkpoint, folder if there else "")
    if not there:
        origin = "" if given else f" that {checkpoint} was trained on"
        none = "" if given else f", and {checkpoint.parent / FOLDER} is no copy of it"
        raise FileNotFoundError(
            f"the prepared folder {folder}{origin} is not there{none}; give its place with --data "
            "(in Python data=..., for translation data_name_or_path=...)"
        )
    return folder


def _own_or_recorded(checkpoint: Path, folder: str) -> str:
    """Return the prepared folder if it is there and as it was, else the run's copy."""
    place = checkpoint.parent / FOLDER
    open_copy(place)
    if not folder:
        return str(place)
    difference = unlike(place, _parts(folder)[0])
    if not difference:
        return folder
    logger.warning(
        "%s is not as it was when %s was trained (%s): text is read by the run's own copy, %s; "
        "--data %s takes what is there now",
        *(folder, checkpoint, difference, place, folder),
    )
    return str(place)


def _is_there(folder: str) -> bool:
    parts = _parts(folder)
    return bool(parts) and all(part.is_dir() for part in parts)


def _parts(folder: str) -> list[Path]:
    """Return the folders that a text names."""
    whole = [folder] if Path(folder).exists() else folder.split(os.pathsep)
    return [Path(part) for part in whole if part]

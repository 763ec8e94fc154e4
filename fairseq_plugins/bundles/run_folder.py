"""A run's copy of its prepared folder, in ``prepared/`` beside its checkpoints.

The copy has the files that raw text needs (`folder.keep_folder`) and a card. The copy is complete
before the first checkpoint, so that a run can be moved and shared alone. Its manifest has size and
SHA-256 of the other files, and the run's checkpoints have the SHA-256 of the manifest: a checkpoint
moved to another run's folder rejects the copy there. Links are refused, as in a bundle.

Checkpoints also have the path of the prepared folder and digests of its splits (`Origin`): another
folder at the same path is recognised.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..data.manifest import FILE_NAME, Manifest, changes
from ..data.manifests import read_manifest
from ..data.products import check_whole, faults, split_digests, with_products
from ..data.translation_manifest import TranslationManifest
from ..errors import InputError
from ..files import complete_folder, refuse_link, sha256, write_text
from ..messages import named
from .folder import keep_folder, kept_files, kept_manifest
from .index import CARD

logger = logging.getLogger(__name__)

FOLDER = "prepared"  # in the run's folder
STATE = "prepared"  # key of a task's state in checkpoints: SHA-256 of the copy's manifest
PLACE, SPLITS = "folder", "splits"  # further keys: the absolute path, and `split_digests`
_CURE = "give its place with --data (in Python data=..., for translation data_name_or_path=...)"
SHOWN, SHORT = 3, 12  # differences in a message; digits of a hash


@dataclass(frozen=True)
class Origin:
    """A checkpoint's record of its training's prepared folder."""

    typed: str = ""  # path as typed; several paths are joined by ``:``
    place: str = ""  # the absolute path, likewise; empty in checkpoints of older releases
    copy: str = ""  # SHA-256 of the manifest of the run's copy, if any
    splits: Mapping[str, str] = field(default_factory=dict)  # see `split_digests`

    @classmethod
    def of(cls, typed: Any, state: Any) -> Origin:
        """Read the state of a checkpoint's task; values of wrong types are ignored."""
        told = state if isinstance(state, dict) else {}
        said = {"typed": typed, "place": told.get(PLACE), "copy": told.get(STATE)}
        texts = {name: text for name, text in said.items() if isinstance(text, str)}
        splits = told.get(SPLITS)
        return cls(**texts, splits=splits if isinstance(splits, dict) else {})

    @property
    def path(self) -> str:
        """The path as typed if it leads to the absolute path, else the absolute path, if known."""
        return self.typed if _absolute(self.typed) == self.place else self.place or self.typed

    def other_data(self, folder: Path, copy: Path | None = None) -> str:
        """Return how a folder's data differ from the training's; empty if unknown.

        In older releases, hashes of the source files of the folder and of the ``copy`` decide.
        """
        manifest, known = read_manifest(folder), self.splits
        found = split_digests(manifest)
        if not known and copy is not None:
            found = _data_of(manifest)
            known = _data_of(read_manifest(copy)) if found else {}
        shared = known.keys() & found.keys()
        unlike = [name for name in shared if known[name] != found[name]]
        same = not known or (shared and not unlike)
        return "" if same else f"the data of {named(unlike or known, SHOWN)} are others"


def _data_of(manifest: Manifest) -> dict[str, Any]:
    names = (name for name in manifest.inputs if name.startswith(("train", "valid", "test")))
    return {name: manifest.inputs[name].get("sha256") for name in names}


def told_of(run: Path, folder: str) -> dict[str, Any]:
    """Return the checkpoints' record of a run's prepared folders; see `Origin`."""
    splits = split_digests(read_manifest(_parts(folder)[0]))
    return {STATE: kept_by(run), PLACE: _absolute(folder), SPLITS: splits}


def check_place(run: Path, folder: Path) -> bool:
    """Return whether a run already has a copy of a prepared folder; refuse a taken place.

    A copy of another folder is refused if the run has checkpoints trained on that folder.
    """
    place = run / FOLDER
    refuse_link(place)
    if not place.exists() or place.resolve() == folder.resolve():
        return place.exists()
    try:
        has_data = bool(read_manifest(place).splits)
    except (OSError, InputError):  # something else
        has_data = True
    if has_data:
        raise InputError(
            f"{place} is there, and is nothing that a run keeps of a prepared folder: choose "
            "another --save-dir"
        )
    difference = unlike(place, folder)
    if difference and (checkpoints := sorted(path.name for path in run.glob("*.pt"))):
        raise InputError(
            f"{run} holds {named(checkpoints, SHOWN)}, trained on another prepared folder than "
            f"{folder} ({difference}): choose another --save-dir, or remove {place} to go on with "
            "them all the same"
        )
    return not difference


def keep(run: Path, folder: Path, card: str) -> None:
    """Write a run's copy of a prepared folder, in place of an earlier copy.

    Args:
        run: the run's folder; made if missing.
        card: text for people.
    """
    if (run / FOLDER).exists():
        shutil.rmtree(run / FOLDER)
    with complete_folder(run / FOLDER) as new:
        keep_folder(folder, read_manifest(folder), new)
        with_products(new, read_manifest(new)).save(new)
        write_text(new / CARD, card)


def kept_by(run: Path) -> str:
    """Return the SHA-256 of the manifest of a run's copy; empty without a copy."""
    path = run / FOLDER / FILE_NAME
    return sha256(path) if path.is_file() else ""


def unlike(copy: Path, folder: Path) -> str:
    """Return how a prepared folder differs from a run's copy; empty if both read text alike.

    Data of a folder, and versions of tools, make no difference.
    """
    try:
        kept, manifest = read_manifest(copy), read_manifest(folder)
        check_whole(folder, manifest, partial=isinstance(manifest, TranslationManifest))
        found = changes(_decisive(copy, kept), _decisive(folder, manifest))
    except (OSError, InputError) as error:
        return str(error)
    return named(found, SHOWN, between="; ", none="")


def _decisive(folder: Path, manifest: Manifest) -> dict[str, Any]:
    """Return the parts of manifest and files that decide how raw text is read."""
    kept = kept_manifest(manifest)
    names = {*kept.keys()} - {"versions", "inputs", "products"}
    files = {path.name: sha256(path)[:SHORT] for path in kept_files(kept, folder)}
    compared = {"wordnet": kept.inputs.get("wordnet", {}), "files": files}
    return {name: getattr(kept, name) for name in names} | compared


def open_copy(place: Path) -> Manifest:
    """Return the manifest of a run's copy, after checking that no file changed."""
    refuse_link(place)
    refuse_link(place / FILE_NAME)
    manifest = read_manifest(place)
    for path in kept_files(manifest, place):
        refuse_link(path)
    for fault in faults(place, replace(manifest, splits={}), hashes=True):
        raise type(fault)(f"{fault}: take an unchanged copy of the run, or name its --data")
    return manifest


def prepared_folder(checkpoint: Path, origin: Origin, given: str | Path | None = None) -> str:
    """Return the prepared folder for a checkpoint's model.

    This is the ``given`` folder; else the training's folder if present with the same data and
    reading of text; else the run's copy. Older releases, and a checkpoint alone, have no copy.
    """
    if given and _is_there(str(given)):
        return str(given)
    copy, own = checkpoint.parent / FOLDER, None
    if given:
        raise FileNotFoundError(f"the prepared folder {given} is not there; {_CURE}")
    if origin.copy and kept_by(checkpoint.parent) == origin.copy:
        open_copy(own := copy)
    there = dict.fromkeys(filter(_is_there, (origin.path, origin.typed)), "")
    for folder in there:
        there[folder] = _difference(origin, _parts(folder)[0], own)
        if not there[folder]:
            return folder
    if not there and own is None:
        raise FileNotFoundError(
            f"the prepared folder {origin.path} that {checkpoint} was trained on is not there, and "
            f"{copy} is no copy of it; {_CURE}"
        )
    for folder, why in there.items():
        changed = f"{folder} is not as it was when {checkpoint} was trained ({why})"
        if own is None:
            raise InputError(f"{changed}; {_CURE}, or take what is there with --data {folder}")
        now = f"--data {folder} takes what is there now"
        logger.warning("%s: text is read by the run's own copy, %s; %s", changed, own, now)
    return str(own)


def _difference(origin: Origin, folder: Path, copy: Path | None) -> str:
    """Return why a folder is not the training's folder; empty if it may be."""
    try:
        return origin.other_data(folder, copy) or (unlike(copy, folder) if copy else "")
    except (OSError, InputError) as error:
        return str(error)


def _absolute(folder: str) -> str:
    return os.pathsep.join(os.path.abspath(part) for part in _parts(folder))


def _is_there(folder: str) -> bool:
    parts = _parts(folder)
    return bool(parts) and all(part.is_dir() for part in parts)


def _parts(folder: str) -> list[Path]:
    """Return the folders in a text, joined by ``:``."""
    whole = [folder] if Path(folder).exists() else folder.split(os.pathsep)
    return [Path(part) for part in whole if part]

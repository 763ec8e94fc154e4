"""A preparation divided over machines: each makes its shard of the chunks, one command merges them.

Chunks are numbered over all splits. Shard i of n makes those with number modulo n equal to i - 1,
in its own folder ``DESTDIR/.shards/i-of-n``, and writes its record there last. The merging command
checks all records and does the rest of the preparation, reading the chunks in place; the finished
folder has the same bytes as without shards. Shards may be made on separate file systems and copied.
"""

import json
import logging
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.manifest import FILE_NAME, Manifest, changes
from ..data.manifests import read_manifest
from ..errors import InputError
from ..files import refuse_link, sha256, write_text
from ..messages import named
from ..text_reading import read_text
from .running import Shard
from .workspace import (
    LOCK,
    MARK,
    WORK,
    check_products,
    close_work,
    has_mark,
    is_finished,
    locked,
    open_work,
    some,
)

logger = logging.getLogger(__name__)

SHARDS = ".shards"
RECORD = "shard.json"
FORMAT, VERSION = "fairseq_plugins.shard", 4
REMOVED = ".removed"


@dataclass(frozen=True)
class WorkLayout:
    """The folders of a command's results and work."""

    folder: Path  # for results, such as a subword model
    work: Path  # for chunks and other unfinished work
    shard: Shard  # the part of the preparation
    parts: tuple[Path, ...] = ()  # of a merge: the shards' folders of chunks, in order

    @property
    def is_part(self) -> bool:
        """Whether only chunks are made."""
        return self.shard.number > 0

    def owns(self, number: int) -> bool:
        """Return whether this part makes chunk ``number``, counted over all splits."""
        return not self.is_part or number % self.shard.of == self.shard.number - 1

    def place(self, number: int) -> Path:
        return self.parts[number % len(self.parts)] if self.parts else self.work


def is_settled(options: Any, manifest: Manifest) -> bool:
    """Return whether the folder is finished and no temporary file is left; see `is_finished`."""
    folder, shard = Path(options.destdir), Shard.asked(options)
    if not is_finished(folder, manifest, overwrite=_overwrites(options, manifest)):
        return False
    left = [WORK, LOCK, *([SHARDS] if shard.merge else [])]  # after a kill at the very end
    return shard.number > 0 or not any((folder / name).exists() for name in left)


def carry_out(options: Any, manifest: Manifest, make: Callable[[WorkLayout], None]) -> Manifest:
    """Do a preparation, or a part; return the manifest.

    Args:
        options: with ``destdir``, ``overwrite``, ``shard`` and ``merge``.
        manifest: describes all that decides the folder's content.
        make: does the missing work in a locked folder; it saves the manifest last, or makes only
            chunks if `WorkLayout.is_part`.
    """
    folder, shard = Path(options.destdir), Shard.asked(options)
    if shard.number:
        make_shard(options, manifest, make)
        return manifest
    if not shard.merge and (folder / SHARDS).is_dir():
        logger.warning("%s holds shards, which --merge would take in", folder)
    with locked(folder):
        # another process may have finished it
        if is_finished(folder, manifest, overwrite=_overwrites(options, manifest)):
            close_work(folder)
        else:
            parts = find_parts(folder, manifest) if shard.merge else ()
            work = open_work(folder, manifest.fingerprint(), overwrite=options.overwrite)
            make(WorkLayout(folder, work, shard, parts))
        if shard.merge:
            remove_shards(folder, manifest)
    return read_manifest(folder, type(manifest))


def _overwrites(options: Any, manifest: Manifest) -> bool:
    """Return whether to overwrite finished results; not those of a merge without all shards."""
    folder = Path(options.destdir)
    if not (options.overwrite and Shard.asked(options).merge and (folder / FILE_NAME).is_file()):
        return options.overwrite
    going = next((folder / SHARDS).glob(f"*{REMOVED}"), None)
    if _shards(folder) and not going:
        return True
    try:
        return bool(read_manifest(folder, type(manifest)).differences(manifest))
    except InputError:  # of another kind
        return True


def make_shard(options: Any, manifest: Manifest, make: Callable[[WorkLayout], None]) -> None:
    """Make one shard, unless it is finished."""
    check_products(Path(options.destdir), overwrite=options.overwrite)
    shard = Shard.asked(options)
    folder = Path(options.destdir) / SHARDS / f"{shard.number}-of-{shard.of}"
    _refuse_links(folder)
    with locked(folder):
        record = folder / RECORD
        differing, damaged = _faults(folder, manifest) if record.is_file() else ([], RECORD)
        if differing and not options.overwrite:
            raise InputError(
                f"{folder} holds a shard of another preparation ({some(differing)}); merge or "
                "remove it, or give --overwrite"
            )
        if not differing and not damaged:
            logger.info("shard %s is already made in %s", shard, folder)
            return
        record.unlink(missing_ok=True)
        work = open_work(folder, manifest.fingerprint(), overwrite=True)
        make(WorkLayout(folder, work, shard))
        made = sorted(p for p in work.iterdir() if p.name != MARK and ".tmp" not in p.name)
        files = {path.name: sha256(path) for path in made}
        body = {"format": FORMAT, "format_version": VERSION, "shard": str(shard)}
        body |= {"decisive": manifest.decisive(), "files": files}
        write_text(record, json.dumps(body, indent=1) + "\n")
    logger.info("shard %s is made in %s; when all are, --merge finishes the folder", shard, folder)


def find_parts(folder: Path, manifest: Manifest) -> tuple[Path, ...]:
    """Return the folders of chunks of all shards, in order, checked."""
    found = _shards(folder)
    for path in found.values():
        _refuse_links(path)
    counts = sorted({shard.of for shard in found})
    if not counts:
        raise InputError(
            f"{folder / SHARDS} holds no shards: make them with --shard 1/n to --shard n/n, and "
            "copy there what other machines made"
        )
    if len(counts) > 1:
        raise InputError(
            f"{folder / SHARDS} holds shards of {named(counts, between=' and of ')}: remove those "
            "that are not to be merged"
        )
    shards = [Shard(number, counts[0]) for number in range(1, counts[0] + 1)]
    if missing := [str(s) for s in shards if s not in found or not (found[s] / RECORD).is_file()]:
        raise InputError(
            f"{folder / SHARDS} lacks or has only begun shard {named(missing)}: make it with "
            f"--shard {missing[0]}, or copy its folder there"
        )
    for shard in shards:
        differing, damaged = _faults(found[shard], manifest)
        if differing:
            raise InputError(
                f"shard {shard} in {found[shard]} is of another preparation ({some(differing)})"
            )
        if damaged:
            raise InputError(
                f"shard {shard} in {found[shard]}: {damaged} is missing or not whole; copy the "
                f"folder again, or run --shard {shard} again"
            )
    return tuple(found[shard] / WORK for shard in shards)


def remove_shards(folder: Path, manifest: Manifest) -> None:
    """Remove the shards of a finished folder; those of other preparations stay."""
    refuse_link(folder / SHARDS)
    _clear(folder)  # leftovers of a kill would block new shards with the same number
    for path in _shards(folder).values():
        _refuse_links(path)
        if has_mark(path / WORK, manifest.fingerprint()):
            path.rename(path.with_name(path.name + REMOVED))  # atomic: a kill leaves nothing half
    _clear(folder)
    if (folder / SHARDS).is_dir() and not any((folder / SHARDS).iterdir()):
        (folder / SHARDS).rmdir()


def _clear(folder: Path) -> None:
    for path in (folder / SHARDS).glob(f"*{REMOVED}"):
        refuse_link(path)
        shutil.rmtree(path)


def _refuse_links(shard: Path) -> None:
    """Refuse a shard that is a link or behind a link, because its chunks are removed later."""
    for path in (shard.parent, shard, shard / WORK, shard / RECORD):
        refuse_link(path)


def _shards(folder: Path) -> dict[Shard, Path]:
    found = {}
    for path in (folder / SHARDS).glob("*-of-*"):
        numbers = re.fullmatch(r"([0-9]{1,9})-of-([0-9]{1,9})", path.name)
        if numbers and path.is_dir():
            found[Shard(int(numbers[1]), int(numbers[2]))] = path
    return found


def _record(folder: Path) -> dict[str, Any]:
    path = folder / RECORD
    try:
        body = json.loads(read_text(path))
        form = body["format"], body["format_version"]
        shard, files = body["shard"].replace("/", "-of-"), body["files"]
        whole = isinstance(body["decisive"], dict) and all(
            Path(name).name == name and isinstance(digest, str) for name, digest in files.items()
        )
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise InputError(f"{path} is no record of a shard: {error!r}") from None
    if form != (FORMAT, VERSION) or not whole:
        raise InputError(f"{path} is no record of a shard that this release reads: {form}")
    if shard != folder.name:
        raise InputError(f"{path} is the record of shard {body['shard']}, not of {folder.name}")
    return body


def _faults(folder: Path, manifest: Manifest) -> tuple[list[str], str]:
    """Return the faults of a finished shard.

    Returns:
        Differences of its preparation from ``manifest``; without any, the name of the first missing
        or changed file, or nothing.
    """
    record = _record(folder)
    if differing := changes(record["decisive"], manifest.decisive()):
        return differing, ""
    for name, digest in record["files"].items():
        path = folder / WORK / name
        if not path.is_file() or sha256(path) != digest:
            return [], name
    return [], ""

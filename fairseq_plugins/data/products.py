"""The files of a finished folder: recorded in its manifest, compared with it later.

Opening a folder compares sizes; bytes are compared on request.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..errors import InputError
from ..files import sha256, sync
from ..syntax.rows import AGAIN
from .manifest import M, Manifest


def with_products(folder: Path, manifest: M) -> M:
    """Return a manifest with size and SHA-256 of all files, once they are on disk."""
    found = {}
    for path in manifest.files(folder):
        sync(path)
        found[path.name] = {"size": path.stat().st_size, "sha256": sha256(path)}
    sync(folder)
    return replace(manifest, products=found)


def split_digests(manifest: Manifest) -> dict[str, str]:
    """Return a digest of each split's data; manifests of older releases have none."""
    found = {}
    for split in manifest.splits:
        names = sorted(manifest.split_files(split))
        hashes = [f"{name} {manifest.products.get(name, {}).get('sha256')}" for name in names]
        found[split] = hashlib.sha256("\n".join(hashes).encode()).hexdigest()
    return found if manifest.products else {}


def faults(folder: Path, manifest: Manifest, *, hashes: bool = False) -> Iterator[Exception]:
    """Yield the problems of a folder's files, as the errors to raise.

    With ``hashes`` all files are read and their bytes compared too; manifests of older releases
    have no sizes.
    """
    for path in manifest.files(folder):
        written = manifest.products.get(path.name)
        if not path.is_file():
            yield FileNotFoundError(f"{path} is missing")
        elif manifest.products and written is None:
            yield InputError(f"{path} is not among the files that the manifest describes")
        elif written and (size := path.stat().st_size) != written["size"]:
            was = written["size"]
            yield InputError(f"{path} has {size} bytes, but was written with {was}")
        elif written and hashes and sha256(path) != written["sha256"]:
            yield InputError(f"{path} has other bytes than were written (SHA-256)")


def check_whole(
    folder: Path, manifest: Manifest, *, hashes: bool = False, partial: bool = False
) -> None:
    """Refuse a folder with changed files; with ``partial``, some may be missing."""
    for fault in faults(folder, manifest, hashes=hashes):
        if not (partial and isinstance(fault, FileNotFoundError)):
            raise type(fault)(f"{fault}; {AGAIN}")

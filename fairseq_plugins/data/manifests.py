"""The one reader of manifests, of both kinds of prepared folder."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from ..errors import InputError
from ..messages import named, quoted
from ..text_reading import parse_json, read_text
from .manifest import FILE_NAME, VERSION, M, Manifest
from .text_manifest import TEXT_FILE, TextManifest
from .translation_manifest import TRANSLATION_FILE, TranslationManifest

AnyManifest = TextManifest | TranslationManifest
KINDS: tuple[type[Manifest], ...] = (TranslationManifest, TextManifest)


def read_manifest(folder: Path, kind: type[M] = Manifest) -> M:
    """Read a folder's manifest, if given of a ``kind``."""
    path = Path(folder) / FILE_NAME
    wanted = tuple(one for one in KINDS if issubclass(one, kind))
    body, own = _read(path, wanted)
    missing, foreign = {*own.required()} - body.keys(), body.keys() - {*own.keys()}
    for what, names in (("lacks", missing), ("has", foreign)):
        if names:
            raise InputError(f"{path} does not fit this release: it {what} {named(sorted(names))}")
    manifest = own(**body)
    for item in fields(own):
        found, type_of = getattr(manifest, item.name), str(item.type).partition("[")[0]
        if type(found).__name__ != type_of:
            raise InputError(f"{path}: {item.name!r} is {quoted(found)}, expected a {type_of}")
    try:
        for problem in manifest.problems():
            raise InputError(f"{path}: {problem}")
    except (AttributeError, LookupError, TypeError) as error:  # of another structure
        raise InputError(f"{path} does not fit this release: {quoted(error)}") from None
    return cast(M, manifest)


def is_product(name: str) -> bool:
    """Tell by its name whether a file can belong to a prepared folder."""
    return bool(name == FILE_NAME or TRANSLATION_FILE.fullmatch(name) or TEXT_FILE.fullmatch(name))


def _read(path: Path, wanted: tuple[type[Manifest], ...]) -> tuple[dict[str, Any], type[Manifest]]:
    """Read the fields and kind of a manifest's file, which must be of a wanted kind."""
    makers = named((kind.COMMAND for kind in wanted), between=" or ")
    if not path.parent.exists():
        makes = named((f"fairseq-plugins {kind.COMMAND}" for kind in wanted), between=" or ")
        raise FileNotFoundError(
            f"{path.parent}: no such folder; {makes} makes it, with --destdir {path.parent}"
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing: {path.parent} is no folder of {makers}, "
            "or its preparation was not finished (run the same command again)"
        )
    try:
        body = parse_json(read_text(path))
        form, version = body.pop("format"), body.pop("format_version")
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise InputError(f"{path} is no manifest of fairseq_plugins: {error!r}") from None
    found = [kind for kind in KINDS if version == VERSION and kind.FORM == form]
    if not found:
        raise InputError(
            f"{path} has format {quoted(form)} version {quoted(version)}; this release reads "
            f"{named((repr(kind.FORM) for kind in wanted), between=' and ')} version {VERSION}"
        )
    if found[0] not in wanted:
        raise InputError(
            f"{path.parent} is a folder of {found[0].COMMAND}; one of {makers} is wanted"
        )
    return body, found[0]

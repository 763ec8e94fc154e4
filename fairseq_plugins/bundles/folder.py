"""What is kept of a prepared folder beside a model: how raw text is read, and with what.

A bundle keeps it, and a run (`run_folder`). Nothing is kept of the data themselves, nor of where
they lay. A pipeline that annotates raw text
may be copied in; it is looked through before it is loaded (`text.pipeline_safety`).
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..data.manifest import FILE_NAME, M, Manifest
from ..data.manifests import read_manifest
from ..files import copy
from ..text.annotators import UDPIPE
from ..text.pipeline_safety import check_pipeline
from .index import Bundle

KEPT_OPTIONS = ("max_characters", "read")  # of the preparation: how lines and tables are read
PIPELINE = "pipeline"  # folder of a spaCy pipeline, or of one UDPipe model, which keeps its name
_SEPARATOR = re.compile(r"[/\\]")
_CODE = ("*.py", "*.pyc", "__pycache__")


def keep_folder(source: Path, manifest: Manifest, output: Path, **changes: Any) -> None:
    """Copy what raw text needs out of a prepared folder.

    Args:
        source, manifest: the folder, and what it says of itself.
        output: where to.
        changes: fields of the manifest that are to be said otherwise.
    """
    for path in kept_files(manifest, source):
        copy(path, output / path.name)
    kept_manifest(manifest, **changes).save(output)


def kept_manifest(manifest: M, **changes: Any) -> M:
    """Return a manifest without its data, and without the places where things lay."""
    inputs = {
        name: {key: value for key, value in entry.items() if key != "file"}
        for name, entry in manifest.inputs.items()
    }
    options = {key: value for key, value in manifest.options.items() if key in KEPT_OPTIONS}
    own = ("splits", "alignment", "products", "submission")
    nothing: dict[str, Any] = {name: {} for name in own if name in manifest.keys()}
    kept = replace(manifest, **(nothing | {"inputs": inputs, "options": options} | changes))
    model = kept.annotator.get("model", "")
    if not _SEPARATOR.search(model):
        return kept
    kind = f"{UDPIPE}:" if model.startswith(f"{UDPIPE}:") else ""
    # no name that could be an installed pipeline's
    shown = f"{kind}.../{_SEPARATOR.split(model)[-1]}"
    return replace(kept, annotator=kept.annotator | {"model": shown})


def kept_files(manifest: Manifest, folder: Path) -> list[Path]:
    """Name the files of a prepared folder that raw text needs."""
    return replace(manifest, splits={}).files(folder)


def read_folder(bundle: Bundle, kind: type[M]) -> M:
    """Return the manifest of a bundle, all whose files are there.

    Raises:
        FileNotFoundError, InputError: a file that its index does not name, a manifest of another
            kind.
    """
    bundle.path(FILE_NAME)
    manifest = read_manifest(bundle.folder, kind)
    for path in kept_files(manifest, bundle.folder):
        bundle.path(path.name)
    return manifest


def pipeline_of(bundle: Bundle) -> str | None:
    """Return the pipeline that a bundle brings, as ``--spacy-model`` takes it; None without one.

    Raises:
        InputError: one that asks for more than plain parts, see `check_pipeline`.
    """
    files = bundle.inside(PIPELINE)
    if not files:
        return None
    if len(files) == 1:
        return f"{UDPIPE}:{bundle.path(files[0])}"
    check_pipeline(bundle.folder / PIPELINE)
    return str(bundle.folder / PIPELINE)


def keep_pipeline(annotator: Any, output: Path) -> None:
    """Copy the files of a loaded annotator (`text.annotate`, `text.udpipe`) into a bundle.

    Raises:
        InputError: a pipeline that a bundle could not load again; see `check_pipeline`.
    """
    files = Path(annotator.files)
    if files.is_file():
        (output / PIPELINE).mkdir()
        shutil.copyfile(files, output / PIPELINE / files.name)
        return
    shutil.copytree(files, output / PIPELINE, ignore=shutil.ignore_patterns(*_CODE))
    check_pipeline(output / PIPELINE)

"""The part of a prepared folder that stays beside a model, to read raw text.

Bundles and runs (`run_folder`) have it. It includes no data and no paths of data. A copied pipeline
for raw text is checked before it is loaded (`door.pipelines`).
"""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..data.manifest import FILE_NAME, M, Manifest
from ..data.manifests import read_manifest
from ..door.pipelines import PIPELINE as UNTRUSTED
from ..files import copy
from ..text.annotators import UDPIPE
from .index import Bundle

KEPT_OPTIONS = ("max_characters", "read", "protect")  # how to read lines and tables
PIPELINE = "pipeline"  # folder of a spaCy pipeline, or of one UDPipe model with its own name
_SEPARATOR = re.compile(r"[/\\]")
_CODE = ("*.py", "*.pyc", "__pycache__")


def keep_folder(source: Path, manifest: Manifest, output: Path, **changes: Any) -> None:
    """Copy the files that raw text needs from a prepared folder.

    Args:
        changes: new values of manifest fields.
    """
    for path in kept_files(manifest, source):
        copy(path, output / path.name)
    kept_manifest(manifest, **changes).save(output)


def kept_manifest(manifest: M, **changes: Any) -> M:
    """Return a manifest without its data and without paths."""
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
    """Return the files of a prepared folder that raw text needs."""
    return replace(manifest, splits={}).files(folder)


def read_folder(bundle: Bundle, kind: type[M]) -> M:
    """Return the manifest of a bundle, with all its files present."""
    bundle.path(FILE_NAME)
    manifest = read_manifest(bundle.folder, kind)
    for path in kept_files(manifest, bundle.folder):
        bundle.path(path.name)
    return manifest


def pipeline_of(bundle: Bundle) -> str | None:
    """Return the pipeline of a bundle, in the form of ``--spacy-model``; None without one."""
    files = bundle.inside(PIPELINE)
    if not files:
        return None
    if len(files) == 1:
        return f"{UDPIPE}:{bundle.path(files[0])}"
    UNTRUSTED.admit(bundle.folder / PIPELINE)
    return str(bundle.folder / PIPELINE)


def keep_pipeline(annotator: Any, output: Path) -> None:
    """Copy the files of a loaded annotator (`text.annotate`, `text.udpipe`) into a bundle."""
    files = Path(annotator.files)
    if files.is_file():
        (output / PIPELINE).mkdir()
        shutil.copyfile(files, output / PIPELINE / files.name)
        return
    shutil.copytree(files, output / PIPELINE, ignore=shutil.ignore_patterns(*_CODE))
    UNTRUSTED.admit(output / PIPELINE)

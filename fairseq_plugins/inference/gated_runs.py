"""Checkpoints with gates, grouped as seeds of systems."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.manifests import read_manifest
from ..data.text_manifest import TextManifest
from ..errors import InputError
from ..methods.local_attention import read_local
from .options import LABELLING
from .text_checkpoints import check_checkpoint, folder_of, lacking


@dataclass(frozen=True)
class GatedRun:
    """A checkpoint with gates."""

    path: Path  # its file
    system: str  # its name; runs of one system on one dataset are seeds
    dataset: str  # name of its prepared folder
    options: dict[str, Any]  # of its model


def gated_runs(
    paths: Sequence[Path], names: Sequence[str], data: str | None = None
) -> list[GatedRun]:
    """Describe checkpoints without building them.

    Args:
        paths: the files.
        names: of their systems; an empty name means the architecture, and then runs of one
            architecture on one dataset must agree in all options.
        data: the prepared folder (default: the training folders).
    """
    folders, called, options = [], [], []
    for path in paths:
        found = check_checkpoint(path, LABELLING)
        folders.append(folder_of(found, data))
        called.append(Path(data or found.origin.path).resolve().name)
        options.append(found.model)
        if not _is_gated(found.model):
            raise lacking(path, found.model["_name"], "gates", "local attention", _is_gated)
    systems = [name or one["_name"] for name, one in zip(names, options)]
    runs = list(map(GatedRun, paths, systems, _dataset_names(folders, called), options))
    _check_seeds([run for run, name in zip(runs, names) if not name])
    return runs


def _is_gated(options: dict[str, Any]) -> bool:
    return bool(read_local(options.get("local_attention")))


def _dataset_names(folders: Sequence[str], called: Sequence[str]) -> list[str]:
    """Return names of prepared folders, equal for the same training file.

    ``called`` are their names, also if a run's own copy replaces a folder.
    """
    names: dict[tuple[str, str], str] = {}
    found = []
    for folder, name in zip(folders, called):
        manifest = read_manifest(Path(folder), TextManifest)
        place = Path(folder).resolve()
        content = manifest.inputs.get("train", {}).get("sha256") or str(place)
        name = name if name not in names.values() else str(place)
        found.append(names.setdefault((manifest.dataset, content), name))
    return found


def _check_seeds(runs: Sequence[GatedRun]) -> None:
    first: dict[tuple[str, str], GatedRun] = {}
    for run in runs:
        one = first.setdefault((run.dataset, run.system), run)
        for option in sorted({*one.options, *run.options}):
            values = [other.options.get(option) for other in (one, run)]
            if values[0] != values[1]:
                raise InputError(
                    f"{one.path} and {run.path} are both {run.system!r}, but differ in "
                    f"--{option.replace('_', '-')} ({values[0]} and {values[1]}): tell them apart "
                    "by NAME=PATH"
                )

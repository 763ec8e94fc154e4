"""The prepared folders of a grid's systems, and the commands that make them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...data.manifest import FILE_NAME
from ...data.manifests import AnyManifest, read_manifest
from ...data.translation_manifest import TranslationManifest
from ...errors import InputError
from ...evaluation.metrics import NAMES
from ...files import sha256
from ...messages import named
from ...prep.shares import Share
from ..commands import command, written
from .experiment_file import PlannedPart
from .grid import Grid
from .prepare import SQUAD, TRANSLATION, preparing

logger = logging.getLogger(__name__)

# target (or the dataset `translation`) -> metrics that may choose a checkpoint
METRICS = {**NAMES, TRANSLATION: ("loss", "nll_loss", "ppl", "bleu")}
_DEVELOPMENT = ("dev-v2.0.json", "dev-v1.1.json", "dev.json")


@dataclass(frozen=True)
class PreparedData:
    """A prepared folder of a run."""

    folder: Path
    manifest: AnyManifest
    fingerprint: str  # SHA-256 of the manifest
    taken: tuple[Path, Share] | None = None  # whole folder, and the share of it in this folder

    @property
    def examples(self) -> int:
        """Number of training examples, or of sentence pairs."""
        return self.manifest.count("train")

    @property
    def asks(self) -> bool:
        """Whether the folder holds questions about passages."""
        return self.manifest.by_paragraph

    @property
    def translates(self) -> bool:
        """Whether the folder holds parallel text."""
        return isinstance(self.manifest, TranslationManifest)

    def part(self, share: Share, folder: Path) -> PreparedData:
        """Return the prepared folder of a share of the training set."""
        splits = dict(self.manifest.splits)
        for split, count in share.counts(self.examples).items():
            splits[split] = {**splits["train"], self.manifest.UNIT: count}
        manifest = replace(self.manifest, splits=splits)
        return replace(self, folder=folder, manifest=manifest, taken=(self.folder, share))

    def file_of(self, split: str) -> str:
        """Return the SHA-256 of a split's input file; of the manifest if unknown."""
        return self.manifest.inputs.get(split, {}).get("sha256", self.fingerprint)


def read_prepared(folder: str | Path, grid: Grid) -> PreparedData:
    """Read the manifest of a prepared folder."""
    path = Path(folder) / FILE_NAME
    if not path.is_file():
        words = preparing(grid.dataset, {"destdir": folder, **grid.prepare}, Path("DIR"))
        raise FileNotFoundError(
            f"{path}: no such file; prepare the data first: name the folder of the raw data with "
            f"--raw DIR, or run {written(*words)}"
        )
    manifest: Any = read_manifest(Path(folder))
    if manifest.dataset != grid.dataset:
        raise InputError(f"{path}: holds {manifest.dataset!r}, expected {grid.dataset!r}")
    asked, cut = grid.prepare.get("tokenize"), getattr(manifest, "tokenize", None)
    if asked and asked != cut:
        told = "%s: its text was cut into words by --tokenize %s, the experiment's file says %s"
        logger.warning(told, path, cut, asked)
    _check_splits(manifest, grid, path)
    return PreparedData(Path(folder), manifest, sha256(path))


def _check_splits(manifest: AnyManifest, grid: Grid, path: Path) -> None:
    for split in ("train", grid.reported):
        if split not in manifest.splits or not manifest.labelled(split):
            raise InputError(f"{path}: holds no labelled split {split!r}")
    if grid.evaluate not in ("", *manifest.splits):
        choices = named(manifest.splits)
        raise InputError(f"{path}: no split {grid.evaluate!r} to evaluate; choices are {choices}")
    if grid.evaluate and not manifest.labelled(grid.evaluate):
        told = "%s: split %r has no labels: nothing is tested, and what is shown is of %r"
        logger.warning(told, path, grid.evaluate, grid.validation)


def read_folders(folder: Path, grid: Grid) -> dict[str, PreparedData]:
    """Read the grid's prepared folder, and the folders of systems with their own data.

    Args:
        folder: of the grid.
        grid: its systems may name data: a path, or a suffix of the grid's folder, so that ``35`` is
            ``data-bin/squad2_35`` for ``data-bin/squad2``.

    Returns:
        Name of the data, empty for the grid's -> its folder.
    """
    found = {}
    for name in dict.fromkeys(map(grid.data_of, grid.systems)):
        own = Path(name) if "/" in name else Path(f"{folder}_{name}")
        found[name] = read_prepared(own if name else folder, grid)
    first, *others = found.values()
    for other in others:
        if other.file_of(grid.reported) != first.file_of(grid.reported):
            raise InputError(
                f"{other.folder} and {first.folder} have different files behind split "
                f"{grid.reported!r}: systems trained on them cannot be compared"
            )
    return found


def raw_folder(part: PlannedPart, raw: Path) -> Path:
    """Return the folder of a part's raw data: a folder inside ``raw``, or ``raw``.

    The folder has the part's `raw` name, else the name of the part or of its dataset.
    """
    names = [part.raw] if part.raw else [part.name, part.grid.dataset]
    return next((raw / name for name in names if (raw / name).is_dir()), raw)


def preparation(
    part: PlannedPart, raw: Path, pretrained: str = "", more: Sequence[str] = ()
) -> list[list[str]]:
    """Return the commands that prepare a part's folder, and the folders of systems with other data.

    Question answering finds other data in ``train_35.json`` and the like, validated on the same
    questions.

    Args:
        raw: folder of raw data of this part, or with a folder per part.
        pretrained: Hugging Face BERT directory; empty for the default.
    """
    raw = raw_folder(part, raw)
    if not raw.is_dir():
        raise FileNotFoundError(f"--raw {raw}: no such folder")
    dataset, options, files = part.grid.dataset, dict(part.grid.prepare), {part.folder: {}}
    if pretrained and dataset != TRANSLATION:
        options = {"pretrained": pretrained, **options}
    valid = next((raw / name for name in _DEVELOPMENT if (raw / name).is_file()), None)
    for train in sorted(raw.glob("train_*.json")) if dataset == SQUAD and valid else ():
        if (share := train.stem.removeprefix("train_")).isdigit():
            folder = Path(f"{part.folder}_{share}")
            files[folder] = {"train-file": train, "valid-file": valid}
    return [
        [*command(*preparing(dataset, {"destdir": folder, **options}, raw, own)), *more]
        for folder, own in files.items()
    ]

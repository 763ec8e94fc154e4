"""The prepared folders that a grid's systems are trained on, and the commands that make them."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ...data.folder_names import TARGETS
from ...errors import InputError
from ...evaluation.metrics import NAMES
from ...messages import named, quoted
from ...prep.shares import Share
from ..commands import command, written
from ..safe_files import parse_json
from .experiment_file import PlannedPart
from .grid import Count, Grid
from .prepare import SQUAD, TRANSLATION, preparing
from .yaml_file import read_as

logger = logging.getLogger(__name__)

SPANS = "spans"  # target of question answering; that of translation is called as its dataset
# target -> what may choose a checkpoint; of translation what fairseq logs
METRICS = {**NAMES, TRANSLATION: ("loss", "nll_loss", "ppl", "bleu")}
_DEVELOPMENT = ("dev-v2.0.json", "dev-v1.1.json", "dev.json")
_PARALLEL = "fairseq_plugins.translation"  # format of a manifest of parallel text
_TASKS = {**TARGETS, TRANSLATION: "syntax_translation"}  # a manifest may ask for no other


class _Split(BaseModel):
    examples: Count
    labelled: Count = 0


class _Pairs(BaseModel):
    lines: Count


class _Input(BaseModel):
    sha256: str = ""


class _Parallel(BaseModel):
    """What is read of a manifest of parallel text; others may be more."""

    splits: dict[str, _Pairs]
    inputs: dict[str, _Input] = {}
    annotator: dict[str, Any] | None = None
    segmentation: dict[str, dict[str, Any]] | None = None


class _Texts(_Parallel):
    """What is read of the manifest of other text."""

    dataset: str | None = None
    task: str | None = None
    target: str | None = None
    metric: str
    positive: str
    splits: dict[str, _Split]
    tokenize: str | None = None


@dataclass(frozen=True)
class PreparedData:
    """What a run has to know about its prepared folder."""

    folder: Path  # the folder
    manifest: Mapping[str, Any]  # contents of its ``manifest.json``; see `_as_of_texts`
    fingerprint: str  # SHA-256 of that file
    taken: tuple[Path, Share] | None = None  # whole folder, and the share that this one has of it

    @property
    def examples(self) -> int:
        """Number of training examples, or of pairs of sentences."""
        return int(self.manifest["splits"]["train"]["examples"])

    @property
    def translates(self) -> bool:
        """Whether it holds parallel text."""
        return self.manifest["target"] == TRANSLATION

    def part(self, share: Share, folder: Path) -> PreparedData:
        """Return what a part of the training set in a folder of its own is."""
        splits = dict(self.manifest["splits"])
        for split, count in share.counts(self.examples).items():
            splits[split] = {**self.manifest["splits"]["train"], "examples": count}
        manifest = {**self.manifest, "splits": splits}
        return replace(self, folder=folder, manifest=manifest, taken=(self.folder, share))

    def file_of(self, split: str) -> str:
        """Return the SHA-256 of the file a split was made of; of the whole folder if unknown."""
        return self.manifest.get("inputs", {}).get(split, {}).get("sha256", self.fingerprint)


def read_prepared(folder: str | Path, grid: Grid) -> PreparedData:
    """Read the manifest of a prepared folder.

    Raises:
        FileNotFoundError: there is none; says how to make it.
        InputError: it is broken, or of another dataset or kind, asks for another task than its
            kind has, or lacks a training or validation set.
    """
    path = Path(folder) / "manifest.json"
    if not path.is_file():
        words = preparing(grid.dataset, {"destdir": folder, **grid.prepare}, Path("DIR"))
        raise FileNotFoundError(
            f"{path}: no such file; prepare the data first: name the folder of the raw data with "
            f"--raw DIR, or run {written(*words)}"
        )
    content = path.read_bytes()
    manifest = _as_of_texts(content, str(path))
    if manifest.get("target") not in METRICS or manifest.get("dataset") != grid.dataset:
        found = manifest.get("dataset", "no text dataset")
        raise InputError(f"{path}: holds {found!r}, expected {grid.dataset!r}")
    if manifest.get("task") != (task := _TASKS[manifest["target"]]):
        raise InputError(f"{path}: key 'task': {quoted(manifest.get('task'))} is not {task!r}")
    asked, cut = grid.prepare.get("tokenize"), manifest.get("tokenize")
    if asked and asked != cut:
        told = "%s: its text was cut into words by --tokenize %s, the experiment's file says %s"
        logger.warning(told, path, cut, asked)
    _check_splits(manifest["splits"], grid, path)
    return PreparedData(Path(folder), manifest, hashlib.sha256(content).hexdigest())


def _as_of_texts(content: bytes, place: str) -> dict[str, Any]:
    """Return a manifest; that of parallel text with the keys of others: every pair has gold."""
    try:
        told = parse_json(content.decode())
    except ValueError as error:
        raise InputError(f"{place}: no manifest: {error}") from None
    manifest = read_as(dict[str, Any], told, place)
    if manifest.get("format") != _PARALLEL:
        read_as(_Texts, manifest, place)
        return manifest
    splits = {
        name: {**manifest["splits"][name], "examples": one.lines, "labelled": one.lines}
        for name, one in read_as(_Parallel, manifest, place).splits.items()
    }
    own = {"dataset": TRANSLATION, "task": _TASKS[TRANSLATION], "target": TRANSLATION}
    return {**manifest, **own, "metric": "loss", "positive": "", "splits": splits}


def _check_splits(splits: Mapping[str, Any], grid: Grid, path: Path) -> None:
    for split in ("train", grid.reported):
        if not splits.get(split, {}).get("labelled"):
            raise InputError(f"{path}: holds no labelled split {split!r}")
    if grid.evaluate not in ("", *splits):
        choices = named(splits)
        raise InputError(f"{path}: no split {grid.evaluate!r} to evaluate; choices are {choices}")
    if grid.evaluate and not splits[grid.evaluate].get("labelled"):
        told = "%s: split %r has no labels: nothing is tested, and what is shown is of %r"
        logger.warning(told, path, grid.evaluate, grid.validation)


def read_folders(folder: Path, grid: Grid) -> dict[str, PreparedData]:
    """Read the grid's prepared folder, and those of systems with their own.

    Args:
        folder: of the grid.
        grid: whose systems may name data: a path, or what stands behind the grid's folder, so that
            ``35`` is ``data-bin/squad2_35`` for ``data-bin/squad2``.

    Returns:
        Name of the folder, empty for the grid's -> what it holds.

    Raises:
        FileNotFoundError, InputError: see `read_prepared`; folders with different validation files,
            on which systems could not be compared.
    """
    found = {}
    for name in dict.fromkeys(map(grid.data_of, grid.systems)):
        own = Path(name) if "/" in name else folder.with_name(f"{folder.name}_{name}")
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
    """Return the folder of a part's raw data: below the folder given, or this.

    It is called by the part, or by its dataset, unless the part says how.
    """
    names = [part.raw] if part.raw else [part.name, part.grid.dataset]
    return next((raw / name for name in names if (raw / name).is_dir()), raw)


def preparation(
    part: PlannedPart, raw: Path, pretrained: str = "", more: Sequence[str] = ()
) -> list[list[str]]:
    """Return the commands that prepare a part's folder, and those of systems with other data.

    Question answering has other data in ``train_35.json`` and the like, which are validated on the
    same questions.

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
    dataset, options, files = part.grid.dataset, dict(part.grid.prepare), {part.folder: {}}
    if pretrained and dataset != TRANSLATION:
        options = {"pretrained": pretrained, **options}
    valid = next((raw / name for name in _DEVELOPMENT if (raw / name).is_file()), None)
    for train in sorted(raw.glob("train_*.json")) if dataset == SQUAD and valid else ():
        if (share := train.stem.removeprefix("train_")).isdigit():
            folder = part.folder.with_name(f"{part.folder.name}_{share}")
            files[folder] = {"train-file": train, "valid-file": valid}
    return [
        [*command(*preparing(dataset, {"destdir": folder, **options}, raw, own)), *more]
        for folder, own in files.items()
    ]

"""The manifest of a prepared folder: what it holds, from what, made how, by which versions."""

from __future__ import annotations

import importlib.metadata
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import Self

from .. import __version__
from ..files import write_text
from ..messages import quoted
from ..syntax.layers import LAYERS, TREE, held_layers
from ..text_reading import read_text

FILE_NAME = "manifest.json"
DECISIVE = ("annotator", "inputs", "options", "versions")  # what the folder's bytes follow from

SETTINGS = {"tokenizer", "normalizer", "subwords", "model", "vocabulary"}
BARE_NAME = re.compile(r"\w[\w.+@-]*")
FAIRSEQ = ("fairseq-fixed", "fairseq")


class FolderManifest:
    """What the manifests of all kinds of prepared folders share; a kind is a dataclass.

    Attributes:
        FORMAT, VERSION: what stands in the file, so that one kind is not read as another.
        SCRIPT: the command that makes such folders.
        PATHS: options that say no more than where an input lies.
    """

    FORMAT: ClassVar[str]
    VERSION: ClassVar[int]
    SCRIPT: ClassVar[str]
    PATHS: ClassVar[tuple[str, ...]] = ()

    annotator: dict[str, str]
    inputs: dict[str, dict[str, Any]]
    options: dict[str, Any]
    versions: dict[str, str]
    products: dict[str, dict[str, Any]]

    @property
    def annotator_id(self) -> str:
        """One line that identifies the annotator: ``name version hash``; empty without one."""
        return " ".join(
            self.annotator[k] for k in ("name", "version", "hash") if k in self.annotator
        )

    def fingerprint(self) -> str:
        """All that decides the folder's content, as one line."""
        return json.dumps(self._decisive(), sort_keys=True)

    def _decisive(self) -> dict[str, Any]:
        """What decides the content; input files count by their bytes, wherever they lie."""
        body = {part: getattr(self, part) for part in DECISIVE}
        return body | {
            "inputs": {
                name: {key: value for key, value in entry.items() if key != "file"}
                for name, entry in self.inputs.items()
            }
        }

    def portable(self) -> dict[str, Any]:
        """All that decides the content, as JSON has it, wherever inputs lie on a machine."""
        body = self._decisive()
        kept = {key: value for key, value in self.options.items() if key not in self.PATHS}
        return json.loads(json.dumps(body | {"options": kept}))

    def differences(self, other: FolderManifest) -> list[str]:
        """Say where ``other`` decides otherwise; see `changes`."""
        return changes(self._decisive(), other._decisive())

    def save(self, folder: Path) -> None:
        """Write the manifest atomically; it is the last file of a finished preparation."""
        body = {"format": self.FORMAT, "format_version": self.VERSION, **asdict(self)}
        write_text(Path(folder) / FILE_NAME, json.dumps(body, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a folder's manifest.

        Raises:
            FileNotFoundError: the folder has none (not prepared, or not finished).
            ValueError: it is of another format or version, or lacks a field.
        """
        path = Path(folder) / FILE_NAME
        if not path.is_file():
            raise FileNotFoundError(
                f"{path} is missing: {folder} is no folder of {cls.SCRIPT}, "
                "or its preparation was not finished (run the same command again)"
            )
        try:
            body = json.loads(read_text(path))
            form, version = body.pop("format"), body.pop("format_version")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise ValueError(f"{path} is no manifest of fairseq_plugins: {error!r}") from None
        if (form, version) != (cls.FORMAT, cls.VERSION):
            raise ValueError(
                f"{path} has format {quoted(form)} version {quoted(version)}; "
                f"this release reads {cls.FORMAT!r} version {cls.VERSION}"
            )
        try:
            manifest = cls(**body)
        except TypeError as error:
            raise ValueError(f"{path} does not fit this release: {error}") from None
        for item in fields(cls):
            found, kind = getattr(manifest, item.name), item.type.partition("[")[0]
            if type(found).__name__ != kind:
                raise ValueError(f"{path}: {item.name!r} is {quoted(found)}, expected a {kind}")
        try:
            manifest._check_values(path)
            manifest.check(path)
        except (AttributeError, LookupError, TypeError) as error:  # of another form than ours
            raise ValueError(f"{path} does not fit this release: {quoted(error)}") from None
        return manifest

    def _check_values(self, path: Path) -> None:
        """Refuse values that all kinds of folders share and that are not of their kind."""
        for key, value in self.annotator.items():
            if not isinstance(value, str):
                raise ValueError(f"{path}: 'annotator' says {quoted(value)} for {quoted(key)}")
        for name, entry in self.products.items():
            if type(entry["size"]) is not int or not isinstance(entry["sha256"], str):
                raise ValueError(f"{path}: 'products' says {quoted(entry)} of {quoted(name)}")

    def files(self, folder: Path) -> list[Path]:
        """Every file that belongs to the prepared folder, the manifest apart."""
        raise NotImplementedError

    def check(self, path: Path) -> None:
        """Refuse nested entries that do not fit, and names that would lead out of the folder.

        Raises:
            ValueError: with the entry; ``path`` is named as its place.
        """
        raise NotImplementedError


@dataclass
class Manifest(FolderManifest):
    """Contents of ``manifest.json`` in a folder of parallel text.

    Args:
        source_lang: source language code, e.g. ``en``.
        target_lang: target language code.
        features: names of the feature streams beside the source, in column order.
        segmentation: how raw text of both sides becomes subwords; read by `text.source_encoder`.
        annotator: name, version and content hash of what tagged the source (empty: nothing did).
        splits: per split ``{"lines": n, "tokens": {stream: n}}``, and what the dictionaries lack
            of it (``unknown``, see `prep.unknown`).
        alignment: counts of repaired, skipped and failed lines per split.
        heads: whether the head of every source word is there (streams ``words`` and ``heads``).
        inputs: per input file its SHA-256 and line count.
        options: the preparation's own options.
        versions: tool -> version.
        products: file -> its ``size`` and ``sha256`` (empty in folders of older releases).
    """

    FORMAT = "fairseq_plugins.translation"
    VERSION = 1
    SCRIPT = "prepare_translation.py"
    PATHS = ("trainpref", "validpref", "testpref", "bpe_codes", "sentencepiece_model") + (
        "srcdict",
        "tgtdict",
        "srcvocab",
        "tgtvocab",
    )

    source_lang: str
    target_lang: str
    features: list[str]
    segmentation: dict[str, Any]
    annotator: dict[str, str] = field(default_factory=dict)
    splits: dict[str, dict[str, Any]] = field(default_factory=dict)
    alignment: dict[str, dict[str, int]] = field(default_factory=dict)
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    heads: bool = False
    products: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def layers(self) -> list[str]:
        """Names of the layers that a model can read, in the order of their columns."""
        return held_layers(self.features, self.heads)

    @property
    def pair(self) -> str:
        """The language pair as it stands in file names, e.g. ``en-de``."""
        return f"{self.source_lang}-{self.target_lang}"

    def files(self, folder: Path) -> list[Path]:
        """Every file that belongs to the prepared folder, the manifest apart."""
        streams = [
            f"{split}.{self.pair}.{stream}.{ext}"
            for split, counts in self.splits.items()
            for stream in counts["tokens"]
            for ext in ("bin", "idx")
        ]
        names = {name for counts in self.splits.values() for name in counts["tokens"]}
        trees = [layer for layer in LAYERS.values() if layer.enters == TREE]  # no dictionaries
        names -= {f"{self.source_lang}.{name}" for layer in trees for name in layer.columns}
        models = {
            side.get(k) for side in self.segmentation.values() for k in ("model", "vocabulary")
        }
        wanted = [*streams, *(f"dict.{name}.txt" for name in names), *(m for m in models if m)]
        return [Path(folder) / name for name in sorted(wanted)]

    def check(self, path: Path) -> None:
        """Refuse nested entries that do not fit, and names that would lead out of the folder.

        Raises:
            ValueError: with the entry; ``path`` is named as its place.
        """
        for split, counts in self.splits.items():
            if not isinstance(counts.get("lines"), int) or "tokens" not in counts:
                raise ValueError(f"{path}: split {split!r} lacks its counts")
        for side in ("source", "target") if self.splits else ():
            settings = self.segmentation.get(side)
            if not isinstance(settings, dict) or not SETTINGS <= settings.keys():
                raise ValueError(f"{path}: segmentation lacks {side!r}, or part of it")
        names = [self.source_lang, self.target_lang, *self.features, *self.splits]
        names += [name for counts in self.splits.values() for name in counts["tokens"]]
        for side in self.segmentation.values():
            names += [side[key] for key in ("model", "vocabulary") if side.get(key)]
        check_names(names, path)


def check_names(names: Iterable[Any], path: Path) -> None:
    """Refuse names that would lead out of the folder; ``path`` is the manifest that has them."""
    for name in names:
        if not isinstance(name, str) or not BARE_NAME.fullmatch(name):
            raise ValueError(f"{path}: {name!r} is no plain file name")


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Say where two preparations decide otherwise, e.g. ``options.bpe_size 8000 -> 4000``."""
    ours, theirs = _flat(before), _flat(after)
    changed = [key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key)]
    return [
        f"{key} {ours.get(key)!r} -> {theirs.get(key)!r}"
        for key in sorted(changed, key=lambda key: (not key.startswith("options."), key))
    ]


def _flat(body: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Name every leaf of nested dictionaries by its path."""
    found = {}
    for key, value in body.items():
        inner = isinstance(value, dict)
        found |= _flat(value, f"{prefix}{key}.") if inner else {f"{prefix}{key}": value}
    return found


def tool_versions(tools: Iterable[str]) -> dict[str, str]:
    """Versions of this package, of fairseq and of ``tools``, as far as they are installed."""
    found = {"fairseq_plugins": __version__}
    for names in (FAIRSEQ, *((tool,) for tool in tools)):
        for name in names:
            try:
                found[name] = importlib.metadata.version(name)
                break
            except importlib.metadata.PackageNotFoundError:
                continue
    return found

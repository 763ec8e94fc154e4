"""The common fields of all manifests: sources, options and versions of a preparation.

`translation_manifest` and `text_manifest` add the fields of the two kinds of folder; `manifests`
reads both.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from .. import __version__
from ..errors import InputError
from ..files import write_text
from ..messages import named, quoted
from ..syntax.annotation import identity_line
from ..syntax.controls import GOLD, Controls
from ..syntax.layers import Layer
from .folder_names import CASED, PARSE_TEXT

FILE_NAME = "manifest.json"
VERSION = 1
CONLLU = "conllu"  # name of the annotator of a text with given annotation
FAIRSEQ = ("fairseq-fixed", "fairseq")
BARE_NAME = re.compile(r"\w[\w.+@\[\]-]*")


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Contents of ``manifest.json``: common fields, and fields of one kind.

    Every manifest of a kind has its fields without a default; manifests of older releases lack
    others.
    """

    FORM: ClassVar[str]  # the kind in the file, against confusion of kinds
    COMMAND: ClassVar[str]  # command that makes such folders
    UNIT: ClassVar[str]  # unit of a split's size
    # fields that decide the folder's bytes
    DECISIVE: ClassVar[tuple[str, ...]] = ("annotator", "inputs", "options", "versions")
    PATHS: ClassVar[tuple[str, ...]] = ()  # options that only locate an input
    RARE: ClassVar[tuple[str, ...]]  # fields left out of the file when empty

    # name, version and content hash of the text's annotator (empty: none); ``model`` is the spaCy
    # pipeline for raw text; ``text`` is ``as-tokenised`` for lower-cased text (see `text.lowered`);
    # ``target`` is the identity of the target's annotator
    annotator: dict[str, str] = field(default_factory=dict)
    # per split ``unknown`` as in `prep.split_writer`, and counts of each kind
    splits: dict[str, dict[str, Any]] = field(default_factory=dict)
    # per split, counts of repaired, skipped or irregular rows
    alignment: dict[str, dict[str, int]] = field(default_factory=dict)
    # per input file its SHA-256; ``wordnet`` is the database of word similarities, with its version
    # and the rule
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)  # the preparation's own options
    versions: dict[str, str] = field(default_factory=dict)  # tool -> version
    # file -> its ``size`` and ``sha256`` (empty in folders of older releases)
    products: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def required(cls) -> list[str]:
        """Names of the fields that every manifest of this kind has, in order."""
        all_of = (item for item in fields(cls) if item.default_factory is MISSING)
        return [item.name for item in all_of if item.default is MISSING]

    @classmethod
    def keys(cls) -> list[str]:
        """Names of all fields, in the order of the file."""
        required, shared = cls.required(), [item.name for item in fields(Manifest)]
        added = [item.name for item in fields(cls) if item.name not in (*required, *shared)]
        return [*required, *shared[:-1], *added, shared[-1]]

    @property
    def annotator_id(self) -> str:
        """One line that identifies the annotator (`identity_line`); empty without an annotator."""
        return identity_line(self.annotator)

    @property
    def cutting(self) -> str:
        """The definition of words: an option of the preparation, or the files."""
        raise NotImplementedError

    @property
    def layers(self) -> list[str]:
        """Names of the layers for models."""
        raise NotImplementedError

    def inventory_file(self, layer: Layer, *, of_target: bool = False) -> str:
        """Return the file name of a layer's inventory, ``of_target`` for a target layer.

        The name is empty for layers without an inventory in the folder.
        """
        raise NotImplementedError

    def check_trees(self, controls: Controls, folder: object) -> None:
        """Refuse gold trees for a folder with parsed heads."""
        if controls.trees == GOLD and self.annotator.get("name") != CONLLU:
            raise InputError(
                f"--tree-source gold: the heads of {folder} were not given but parsed "
                f"({self.annotator_id or 'by nothing'}); prepare it with the treebank's CoNLL-U "
                "(--train-conllu and its relatives; of parallel text --conllu), or take "
                "--tree-source parse"
            )

    def decisive(self) -> dict[str, Any]:
        """All that decides the folder's content, as JSON, independent of the places of inputs."""
        inputs = {
            name: {key: value for key, value in entry.items() if key != "file"}
            for name, entry in self.inputs.items()
        }
        options = {key: value for key, value in self.options.items() if key not in self.PATHS}
        found = {part: getattr(self, part) for part in self.DECISIVE}
        return json.loads(json.dumps(found | {"inputs": inputs, "options": options}))

    def fingerprint(self) -> str:
        """All that decides the folder's content, as one line."""
        return json.dumps(self.decisive(), sort_keys=True)

    def differences(self, other: Manifest) -> list[str]:
        """Return the differences from another preparation; see `changes`."""
        return changes(self.decisive(), other.decisive())

    def count(self, split: str) -> int:
        """Return the number of a split's lines or examples."""
        return self.splits[split][self.UNIT]

    def labelled(self, split: str) -> int:
        """Return the number of a split's labelled examples."""
        return self.splits[split]["labelled"]

    def prefix(self, split: str) -> str:
        """Return the beginning of a split's file names, before a dot."""
        return split

    @property
    def by_paragraph(self) -> bool:
        """Whether several examples share one second text, with its files stored once per split."""
        return False

    def split_streams(self, split: str) -> list[str]:
        """Name all streams of a split."""
        raise NotImplementedError

    def split_texts(self, split: str) -> list[str]:
        """Name the text files of a split: examples, passages and scores."""
        return []

    def split_files(self, split: str) -> list[str]:
        """Name the files of a split."""
        own = [f"{name}.{ext}" for name in self.split_streams(split) for ext in ("bin", "idx")]
        return [f"{self.prefix(split)}.{name}" for name in (*own, *self.split_texts(split))]

    def common_files(self) -> set[str]:
        """Name the files outside splits."""
        raise NotImplementedError

    def files(self, folder: Path) -> list[Path]:
        """All files of the prepared folder except the manifest."""
        names = self.common_files().union(*map(self.split_files, self.splits))
        return [Path(folder) / name for name in sorted(names)]

    def save(self, folder: Path) -> None:
        """Write the manifest atomically, as the last file of a preparation."""
        body = {"format": self.FORM, "format_version": VERSION}
        said = {name: getattr(self, name) for name in self.keys()}
        body |= {name: value for name, value in said.items() if value or name not in self.RARE}
        write_text(Path(folder) / FILE_NAME, json.dumps(body, indent=2, ensure_ascii=False) + "\n")

    def problems(self) -> Iterator[str]:
        """Yield the problems: wrong types, and names that lead elsewhere."""
        for key, value in self.annotator.items():
            if not isinstance(value, str):
                yield f"'annotator' says {quoted(value)} for {quoted(key)}"
        if (text := self.annotator.get("text", CASED)) not in PARSE_TEXT:
            yield f"'annotator' was shown {quoted(text)}; choices: {named(PARSE_TEXT)}"
        if odd := [name for name, entry in self.inputs.items() if not isinstance(entry, dict)]:
            yield f"'inputs' says {quoted(self.inputs[odd[0]])} of {quoted(odd[0])}"
        for name, entry in self.products.items():
            if type(entry["size"]) is not int or not isinstance(entry["sha256"], str):
                yield f"'products' says {quoted(entry)} of {quoted(name)}"


M = TypeVar("M", bound=Manifest)  # one kind of manifest


def is_count(value: Any) -> bool:
    """Tell whether a value is a count."""
    return type(value) is int and 0 <= value < 2**53


def outside(names: Iterable[Any]) -> Iterator[str]:
    """Yield the names that would lead out of the folder, as problems."""
    for name in names:
        if not isinstance(name, str) or not BARE_NAME.fullmatch(name):
            yield f"{name!r} is no plain file name"


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the differences of two preparations, e.g. ``options.bpe_size 8000 -> 4000``."""
    ours, theirs = _flat(before), _flat(after)
    changed = [key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key)]
    return [
        f"{key} {ours.get(key)!r} -> {theirs.get(key)!r}"
        for key in sorted(changed, key=lambda key: (not key.startswith("options."), key))
    ]


def _flat(body: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found = {}
    for key, value in body.items():
        inner = isinstance(value, dict)
        found |= _flat(value, f"{prefix}{key}.") if inner else {f"{prefix}{key}": value}
    return found


def tool_versions(tools: Iterable[str]) -> dict[str, str]:
    """Versions of this package, of fairseq and of ``tools``, if installed."""
    found = {"fairseq_plugins": __version__}
    for names in (FAIRSEQ, *((tool,) for tool in tools)):
        for name in names:
            with suppress(importlib.metadata.PackageNotFoundError):
                found[name] = importlib.metadata.version(name)
                break
    return found

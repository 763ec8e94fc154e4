"""The manifest of a prepared folder: what it holds, from what, made how, by which versions."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InputError
from ..files import write_text
from ..messages import named, quoted
from ..pretrained.families import Family, family_of
from ..pretrained.vocabulary import Vocabulary
from ..syntax.layers import (
    COLUMN,
    LAYERS,
    WORD_PAIR,
    Layer,
    held_layers,
    identity_line,
    in_order,
    layers_of,
)
from ..syntax.needs import GOLD, Controls
from ..text_reading import read_text
from .folder_names import (
    CONTEXTS,
    ENTITIES,
    EXAMPLES,
    LABELLED,
    LABELS,
    MISALIGNED,
    SCORES,
    SPANS,
    TARGETS,
    WORD_LABELS,
)
from .manifest_checks import common_problems, text_problems, translation_problems

FILE_NAME = "manifest.json"
VERSION = 1
# what the folder's bytes follow from; how text is cut comes with the vocabulary, of texts alone
DECISIVE = ("annotator", "tokenizer", "inputs", "options", "versions")
CONLLU = "conllu"  # name of what annotated a text that came with its annotation
FAIRSEQ = ("fairseq-fixed", "fairseq")


@dataclass(frozen=True)
class FolderKind:
    """A kind of prepared folder."""

    form: str  # what stands in its manifest, so that one kind is not read as another
    command: str  # what makes such folders
    required: tuple[str, ...]  # fields that every manifest of the kind has
    added: tuple[str, ...]  # further ones, which manifests of older releases lack
    problems: Callable[[Any], Iterator[str]]  # yields what is wrong in a manifest of the kind
    paths: tuple[str, ...] = ()  # options that say no more than where an input lies
    rare: tuple[str, ...] = ()  # fields that stand there only where they say something

    @property
    def fields(self) -> tuple[str, ...]:
        """All fields, in the order of the file."""
        shared = ("annotator", "splits", "alignment", "inputs", "options", "versions")
        return (*self.required, *shared, *self.added, *self.rare, "products")


TRANSLATION = FolderKind(
    "fairseq_plugins.translation",
    "prepare translation",
    ("source_lang", "target_lang", "features", "segmentation"),
    ("heads",),
    translation_problems,
    ("trainpref", "validpref", "testpref", "bpe_codes", "sentencepiece_model")
    + ("srcdict", "tgtdict", "srcvocab", "tgtvocab"),
    ("target_features",),
)
TEXT = FolderKind(
    "fairseq_plugins.text",
    "prepare text or prepare questions",
    ("dataset", "task", "target", "labels", "positive", "metric", "sentences")
    + ("tokenizer", "tokenize", "annotations"),
    ("submission", "windows"),
    text_problems,
    rare=("levels",),
)
KINDS = {kind.form: kind for kind in (TRANSLATION, TEXT)}


@dataclass
class Manifest:
    """Contents of ``manifest.json``; a kind of folder has only its own of these fields."""

    source_lang: str = ""  # source language code, e.g. ``en``
    target_lang: str = ""  # target language code
    # names of the feature streams beside the source, in column order
    features: list[str] = field(default_factory=list)
    # how raw text of both sides becomes subwords; read by `text.source_encoder`
    segmentation: dict[str, Any] = field(default_factory=dict)
    # name, version and content hash of what annotated the text (empty: nothing did); ``model``
    # names the spaCy pipeline for raw text; ``text`` is ``as-tokenised`` where it was shown small
    # letters (see `text.lowered`); ``target`` is the identity of what annotated the target
    annotator: dict[str, str] = field(default_factory=dict)
    # per split, of parallel text ``lines`` and ``tokens`` (stream -> number); of texts
    # ``examples``, ``labelled`` (of them), ``tokens`` (wordpieces), ``words``, ``longest``
    # (wordpieces of the longest example with its special tokens), of spans also ``paragraphs``, and
    # ``answerable`` questions; ``unknown`` as in `prep.split_writer`
    splits: dict[str, dict[str, Any]] = field(default_factory=dict)
    # per split, counts of what was repaired, passed over or met otherwise than expected
    alignment: dict[str, dict[str, int]] = field(default_factory=dict)
    # per input file its SHA-256; ``wordnet`` is the database of word similarities, with its version
    # and the rule
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)  # the preparation's own options
    versions: dict[str, str] = field(default_factory=dict)  # tool -> version
    # whether the head of every source word is there (streams ``words`` and ``heads``)
    heads: bool = False
    # names of the feature streams beside the target, in column order
    target_features: list[str] = field(default_factory=list)
    # file -> its ``size`` and ``sha256`` (empty in folders of older releases)
    products: dict[str, dict[str, Any]] = field(default_factory=dict)

    dataset: str = ""  # name of the dataset, e.g. ``cola``
    task: str = ""  # ``text_classification``, ``sequence_labeling`` or ``extractive_qa``
    target: str = ""  # ``classes``, ``score``, ``word_labels`` or ``spans``
    # of labels of words that stand in several levels (an entity within another), how many these
    # are: the stream ``label`` has one level after another
    levels: int = 0
    # labels in id order (empty for a score and for spans)
    labels: list[str] = field(default_factory=list)
    positive: str = ""  # the class or error label whose F1 counts; empty where none does
    metric: str = ""  # the dataset's headline metric
    sentences: int = 0  # 1, or 2 for pairs; of spans the question, and its paragraph's context
    # ``family`` unless it is BERT, and of WordPiece ``lowercase``, ``strip_accents``,
    # ``chinese_characters``
    tokenizer: dict[str, Any] = field(default_factory=dict)
    # what words are, of `TOKENIZE` (see `text.text_encoder`); given words always stay as given
    tokenize: str = ""
    # names of the layers that were asked for (`syntax.layers.are_known`)
    annotations: list[str] = field(default_factory=list)
    # how the benchmark's server wants predictions (empty: no server)
    submission: dict[str, Any] = field(default_factory=dict)
    # of spans ``max_positions``, ``doc_stride``, ``max_query_length``: how long contexts are cut
    # unless a task says otherwise (empty for other targets)
    windows: dict[str, int] = field(default_factory=dict)
    kind: FolderKind = TRANSLATION  # `TRANSLATION`, or `TEXT` for examples and questions

    @property
    def annotator_id(self) -> str:
        """One line that identifies the annotator (`identity_line`); empty without one."""
        return identity_line(self.annotator)

    def check_trees(self, controls: Controls, folder: object) -> None:
        """Refuse gold trees of a folder whose heads were not given (InputError)."""
        if controls.trees == GOLD and self.annotator.get("name") != CONLLU:
            raise InputError(
                f"--tree-source gold: the heads of {folder} were not given but parsed "
                f"({self.annotator_id or 'by nothing'}); prepare it with the treebank's CoNLL-U "
                "(--train-conllu and its relatives; of parallel text --conllu), or take "
                "--tree-source parse"
            )

    @property
    def label_levels(self) -> int:
        """How many labels a word has, where words are labelled."""
        return max(1, self.levels)

    def asking(self) -> Manifest:
        """Return what a folder of labels of words is to a task that asks for entities."""
        return replace(self, task=TARGETS[ENTITIES], target=ENTITIES)

    @property
    def pair(self) -> str:
        """The language pair as it stands in file names, e.g. ``en-de``."""
        return f"{self.source_lang}-{self.target_lang}"

    @property
    def cutting(self) -> str:
        """What decided what words are: an option of the preparation, or the files."""
        if self.kind is TRANSLATION:
            return f"--tokenizer {self.segmentation['source']['tokenizer']}"
        by_word = self.target in (WORD_LABELS, ENTITIES)
        return by_word * "given, of raw text " + f"--tokenize {self.tokenize}"

    @property
    def compares_words(self) -> bool:
        """Whether the folder says how the words of a pair compare."""
        return any(layer.unit == WORD_PAIR for layer in layers_of(self.annotations))

    @property
    def family(self) -> Family:
        """The family of encoders that the texts were cut for."""
        return family_of(self.tokenizer)

    @property
    def layers(self) -> list[str]:
        """Names of the layers that a model can read; of parallel text in column order."""
        if self.kind is TRANSLATION:
            return held_layers(self.features, self.heads)
        held = {name for name, layer in LAYERS.items() if layer.standard or layer.derived}
        return in_order(held | {*self.annotations})

    def inventory_file(self, layer: Layer, *, of_target: bool = False) -> str:
        """Name the file of a layer's inventory; nothing where the folder has none of it.

        ``of_target``: whether it is a layer of the target text. Folders of texts have none of those
        that are the same everywhere.
        """
        if layer.enters != COLUMN or (self.kind is TEXT and not layer.learnt):
            return ""
        language = self.target_lang if of_target else self.source_lang
        return f"dict.{'' if self.kind is TEXT else f'{language}.'}{layer.name}.txt"

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
        kept = {key: value for key, value in self.options.items() if key not in self.kind.paths}
        return json.loads(json.dumps(body | {"options": kept}))

    def differences(self, other: Manifest) -> list[str]:
        """Say where ``other`` decides otherwise; see `changes`."""
        return changes(self._decisive(), other._decisive())

    def count(self, split: str) -> int:
        """Return how many lines or examples a split has."""
        return self.splits[split]["lines" if self.kind is TRANSLATION else "examples"]

    def prefix(self, split: str) -> str:
        """Return what the names of a split's files begin with, before a dot."""
        return f"{split}.{self.pair}" if self.kind is TRANSLATION else split

    def streams(self) -> dict[str, str]:
        """Name the streams of a split of texts, its labels apart: stream -> what an id is of."""
        names = {"tokens": "wordpiece", "words": "wordpiece"}
        found = {f"{name}{k}": unit for k in range(self.sentences) for name, unit in names.items()}
        for layer in layers_of(self.layers):
            if not layer.derived:
                found |= {f"{layer.name}{k}": layer.unit for k in layer.sides(self.sentences)}
        # of each wordpiece of a context, begin and end in code points
        return found | ({"offsets1": "place in the context"} if self.target == SPANS else {})

    def split_streams(self, split: str) -> list[str]:
        """Name all streams of a split.

        A split of texts without any gold label has no ``label``.
        """
        if self.kind is TRANSLATION:
            return [*self.splits[split]["tokens"]]
        if self.target == SPANS:
            return [*self.streams(), "paragraph", "answers"]
        is_labelled = self.splits[split]["labelled"] and self.target != "score"
        return [*self.streams(), *(["label"] if is_labelled else [])]

    def split_texts(self, split: str) -> list[str]:
        """Name the text files of a split: what its examples, passages and scores are."""
        if self.kind is TRANSLATION:
            return []
        if self.target == SPANS:
            return [EXAMPLES, CONTEXTS]
        is_scored = self.splits[split]["labelled"] and self.target == "score"
        return [EXAMPLES, *([SCORES] if is_scored else [])]

    def _common_files(self) -> set[str]:
        if self.kind is TEXT:
            own = {LABELS: self.target in LABELLED}
            own |= {MISALIGNED: self.target == SPANS and bool(self.splits)}
            own |= {self.inventory_file(layer): True for layer in layers_of(self.layers)}
            names = {name for name, there in own.items() if there and name}
            return names | {self.family.vocabulary_file}
        held = {name for counts in self.splits.values() for name in counts["tokens"]}
        sides = (self.source_lang, self.target_lang)  # of source text alone the one has no files
        names = {f"dict.{side}.txt" for side in sides if side in held or not self.splits}
        names |= {self.inventory_file(layer) for layer in layers_of(self.layers)}
        targets = layers_of(self.target_features)
        names |= {self.inventory_file(layer, of_target=True) for layer in targets}
        for side in self.segmentation.values():
            names |= {side.get(k) for k in ("model", "vocabulary")}
        return set(filter(None, names))

    def files(self, folder: Path) -> list[Path]:
        """Every file that belongs to the prepared folder, the manifest apart."""
        names = self._common_files().union(*map(self.split_files, self.splits))
        return [Path(folder) / name for name in sorted(names)]

    def split_files(self, split: str) -> list[str]:
        """Name the files of a split."""
        own = [f"{name}.{ext}" for name in self.split_streams(split) for ext in ("bin", "idx")]
        return [f"{self.prefix(split)}.{name}" for name in (*own, *self.split_texts(split))]

    def save(self, folder: Path) -> None:
        """Write the manifest atomically; it is the last file of a finished preparation."""
        body = {"format": self.kind.form, "format_version": VERSION}
        said = {name: getattr(self, name) for name in self.kind.fields}
        body |= {name: value for name, value in said.items() if value or name not in self.kind.rare}
        write_text(Path(folder) / FILE_NAME, json.dumps(body, indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, folder: Path, kind: FolderKind | None = None) -> Manifest:
        """Read a folder's manifest, which must be of a ``kind`` if one is given.

        Raises:
            FileNotFoundError: the folder has none (not prepared, or not finished).
            InputError: it is of another format or version, or lacks a field.
        """
        path, kinds = Path(folder) / FILE_NAME, KINDS if kind is None else {kind.form: kind}
        body = _read(path, [*kinds.values()])
        kind = kinds[body.pop("format")]
        missing, foreign = {*kind.required} - body.keys(), body.keys() - {*kind.fields}
        for what, names in (("lacks", missing), ("has", foreign)):
            if names:
                raise InputError(
                    f"{path} does not fit this release: it {what} {named(sorted(names))}"
                )
        manifest = cls(**body, kind=kind)
        for item in fields(cls)[:-1]:
            found, wanted = getattr(manifest, item.name), item.type.partition("[")[0]
            if type(found).__name__ != wanted:
                raise InputError(f"{path}: {item.name!r} is {quoted(found)}, expected a {wanted}")
        try:
            for problem in chain(common_problems(manifest), kind.problems(manifest)):
                raise InputError(f"{path}: {problem}")
        except (AttributeError, LookupError, TypeError) as error:  # of another form than ours
            raise InputError(f"{path} does not fit this release: {quoted(error)}") from None
        return manifest


def load_vocabulary(folder: Path, manifest: Manifest) -> Vocabulary:
    """Return the vocabulary of a prepared folder of texts; see `Vocabulary.load`."""
    return Vocabulary.load(Path(folder) / manifest.family.vocabulary_file, manifest.family)


def _read(path: Path, kinds: list[FolderKind]) -> dict[str, Any]:
    """Read a manifest's file, which must be of one of some kinds; its version is taken off."""
    if not path.parent.exists():
        makes = named((f"fairseq-plugins {kind.command}" for kind in kinds), between=" or ")
        raise FileNotFoundError(
            f"{path.parent}: no such folder; {makes} makes it, with --destdir {path.parent}"
        )
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} is missing: {path.parent} is no folder of "
            f"{named((kind.command for kind in kinds), between=' or ')}, "
            "or its preparation was not finished (run the same command again)"
        )
    try:
        body = json.loads(read_text(path))
        form, version = body["format"], body.pop("format_version")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise InputError(f"{path} is no manifest of fairseq_plugins: {error!r}") from None
    if version == VERSION and isinstance(form, str) and form in KINDS and KINDS[form] not in kinds:
        raise InputError(
            f"{path.parent} is a folder of {KINDS[form].command}; one of "
            f"{named((kind.command for kind in kinds), between=' or ')} is wanted"
        )
    if version != VERSION or form not in [kind.form for kind in kinds]:
        raise InputError(
            f"{path} has format {quoted(form)} version {quoted(version)}; this release reads "
            f"{named((repr(kind.form) for kind in kinds), between=' and ')} version {VERSION}"
        )
    return body


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Say where two preparations decide otherwise, e.g. ``options.bpe_size 8000 -> 4000``."""
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
    """Versions of this package, of fairseq and of ``tools``, as far as they are installed."""
    found = {"fairseq_plugins": __version__}
    for names in (FAIRSEQ, *((tool,) for tool in tools)):
        for name in names:
            with suppress(importlib.metadata.PackageNotFoundError):
                found[name] = importlib.metadata.version(name)
                break
    return found

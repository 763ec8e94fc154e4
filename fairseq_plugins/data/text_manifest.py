"""The manifest of a prepared folder of examples or of questions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from ..messages import named, quoted
from ..pretrained.families import FAMILIES, WORDPIECE, Family, family_of
from ..pretrained.vocabulary import Vocabulary
from ..syntax.layers import (
    CHOICES,
    LAYERS,
    MADE,
    OF_PAIRS,
    STANDARD,
    Layer,
    are_known,
    in_order,
    layers_of,
)
from ..targets.gold import SCORES
from ..targets.spans import SPANS
from ..targets.table import TARGETS, target_of
from ..targets.target import Target
from ..text_reading import is_cell
from .folder_names import CONTEXTS, EXAMPLES, LABELS, MISALIGNED, TOKENIZE, WINDOWS
from .manifest import Manifest, is_count, outside

WORDPIECES = ("lowercase", "strip_accents", "chinese_characters")
COUNTS = ("examples", "labelled")
PARAGRAPH_COUNTS = ("paragraphs", "answerable")
_WHOLE = (LABELS, MISALIGNED, *sorted({family.vocabulary_file for family in FAMILIES.values()}))
_LAYERS = rf"{'|'.join(map(re.escape, LAYERS))}|({'|'.join(MADE)})\.\w+(\[\w+\])?"
TEXT_FILE = re.compile(  # of such a folder, without its manifest
    rf"({'|'.join(map(re.escape, _WHOLE))}|dict\..+\.txt"
    rf"|[^.]+\.((tokens|words|offsets|{_LAYERS})[01]|label|paragraph|answers)\.(bin|idx)"
    rf"|[^.]+\.({'|'.join(map(re.escape, (EXAMPLES, CONTEXTS, SCORES)))}))"
)


@dataclass(frozen=True, kw_only=True)
class TextManifest(Manifest):
    """The manifest of examples or questions.

    A split has ``examples``, ``labelled`` (of these), ``tokens`` (wordpieces), ``words``,
    ``longest`` (wordpieces of the longest example with its special tokens), and for spans
    ``paragraphs`` and ``answerable`` questions.
    """

    FORM: ClassVar[str] = "fairseq_plugins.text"
    COMMAND: ClassVar[str] = "prepare text or prepare questions"
    UNIT: ClassVar[str] = "examples"
    DECISIVE: ClassVar[tuple[str, ...]] = (*Manifest.DECISIVE, "tokenizer")
    RARE: ClassVar[tuple[str, ...]] = ("levels",)

    dataset: str  # name of the dataset, e.g. ``cola``
    task: str  # ``text_classification``, ``sequence_labeling`` or ``extractive_qa``
    target: str  # of `targets.table`
    labels: list[str]  # labels in id order (empty for a score and for spans)
    positive: str  # the class or error label whose F1 counts; empty for none
    metric: str  # the dataset's headline metric
    sentences: int  # 1, or 2 for pairs; for spans the question, and its paragraph's context
    # ``family`` unless BERT, and for WordPiece `WORDPIECES`
    tokenizer: dict[str, Any]
    # definition of words, of `TOKENIZE` (see `text.text_encoder`); given words always stay
    tokenize: str
    # names of requested layers (`syntax.layers.are_known`)
    annotations: list[str]
    # format of predictions for the benchmark's server (empty: no server)
    submission: dict[str, Any] = field(default_factory=dict)
    # `WINDOWS` for spans: default sizes of windows (empty for other targets)
    windows: dict[str, int] = field(default_factory=dict)
    # number of levels of word labels (an entity within another): the stream ``label`` has one level
    # after another
    levels: int = 0

    @property
    def target_kind(self) -> Target:
        """The learnt target of an example."""
        return target_of(self.target)

    @property
    def cutting(self) -> str:
        """The definition of words: an option of the preparation, or the files."""
        return self.target_kind.by_word * "given, of raw text " + f"--tokenize {self.tokenize}"

    @property
    def compares_words(self) -> bool:
        """Whether the folder compares the words of pairs."""
        return not {*OF_PAIRS}.isdisjoint(self.annotations)

    @property
    def family(self) -> Family:
        """The family of encoders that the texts were split for."""
        return family_of(self.tokenizer)

    @property
    def layers(self) -> list[str]:
        """Names of the layers for models."""
        return in_order((*STANDARD, *self.annotations))

    def inventory_file(self, layer: Layer, *, of_target: bool = False) -> str:
        """Return the file name of a learnt column's inventory; empty for other layers."""
        return layer.file() if layer.learnt else ""

    def streams(self) -> dict[str, str]:
        """Name the streams of a split, without labels: stream -> unit of an id."""
        names = {"tokens": "wordpiece", "words": "wordpiece"}
        found = {f"{name}{k}": unit for k in range(self.sentences) for name, unit in names.items()}
        for layer in layers_of(self.layers):
            found |= {f"{layer.name}{k}": layer.unit for k in layer.sides(self.sentences)}
        # begin and end of each wordpiece of a context, in code points
        return found | ({"offsets1": "place in the context"} if self.by_paragraph else {})

    @property
    def by_paragraph(self) -> bool:
        """Whether examples are questions, several for one context."""
        return self.target_kind.passages

    def split_streams(self, split: str) -> list[str]:
        """Name all streams of a split; an unlabelled split has no streams of gold."""
        known = self.by_paragraph or self.splits[split]["labelled"]
        return [*self.streams(), *(self.target_kind.gold.STREAMS if known else ())]

    def split_texts(self, split: str) -> list[str]:
        """Name the text files of a split: examples, passages and scores."""
        known = self.by_paragraph or self.splits[split]["labelled"]
        return [EXAMPLES, *(self.target_kind.gold.TEXTS if known else ())]

    def common_files(self) -> set[str]:
        """Name the vocabulary, labels, inventories and the remarks on answers."""
        own = {LABELS: self.target_kind.labelled}
        own |= {MISALIGNED: self.by_paragraph and bool(self.splits)}
        own |= {self.inventory_file(layer): True for layer in layers_of(self.layers)}
        names = {name for name, there in own.items() if there and name}
        return names | {self.family.vocabulary_file}

    @property
    def label_levels(self) -> int:
        """Number of labels of a word, for labelled words."""
        return max(1, self.levels)

    def as_learnt(self, target: Target) -> TextManifest:
        """Return the folder's manifest for a task with another target."""
        return replace(self, task=target.task, target=target.name)

    def problems(self) -> Iterator[str]:
        """Yield the problems."""
        yield from super().problems()
        yield from _misshapen(self)
        yield from _unfit(self)
        yield from _unfit_target(self)
        files = [form["file"] for form in self.submission.values()]
        yield from outside([self.dataset, *self.splits, *files])


def load_vocabulary(folder: Path, manifest: TextManifest) -> Vocabulary:
    """Return the vocabulary of a prepared folder of texts; see `Vocabulary.load`."""
    return Vocabulary.load(Path(folder) / manifest.family.vocabulary_file, manifest.family)


def _misshapen(manifest: TextManifest) -> Iterator[str]:
    """Yield nested entries of a wrong type."""
    for name in ("labels", "annotations"):
        if not all(isinstance(value, str) for value in getattr(manifest, name)):
            yield f"{name!r} are {getattr(manifest, name)}, expected texts"
    family = manifest.tokenizer.get("family", "bert")
    if not isinstance(family, str) or family not in FAMILIES:
        yield f"'tokenizer' is of the family {quoted(family)}; choices: {named(FAMILIES)}"
        return
    for name in WORDPIECES if FAMILIES[family].scheme == WORDPIECE else ():
        if not isinstance(manifest.tokenizer.get(name), bool):
            yield f"'tokenizer' says {manifest.tokenizer.get(name)!r} for {name!r}"
    wanted = (*COUNTS, *(PARAGRAPH_COUNTS if manifest.task == SPANS.task else ()))
    for split, counts in manifest.splits.items():
        numbers = counts if isinstance(counts, dict) else {}
        if not all(is_count(numbers.get(name)) for name in wanted):
            yield f"split {split!r} lacks its counts"
    for split, form in manifest.submission.items():
        parts = (form.get("file"), form.get("labels")) if isinstance(form, dict) else ()
        if [type(part) for part in parts] != [str, dict]:
            yield f"the submission of split {split!r} lacks its file or labels"


def _unfit(manifest: TextManifest) -> Iterator[str]:
    """Yield values outside the choices, or contradictions."""
    target, names = TARGETS.get(manifest.target), manifest.annotations
    if target is None or manifest.task != target.task:
        known = {name: one.task for name, one in TARGETS.items()}
        yield f"no target {manifest.target!r} of task {manifest.task!r}; known are {known}"
    if manifest.sentences not in (1, 2):
        yield f"'sentences' is {manifest.sentences}, expected 1 or 2"
    if manifest.tokenize not in TOKENIZE:
        yield f"'tokenize' is {manifest.tokenize!r}; choices are {', '.join(TOKENIZE)}"
    if not are_known(names):
        yield f"'annotations' are {names}; choices are {', '.join(CHOICES)}"
        return
    if manifest.compares_words and manifest.sentences != 2:
        yield f"'annotations' are {names}, but only pairs have a {' or a '.join(OF_PAIRS)}"


def _unfit_target(manifest: TextManifest) -> Iterator[str]:
    """Yield contradictions with the target, and wrong lists of labels."""
    target, labels, positive = manifest.target_kind, manifest.labels, manifest.positive
    if target.passages and (manifest.sentences != 2 or manifest.compares_words):
        yield f"{target!r} are of questions and contexts, whose words are not compared"
    sizes = [manifest.windows.get(name) for name in WINDOWS]
    if target.passages and not all(type(size) is int and size > 0 for size in sizes):
        yield f"'windows' are {manifest.windows}, expected a number above 0 for each of {WINDOWS}"
    if target.labelled != bool(labels):
        yield f"target {target!r} does not go with the labels {named(labels)}"
    if manifest.levels and (manifest.levels < 2 or not target.by_word):
        yield f"'levels' is {manifest.levels}, which does not go with target {target!r}"
    if len(set(labels)) != len(labels):
        yield f"a label is named twice in {named(labels)}"
    if not all(map(is_cell, labels)):
        yield f"a label is empty, or holds a tab or line break, in {named(labels)}"
    if positive and labels and positive not in labels:
        yield f"the positive label {positive!r} is none of {named(labels)}"

"""The manifest of a folder for text classification, sequence labelling or question answering."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from ..messages import named
from ..syntax.layers import LAYERS, OF_PAIRS, ON_REQUEST, WORD_PAIR, layers_of
from ..text_reading import is_cell
from .manifest import FolderManifest, check_names

VOCABULARY = "vocab.txt"
LABELS = "labels.txt"
TARGETS = {
    "classes": "text_classification",
    "score": "text_classification",
    "word_labels": "sequence_labeling",
    "spans": "extractive_qa",
}
SPANS = "spans"
LABELLED = ("classes", "word_labels")  # targets that have a list of labels
TOKENIZE = ("whitespace", "characters", "spacy")
SETTINGS = ("lowercase", "strip_accents", "chinese_characters")
COUNTS = ("examples", "labelled")
PARAGRAPH_COUNTS = ("paragraphs", "answerable")
WINDOWS = ("max_positions", "doc_stride", "max_query_length")
CONTEXTS, MISALIGNED = "contexts.jsonl", "misaligned.jsonl"


@dataclass
class TextManifest(FolderManifest):
    """Contents of ``manifest.json`` in a folder of examples.

    Args:
        dataset: name of the dataset, e.g. ``cola``.
        task: ``text_classification``, ``sequence_labeling`` or ``extractive_qa``.
        target: ``classes``, ``score``, ``word_labels`` or ``spans``.
        labels: labels in id order (empty for a score and for spans).
        positive: the class or error label whose F1 counts; empty where none does.
        metric: the dataset's headline metric.
        sentences: 1, or 2 for pairs; of spans the question, and its paragraph's context.
        tokenizer: ``lowercase``, ``strip_accents``, ``chinese_characters`` of the wordpieces.
        tokenize: what words are, of `TOKENIZE` (see `text.text_encoder`); given words always stay
            as given.
        annotations: names of the layers that were asked for (`syntax.layers.ON_REQUEST`).
        annotator: name, version and content hash of what annotated them (empty: nothing did);
            ``model`` names the spaCy pipeline for raw text.
        splits: per split ``examples``, ``labelled`` (of them), ``tokens`` (wordpieces), ``words``,
            ``longest`` (wordpieces of the longest example with its special tokens); of spans also
            ``paragraphs``, and ``answerable`` questions; ``unknown`` as in `prep.unknown`.
        alignment: counts of words and wordpieces that met otherwise than expected, per split.
        inputs: per input file its SHA-256; ``wordnet`` is the database of word similarities, with
            its version and the rule.
        options: the preparation's own options.
        versions: tool -> version.
        submission: how the benchmark's server wants predictions (empty: no server).
        windows: of spans ``max_positions``, ``doc_stride``, ``max_query_length``: how long contexts
            are cut unless a task says otherwise (empty for other targets).
        products: file -> its ``size`` and ``sha256`` (empty in folders of older releases).
    """

    FORMAT = "fairseq_plugins.text"
    VERSION = 1
    SCRIPT = "prepare_text.py or prepare_squad.py"

    dataset: str
    task: str
    target: str
    labels: list[str]
    positive: str
    metric: str
    sentences: int
    tokenizer: dict[str, Any]
    tokenize: str
    annotations: list[str]
    annotator: dict[str, str] = field(default_factory=dict)
    splits: dict[str, dict[str, Any]] = field(default_factory=dict)
    alignment: dict[str, dict[str, int]] = field(default_factory=dict)
    inputs: dict[str, dict[str, Any]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    submission: dict[str, Any] = field(default_factory=dict)
    windows: dict[str, int] = field(default_factory=dict)
    products: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def compares_words(self) -> bool:
        """Whether the folder says how the words of a pair compare."""
        return any(layer.unit == WORD_PAIR for layer in layers_of(self.annotations))

    @property
    def layers(self) -> list[str]:
        """Names of the layers that a model can read."""
        held = {name for name, layer in LAYERS.items() if layer.standard or layer.derived}
        return [name for name in LAYERS if name in held | {*self.annotations}]

    def streams(self) -> dict[str, str]:
        """Name the streams of a split, its labels apart: stream -> what one id stands for."""
        names = {"tokens": "wordpiece", "words": "wordpiece"}
        found = {f"{name}{k}": unit for k in range(self.sentences) for name, unit in names.items()}
        for layer in layers_of(self.layers):
            if not layer.derived:
                found |= {f"{layer.name}{k}": layer.unit for k in layer.sides(self.sentences)}
        # of each wordpiece of a context, begin and end in code points
        return found | ({"offsets1": "place in the context"} if self.target == SPANS else {})

    def files(self, folder: Path) -> list[Path]:
        """Every file that belongs to the prepared folder, the manifest apart.

        A split without any gold label has neither a ``label`` stream nor a ``score.txt``.
        """
        names = [VOCABULARY, *([LABELS] if self.target in LABELLED else [])]
        names += [MISALIGNED] if self.target == SPANS else []
        for split, counts in self.splits.items():
            streams = [*self.streams()]
            if self.target == SPANS:
                streams += ["paragraph", "answers"]
                names.append(f"{split}.{CONTEXTS}")
            elif counts["labelled"] and self.target != "score":
                streams.append("label")
            elif counts["labelled"]:
                names.append(f"{split}.score.txt")
            names += [f"{split}.{name}.{ext}" for name in streams for ext in ("bin", "idx")]
            names.append(f"{split}.examples.jsonl")
        return [Path(folder) / name for name in sorted(names)]

    def check(self, path: Path) -> None:
        """Refuse values that do not fit, and names that would lead out of a folder.

        Raises:
            ValueError: with the entry; ``path`` is named as its place.
        """
        for problem in chain(self._misshapen(), self._problems()):
            raise ValueError(f"{path}: {problem}")
        files = [form["file"] for form in self.submission.values()]
        check_names([self.dataset, *self.splits, *files], path)

    def _misshapen(self) -> Iterator[str]:
        """Yield entries of another form than theirs."""
        for name in ("labels", "annotations"):
            if not all(isinstance(value, str) for value in getattr(self, name)):
                yield f"{name!r} are {getattr(self, name)}, expected texts"
        for name in SETTINGS:
            if not isinstance(self.tokenizer.get(name), bool):
                yield f"'tokenizer' says {self.tokenizer.get(name)!r} for {name!r}"
        wanted = (*COUNTS, *(PARAGRAPH_COUNTS if self.task == TARGETS[SPANS] else ()))
        for split, counts in self.splits.items():
            numbers = counts if isinstance(counts, dict) else {}
            if not all(type(numbers.get(name)) is int and numbers[name] >= 0 for name in wanted):
                yield f"split {split!r} lacks its counts"
        for split, form in self.submission.items():
            parts = (form.get("file"), form.get("labels")) if isinstance(form, dict) else ()
            if [type(part) for part in parts] != [str, dict]:
                yield f"the submission of split {split!r} lacks its file or labels"

    def _problems(self) -> Iterator[str]:
        if self.target not in TARGETS or self.task != TARGETS[self.target]:
            yield f"no target {self.target!r} of task {self.task!r}; known are {TARGETS}"
        if self.sentences not in (1, 2):
            yield f"'sentences' is {self.sentences}, expected 1 or 2"
        if self.tokenize not in TOKENIZE:
            yield f"'tokenize' is {self.tokenize!r}; choices are {', '.join(TOKENIZE)}"
        if not set(self.annotations) <= set(ON_REQUEST):
            yield f"'annotations' are {self.annotations}; choices are {', '.join(ON_REQUEST)}"
            return
        if self.compares_words and self.sentences != 2:
            compared = " or a ".join(OF_PAIRS)
            yield f"'annotations' are {self.annotations}, but only pairs have a {compared}"
        if self.target == SPANS and (self.sentences != 2 or self.compares_words):
            yield f"{SPANS!r} are of questions and contexts, whose words are not compared"
        sizes = [self.windows.get(name) for name in WINDOWS]
        if self.target == SPANS and not all(type(size) is int and size > 0 for size in sizes):
            yield f"'windows' are {self.windows}, expected a number above 0 for each of {WINDOWS}"
        if (self.target in LABELLED) != bool(self.labels):
            yield f"target {self.target!r} does not go with the labels {named(self.labels)}"
        if len(set(self.labels)) != len(self.labels):
            yield f"a label is named twice in {named(self.labels)}"
        if not all(map(is_cell, self.labels)):
            yield f"a label is empty, or holds a tab or line break, in {named(self.labels)}"
        if self.positive and self.labels and self.positive not in self.labels:
            yield f"the positive label {self.positive!r} is none of {named(self.labels)}"

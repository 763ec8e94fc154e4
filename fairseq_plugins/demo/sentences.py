"""How a model reads a sentence: its words and subwords, what they carry, and the parse.

Words, subwords and the layers that the model itself reads come from its own way to raw text; part
of speech and parse of the others from the pipeline that annotates for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

from ..bundles.translation import Translator
from ..corpora.examples import Example
from ..errors import InputError
from ..syntax.annotation import annotator_line
from ..syntax.layers import (
    PARSE,
    POS,
    STANDARD,
    Layer,
    columns_of,
    layers_of,
)
from ..syntax.subwords import spread
from ..text.annotators import reopen_annotator
from ..text.word_layers import known_of, subword_columns, word_values

WANTED = (PARSE, PARSE[:2], PARSE[:1])  # of a pipeline, as far as it gives them


@dataclass(frozen=True)
class Cut:
    """A sentence as a model cuts it.

    Args:
        words: W words.
        subwords: S subwords.
        word_of: S numbers of words; -1 for none.
        columns: layer that the model's folder holds -> S labels.
    """

    words: list[str]
    subwords: list[str]
    word_of: list[int]
    columns: dict[str, list[str]]


@dataclass(frozen=True)
class Reading:
    """What is known of a sentence.

    Args:
        cut: how the model cuts it.
        columns: layer -> S labels; those of the model, and part of speech and spelling of others.
        read: the names of the layers that the model's answers depend on.
        tags: W parts of speech; empty without a pipeline.
        heads: number of each word's head from 1, 0 at a root; empty without a parse.
        relations: W dependency relations; empty where the pipeline gives none.
        annotator: name and version of the pipeline; empty without one.
        lacking: why there is no pipeline; empty with one.
    """

    cut: Cut
    columns: dict[str, list[str]]
    read: tuple[str, ...]
    tags: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)
    annotator: str = ""
    lacking: str = ""


class SentenceReader:
    """Tell how a model reads sentences; several threads may ask at once.

    Args:
        model: a `Translator` or `Predictor`.
        named: the pipeline that the user names; None for that of the training data.
    """

    def __init__(self, model: Any, named: str | None = None) -> None:
        self.model, self.named = model, named
        self._lock = Lock()

    def read(self, text: str) -> Reading:
        """Read a sentence."""
        if not text.strip():
            raise InputError("the sentence is empty")
        translates = isinstance(self.model, Translator)
        cut = (_cut_for_translation if translates else _cut_for_text)(self.model, text)
        read = self.model.features if translates else self.model.inputs.needs.reads(training=False)
        spelling = _columns(layers_of(STANDARD), cut, {})
        with self._lock:
            annotator, lacking = self._annotator
            if annotator is None:
                return Reading(cut, spelling | cut.columns, read, lacking=lacking)
            if translates or self.model.inputs.needs.annotated:  # as the model was told
                (note,) = annotator.annotate_words([cut.words])
            else:
                (note,) = annotator.annotate_text([text])
        known = known_of(cut.words, note)
        columns = _columns(layers_of([POS]), cut, known) | spelling | cut.columns
        parts = (known.get(name, []) for name in PARSE)
        name = " ".join(annotator_line(annotator).split(" ")[:2])  # without its hash
        return Reading(cut, columns, read, *parts, annotator=name)

    @cached_property
    def _annotator(self) -> tuple[Any, str]:
        """The pipeline that annotates for the model, or why there is none; loaded at first use."""
        model, manifest = self.model, self.model.manifest
        named = self.named or getattr(model, "spacy_model", None)
        english = getattr(manifest, "source_lang", "") == "en"
        if not (named or english or manifest.annotator.get("model")):
            why = "the model was prepared without a pipeline"
            return None, f"{why}; --spacy-model names one that tags and parses"
        reason = ""
        for names in WANTED:
            try:
                return reopen_annotator(model.folder, manifest.annotator, names, named), ""
            except (InputError, FileNotFoundError) as error:
                reason = str(error)
        return None, reason


def _cut_for_translation(model: Translator, text: str) -> Cut:
    (line,) = model.encode([text])
    labels = {
        name: _labels(layer, line.columns[name]) for name, layer in columns_of(model.layers).items()
    }
    return Cut(line.words, line.subwords, line.word_of, labels)


def _cut_for_text(model: Any, text: str) -> Cut:
    with model.encoding:
        (sentence,), *_ = model.encoder.encode([Example("0", (text,))])
    labels = {
        name: spread(_labels(layer, sentence.layers[name]), sentence.word_of)
        for name, layer in columns_of(model.encoder.layers).items()
        if name in sentence.layers
    }
    subwords = [model.inputs.vocabulary.pieces[token] for token in sentence.tokens]
    return Cut(sentence.words, subwords, sentence.word_of, labels)


def _labels(layer: Layer, ids: Sequence[int]) -> list[str]:
    return [layer.inventory.symbols[i] for i in ids]


def _columns(layers: Sequence[Layer], cut: Cut, known: dict[str, list[Any]]) -> dict[str, Any]:
    """Return what subwords carry in layers that these words are known to have."""
    held = [layer for layer in layers if not layer.annotated or layer.name in known]
    values = word_values(held, cut.words, known)
    ids = subword_columns(held, values, cut.word_of)
    return {layer.name: _labels(layer, ids[layer.name]) for layer in held}

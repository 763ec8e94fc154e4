"""Raw lines as subwords with features: one code for preparation and inference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..data.inventories import bound_layers
from ..data.translation_manifest import TranslationManifest
from ..errors import InputError
from ..syntax.annotation import Annotation, annotator_line
from ..syntax.casing import lowered
from ..syntax.labels import NO_VALUE
from ..syntax.layers import OF_TARGETS, Layer, given_names, layers_of
from ..syntax.sentence import EncodedSentence
from ..syntax.subwords import align, joined_spans, locate_words
from .annotators import needs_annotator, reopen_annotator, warn_of_other
from .raw_text import detokenize, line_reader, unescape
from .sampled import Sampled
from .segment import Segmenter, load_segmenter, read_vocabulary
from .word_layers import carried, match_alike, match_words, sentence_of

MISALIGNMENTS = ("error", "repair", "skip")


@dataclass(frozen=True)
class AnnotatedLine:
    """A line with known words."""

    text: str  # the text for subwords
    words: list[str]  # W words for a reader (entities undone)
    spans: list[tuple[int, int]]  # their character spans in ``text``
    # the annotation of the words: name of a layer -> W values
    layers: dict[str, list[Any]] = field(default_factory=dict)
    # number of words with values from an annotation of other words
    repaired: int = 0
    failed: bool = False  # whether annotation and text have different characters


def annotate_lines(
    texts: Sequence[str],
    tokenizer: str,
    annotator: Any = None,
    given: Sequence[Annotation] | None = None,
) -> list[AnnotatedLine]:
    """Find the words of clean lines, and their annotation.

    Args:
        texts, tokenizer: lines of `raw_text.line_reader`, and their kind.
        annotator: `text.annotate.Annotator`, or None.
        given: annotations, one per line, instead of an annotator.
    """
    found = tokenizer == "none"  # by the annotator
    words = [text.split() if found else [unescape(w) for w in text.split()] for text in texts]
    if given is None and annotator is None:
        spans = (joined_spans(text.split()) for text in texts)
        return [AnnotatedLine(*line) for line in zip(texts, words, spans)]
    if given is None:
        given = annotator.annotate_text(texts) if found else annotator.annotate_words(words)
    annotate = _with_found_words if found else _with_given_words
    return [annotate(text, line, note) for text, line, note in zip(texts, words, given)]


def _with_found_words(text: str, words: list[str], note: Annotation) -> AnnotatedLine:
    """Take an annotation's words, unless the line has its own ``words``."""
    spans = note.spans if note.spans is not None else locate_words(text, note.words)
    if spans is not None:
        return AnnotatedLine(text, note.words, spans, note.layers)
    return _with_given_words(text, words, note)


def _with_given_words(text: str, words: list[str], note: Annotation) -> AnnotatedLine:
    """Give words the annotation of their tokens, by offsets if the words differ."""
    match = match_words(words, note) or match_alike(words, note)
    known = carried(note, match.tokens)
    spans = joined_spans(text.split())
    return AnnotatedLine(text, words, spans, known, match.repaired, match.failed)


def encode_line(
    line: AnnotatedLine, segmenter: Segmenter | Sampled, layers: Sequence[Layer]
) -> EncodedSentence:
    """Split a line into subwords, with the words' values in some layers.

    The information of target layers (`syntax.casing`) is removed from the line before.
    """
    subwords, spans = segmenter.segment(reduced(line.text, layers))
    alignment = align(line.text, spans, line.spans)
    spelt = [line.text[begin:end] for begin, end in spans]
    pieces, misfits = (subwords, alignment.word_of), {"misaligned": alignment.misaligned}
    return sentence_of(layers, line.words, pieces, line.layers, spelt, **misfits)


def reduced(text: str, layers: Iterable[Layer]) -> str:
    """Return a text of equal length without the information of target layers."""
    return lowered(text) if any(layer.name in OF_TARGETS for layer in layers) else text


class SourceEncoder:
    """All steps from a raw source line to the model's input.

    Args:
        tokenizer, normalizer, lang: see `text.raw_text.line_reader`.
        segmenter: the subword model.
        layers: layers to give, learnt ones with the inventory of their folder.
        annotator: annotates words; None without annotation.
    """

    def __init__(
        self,
        tokenizer: str,
        normalizer: str,
        lang: str,
        segmenter: Segmenter,
        layers: Sequence[Layer],
        annotator: Any = None,
    ) -> None:
        for layer in layers:
            if layer.annotated and annotator is None:
                raise InputError(f"feature {layer.name!r} needs a spaCy pipeline")
        self.read = line_reader(tokenizer, normalizer, lang)
        self.tokenizer, self.segmenter = tokenizer, segmenter
        self.layers, self.annotator = tuple(layers), annotator

    @property
    def annotator_id(self) -> str:
        """``name version hash`` of the pipeline in use; empty without a pipeline."""
        return annotator_line(self.annotator)

    @classmethod
    def from_folder(
        cls, folder: Path, manifest: TranslationManifest, spacy_model: str | None = None
    ) -> SourceEncoder:
        """Build the encoder that prepared ``folder``; warn if its pipeline has changed."""
        settings = manifest.segmentation["source"]
        encoder = cls(
            settings["tokenizer"],
            settings["normalizer"],
            manifest.source_lang,
            folder_segmenter(folder, settings),
            bound_layers(folder, manifest),
            folder_annotator(folder, manifest, spacy_model),
        )
        warn_of_other(folder, manifest.annotator_id, encoder.annotator)
        return encoder

    def encode(self, lines: Sequence[str], limit: int | None = None) -> list[EncodedSentence]:
        """Encode raw lines, one result per line, independent of their number.

        A line of ``limit`` subwords or more is left out before annotation. Lines have no values of
        given layers; a model with such layers refuses raw text.
        """
        texts = [self.read(line) for line in lines]
        long = [limit is not None and self._reaches(text, limit) for text in texts]
        texts = ["" if is_long else text for text, is_long in zip(texts, long)]
        annotated = annotate_lines(texts, self.tokenizer, self.annotator)
        for name in given_names(layer.name for layer in self.layers):  # raw text has none
            annotated = [
                replace(line, layers=line.layers | {name: [NO_VALUE] * len(line.words)})
                for line in annotated
            ]
        found = [encode_line(line, self.segmenter, self.layers) for line in annotated]
        return [replace(line, left_out=is_long) for line, is_long in zip(found, long)]

    def _reaches(self, text: str, limit: int) -> bool:
        """Whether a text has so many subwords; not counted without annotation."""
        if self.annotator is None or len(text) < limit:
            return False
        longest = getattr(self.segmenter, "longest", len(text))
        surely = sum(map(len, text.split())) >= limit * longest
        return surely or len(self.segmenter.segment(reduced(text, self.layers))[0]) >= limit


class TargetDecoder:
    """Turns the model's target subwords into text, and (for constraints) text into subwords.

    Args:
        tokenizer, lang, normalizer: how the target text was split into words.
        segmenter: its subword model.
        layers: of the target subwords; their information is not in the split text.
    """

    def __init__(
        self,
        tokenizer: str,
        lang: str,
        segmenter: Segmenter,
        normalizer: str = "none",
        layers: Sequence[Layer] = (),
    ) -> None:
        self.layers = tuple(layers)
        self.tokenizer, self.lang, self.segmenter = tokenizer, lang, segmenter
        self.tokenize = line_reader(tokenizer, normalizer, lang)

    @classmethod
    def from_folder(cls, folder: Path, manifest: TranslationManifest) -> TargetDecoder:
        """Build the decoder of a prepared folder's target side."""
        how = manifest.segmentation["target"]
        segmenter = folder_segmenter(folder, how)
        layers = layers_of(manifest.target_features)
        return cls(how["tokenizer"], manifest.target_lang, segmenter, how["normalizer"], layers)

    def add_subwords(self, text: str) -> str:
        """Split words into subwords, separated by spaces."""
        return " ".join(self.segmenter.segment(reduced(text, self.layers))[0])

    def remove_subwords(self, text: str) -> str:
        """Join subwords to words."""
        return self.segmenter.join(text)

    def detokenize(self, text: str) -> str:
        """Join words to a line of text."""
        return detokenize(text, self.tokenizer, self.lang)


def folder_segmenter(folder: Path, settings: dict[str, Any]) -> Segmenter:
    """Load the subword model of a manifest (with files beside the manifest)."""
    model, vocabulary = (
        Path(folder) / settings[name] if settings.get(name) else None
        for name in ("model", "vocabulary")
    )
    return load_segmenter(settings["subwords"], model, vocabulary and read_vocabulary(vocabulary))


def folder_annotator(folder: Path, manifest: TranslationManifest, named: str | None = None) -> Any:
    """Load the pipeline of a manifest; for text annotated elsewhere, ours."""
    known = manifest.annotator.get("model") or named or manifest.source_lang == "en"
    if needs_annotator(manifest.layers) and not known:
        raise InputError(
            f"the source ({manifest.source_lang}) was annotated outside and no pipeline is known "
            "for raw text: prepare the folder with --spacy-model, or translate a prepared folder"
        )
    return reopen_annotator(folder, manifest.annotator, manifest.layers, named)

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
from ..syntax.sequences import whole
from ..syntax.subwords import align, joined_spans, locate_words
from .annotators import needs_annotator, reopen_annotator, warn_of_other
from .protected import (
    ProtectedSegmenter,
    Protection,
    Taken,
    plain,
    reader,
    restored,
    words_of,
)
from .raw_text import detokenize, line_reader
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
    protected: tuple[str, ...] = ()  # text of each stand-in


def annotate_lines(
    lines: Sequence[Taken],
    tokenizer: str,
    annotator: Any = None,
    given: Sequence[Annotation] | None = None,
    *,
    sequences: bool = False,
) -> list[AnnotatedLine]:
    """Find the words of clean lines, and their annotation.

    Args:
        lines, tokenizer: lines of `protected.reader`, and their kind.
        annotator: `text.annotate.Annotator`, or None. It reads protected words in full; if it finds
            the words, a letter in place of each protected span.
        given: annotations, one per line, instead of an annotator.
        sequences: whether found words join that tear one (`syntax.sequences`).
    """
    found = tokenizer == "none"  # by the annotator
    texts = [line.text for line in lines]
    words = [words_of(line.text, line.spans, escaped=not found) for line in lines]
    if given is None and annotator is None:
        made = [AnnotatedLine(t, w, joined_spans(t.split())) for t, w in zip(texts, words)]
    else:
        if given is None and found:
            given = annotator.annotate_text(
                [plain(one.text, "x") if one.spans else one.text for one in lines]
            )
        elif given is None:
            given = annotator.annotate_words(words)
        annotate = _with_found_words if found else _with_given_words
        if found and sequences:
            given = [_with_sequences(text, note) for text, note in zip(texts, given)]
        made = [annotate(text, line, note) for text, line, note in zip(texts, words, given)]
    return [replace(one, protected=line.spans) for one, line in zip(made, lines)]


def _with_found_words(text: str, words: list[str], note: Annotation) -> AnnotatedLine:
    """Take an annotation's words, unless the line has its own ``words``."""
    spans = note.spans if note.spans is not None else locate_words(text, note.words)
    if spans is not None:
        return AnnotatedLine(text, note.words, spans, note.layers)
    return _with_given_words(text, words, note)


def _with_sequences(text: str, note: Annotation) -> Annotation:
    """Join an annotation's words within sequences; their values are the first word's."""
    spans = note.spans if note.spans is not None else locate_words(text, note.words)
    groups = [*whole(text, spans, words=True)] if spans else []
    if not spans or len(groups) == len(spans):
        return note
    words = ["".join(note.words[i:j]) for i, j in groups]
    places = [(spans[i][0], spans[j - 1][1]) for i, j in groups]
    return Annotation(words, carried(note, [i for i, _ in groups]), places)


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
    pieces = (subwords, alignment.word_of)
    more = {"misaligned": alignment.misaligned, "protected": line.protected}
    return sentence_of(layers, line.words, pieces, line.layers, spelt, **more)


def reduced(text: str, layers: Iterable[Layer]) -> str:
    """Return a text of equal length without the information of target layers."""
    return lowered(text) if any(layer.name in OF_TARGETS for layer in layers) else text


class SourceEncoder:
    """All steps from a raw source line to the model's input.

    Args:
        how, lang, protection: see `text.protected.reader`.
        segmenter: the subword model.
        layers: layers to give, learnt ones with the inventory of their folder.
        annotator: annotates words; None without annotation.
    """

    def __init__(
        self,
        how: dict[str, Any],
        lang: str,
        segmenter: Segmenter,
        layers: Sequence[Layer],
        annotator: Any = None,
        protection: Protection | None = None,
    ) -> None:
        for layer in layers:
            if layer.annotated and annotator is None:
                raise InputError(f"feature {layer.name!r} needs a spaCy pipeline")
        self.read = reader(how, lang, protection)
        self.tokenizer, self.segmenter = how["tokenizer"], segmenter
        self.sequences = how.get("sequences", False)
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
        encoder = cls(
            manifest.segmentation["source"],
            manifest.source_lang,
            folder_segmenter(folder, manifest, "source"),
            bound_layers(folder, manifest),
            folder_annotator(folder, manifest, spacy_model),
            protection_of(manifest),
        )
        warn_of_other(folder, manifest.annotator_id, encoder.annotator)
        return encoder

    def encode(self, lines: Sequence[str], limit: int | None = None) -> list[EncodedSentence]:
        """Encode raw lines, one result per line, independent of their number.

        A line of ``limit`` subwords or more is left out before annotation. Lines have no values of
        given layers; a model with such layers refuses raw text.
        """
        read = [self.read(line) for line in lines]
        long = [limit is not None and self._reaches(line.text, limit) for line in read]
        read = [Taken("") if is_long else line for line, is_long in zip(read, long)]
        annotated = annotate_lines(read, self.tokenizer, self.annotator, sequences=self.sequences)
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
        how, lang, protection: how the target text was split into words, see `protected.reader`.
        segmenter: its subword model.
        layers: of the target subwords; their information is not in the split text.
    """

    def __init__(
        self,
        how: dict[str, Any],
        lang: str,
        segmenter: Segmenter,
        layers: Sequence[Layer] = (),
        protection: Protection | None = None,
    ) -> None:
        self.layers, self.protection = tuple(layers), protection
        self.tokenizer, self.lang, self.segmenter = how["tokenizer"], lang, segmenter
        sequences = how.get("sequences", False)
        self.tokenize = line_reader(how["tokenizer"], how["normalizer"], lang, sequences=sequences)
        self.read = reader(how, lang, protection)

    @classmethod
    def from_folder(cls, folder: Path, manifest: TranslationManifest) -> TargetDecoder:
        """Build the decoder of a prepared folder's target side."""
        how, layers = manifest.segmentation["target"], layers_of(manifest.target_features)
        segmenter = folder_segmenter(folder, manifest, "target")
        return cls(how, manifest.target_lang, segmenter, layers, protection_of(manifest))

    def begin(self, text: str, spans: Sequence[str] = ()) -> tuple[list[str], list[str]]:
        """Return the subwords of the beginning of a target, and how they are spelt.

        Args:
            text: plain text, which ends with a word.
            spans: the protected spans of the source.
        """
        line = self.read(text, spans).text
        subwords, places = self.segmenter.segment(reduced(line, self.layers))
        return subwords, [line[begin:end] for begin, end in places]

    def add_subwords(self, text: str) -> str:
        """Split words into subwords, separated by spaces."""
        return " ".join(self.segmenter.segment(reduced(text, self.layers))[0])

    def remove_subwords(self, text: str) -> str:
        """Join subwords to words."""
        return self.segmenter.join(text)

    def detokenize(self, text: str) -> str:
        """Join words to a line of text, with the protected spans in it."""
        found = detokenize(text, self.tokenizer, self.lang)
        return found if self.protection is None else restored(found)


def protection_of(manifest: TranslationManifest) -> Protection | None:
    """Return what was protected in a prepared folder, if anything."""
    return Protection.recorded(manifest.protect)


def folder_segmenter(folder: Path, manifest: TranslationManifest, side: str) -> Any:
    """Load the subword model of a side of a manifest (with files beside the manifest)."""
    settings = manifest.segmentation[side]
    model, vocabulary = (
        Path(folder) / settings[name] if settings.get(name) else None
        for name in ("model", "vocabulary")
    )
    known = vocabulary and read_vocabulary(vocabulary)
    sequences = settings.get("sequences", False)
    found = load_segmenter(settings["subwords"], model, known, sequences=sequences)
    marks = settings["subwords"] == "sentencepiece"
    return found if protection_of(manifest) is None else ProtectedSegmenter(found, marks=marks)


def folder_annotator(folder: Path, manifest: TranslationManifest, named: str | None = None) -> Any:
    """Load the pipeline of a manifest; for text annotated elsewhere, ours."""
    known = manifest.annotator.get("model") or named or manifest.source_lang == "en"
    if needs_annotator(manifest.layers) and not known:
        raise InputError(
            f"the source ({manifest.source_lang}) was annotated outside and no pipeline is known "
            "for raw text: prepare the folder with --spacy-model, or translate a prepared folder"
        )
    return reopen_annotator(folder, manifest.annotator, manifest.layers, named)

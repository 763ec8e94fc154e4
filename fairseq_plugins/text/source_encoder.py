"""Raw lines -> subwords with features: the one path of preparation and inference alike."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..data.manifest import Manifest
from ..syntax.annotation import Annotation, annotator_line
from ..syntax.labels import upos_label
from ..syntax.subword_tree import tree_columns
from ..syntax.subwords import Span, align, case_of, joined_spans, locate_words, positions, spread
from ..syntax.tree import project_heads
from .raw_text import detokenize, line_reader, unescape
from .segment import Segmenter, load_segmenter, read_vocabulary

logger = logging.getLogger(__name__)

MISALIGNMENTS = ("error", "repair", "skip")


@dataclass(frozen=True)
class AnnotatedLine:
    """A line whose words are known.

    Args:
        text: the text that subwords are made of.
        words: W words as a reader sees them (entities undone).
        spans: W character spans in ``text``.
        upos: W parts of speech, or None where nothing tagged the line.
        heads: W numbers of the words' heads from 1, 0 at a root; None where nothing parsed it.
        repaired: how many words took their tag from an annotation that cuts words otherwise.
        failed: whether annotation and text do not even consist of the same characters.
    """

    text: str
    words: list[str]
    spans: list[tuple[int, int]]
    upos: list[str] | None = None
    heads: list[int] | None = None
    repaired: int = 0
    failed: bool = False


@dataclass(frozen=True)
class EncodedSentence:
    """A line ready for the model.

    Args:
        words: W words.
        subwords: S subwords.
        features: per feature name S labels.
        word_of: S word indices.
        misaligned: how many subwords do not lie within one word.
        tree: S numbers of words and S of their heads (see `syntax.subword_tree`), or None.
    """

    words: list[str]
    subwords: list[str]
    features: dict[str, list[str]] = field(default_factory=dict)
    word_of: list[int] = field(default_factory=list)
    misaligned: int = 0
    tree: tuple[list[int], list[int]] | None = None


def annotate_lines(
    texts: Sequence[str],
    tokenizer: str,
    annotator: Any = None,
    given: Sequence[Annotation] | None = None,
) -> list[AnnotatedLine]:
    """Find the words of clean lines, their parts of speech and, where they are parsed, heads.

    Args:
        texts: lines as `text.raw_text.line_reader` returns them.
        tokenizer: what the lines are (see `text.raw_text`).
        annotator: `text.annotate.Annotator`, or None.
        given: ready annotations, one a line, instead of an annotator.
    """
    if tokenizer == "none":
        if annotator is None and given is None:
            return [_untagged(text, text.split()) for text in texts]
        found = given if given is not None else annotator.annotate_text(texts)
        return [_located(text, note) for text, note in zip(texts, found)]
    words = [[unescape(word) for word in text.split()] for text in texts]
    if annotator is None and given is None:
        return [_untagged(text, line) for text, line in zip(texts, words)]
    found = given if given is not None else annotator.annotate_words(words)
    return [_projected(text, line, note) for text, line, note in zip(texts, words, found)]


def _untagged(text: str, words: list[str]) -> AnnotatedLine:
    return AnnotatedLine(text, words, joined_spans(text.split()))


def _located(text: str, note: Annotation) -> AnnotatedLine:
    """Place an annotation's words in an untokenised line."""
    spans = note.spans if note.spans is not None else locate_words(text, note.words)
    if spans is not None:
        return AnnotatedLine(text, note.words, spans, note.upos, note.heads)
    words = text.split()
    return _matched(text, words, joined_spans(words), note)


def _projected(text: str, words: list[str], note: Annotation) -> AnnotatedLine:
    """Give given words the tags and heads of an annotation, by offsets where they differ."""
    spans = joined_spans(text.split())
    if note.words == words:
        return AnnotatedLine(text, words, spans, note.upos, note.heads)
    line = " ".join(words)
    places = locate_words(line, note.words)
    if places is None:
        return _matched(text, words, spans, note)
    found = align(line, joined_spans(words), places)
    same = set(zip(places, note.words))
    repaired = sum((s, w) not in same for s, w in zip(joined_spans(words), words))
    token_of = {word: token for word, token in enumerate(found.word_of) if token >= 0}
    return _carried(AnnotatedLine(text, words, spans, repaired=repaired), note, token_of)


def _matched(text: str, words: list[str], spans: list[Span], note: Annotation) -> AnnotatedLine:
    """Annotate the words that an unlike annotation shares with the line."""
    matcher = difflib.SequenceMatcher(None, words, note.words, autojunk=False)
    token_of = {
        block.a + i: block.b + i
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
    }
    line = AnnotatedLine(text, words, spans, repaired=len(words), failed=True)
    return _carried(line, note, token_of)


def _carried(line: AnnotatedLine, note: Annotation, token_of: dict[int, int]) -> AnnotatedLine:
    """Give a line's words what is known of the tokens that they belong to.

    Args:
        line: without annotation.
        note: of the tokens.
        token_of: word index -> token index, in order; any other word becomes an X without a head.
    """
    upos = [upos_label("")] * len(line.words)
    for word, token in token_of.items():
        upos[word] = note.upos[token]
    if note.heads is None:
        return replace(line, upos=upos)
    known = list(token_of)
    heads = [0] * len(line.words)
    for word, head in zip(known, project_heads(note.heads, list(token_of.values()))):
        heads[word] = known[head - 1] + 1 if head else 0
    return replace(line, upos=upos, heads=heads)


def encode_line(
    line: AnnotatedLine, segmenter: Segmenter, features: Sequence[str]
) -> EncodedSentence:
    """Cut a line into subwords and give each what is known of its word (paper, section Model)."""
    subwords, spans = segmenter.segment(line.text)
    alignment = align(line.text, spans, line.spans)
    word_of = alignment.word_of
    columns = {}
    for name in features:
        if name == "subword":
            columns[name] = positions(word_of)
        elif name == "case":
            columns[name] = spread([case_of(word) for word in line.words], word_of)
        else:
            columns[name] = spread(line.upos or [], word_of)
    tree = None if line.heads is None else tree_columns(line.heads, word_of)
    return EncodedSentence(line.words, subwords, columns, word_of, alignment.misaligned, tree)


class SourceEncoder:
    """Everything between a raw source line and the model's input.

    Args:
        tokenizer, normalizer, lang: see `text.raw_text.line_reader`.
        segmenter: the subword model.
        features: names of the features to give.
        annotator: what tags words, and parses them where trees are wanted; None when nothing does.
    """

    def __init__(
        self,
        tokenizer: str,
        normalizer: str,
        lang: str,
        segmenter: Segmenter,
        features: Sequence[str],
        annotator: Any = None,
    ) -> None:
        if "pos" in features and annotator is None:
            raise ValueError("feature 'pos' needs a spaCy pipeline")
        self.read = line_reader(tokenizer, normalizer, lang)
        self.tokenizer = tokenizer
        self.segmenter = segmenter
        self.features = tuple(features)
        self.annotator = annotator

    @property
    def annotator_id(self) -> str:
        """``name version hash`` of the pipeline in use; empty without one."""
        return annotator_line(self.annotator)

    @classmethod
    def from_folder(
        cls, folder: Path, manifest: Manifest, spacy_model: str | None = None
    ) -> SourceEncoder:
        """Build the encoder that prepared ``folder``; warn when its pipeline is another now.

        Args:
            folder: the prepared folder.
            manifest: its manifest.
            spacy_model: the pipeline that the user names; see `annotate.recorded_annotator`.

        Raises:
            FileNotFoundError, ValueError: there is no pipeline for raw text, or not any more, or
                one that the user has to name.
        """
        settings = manifest.segmentation["source"]
        annotated = "pos" in manifest.features or manifest.heads
        encoder = cls(
            settings["tokenizer"],
            settings["normalizer"],
            manifest.source_lang,
            folder_segmenter(folder, settings),
            manifest.features,
            load_annotator(folder, manifest, spacy_model) if annotated else None,
        )
        if encoder.annotator_id != manifest.annotator_id:
            logger.warning(
                "THE TAGGER DIFFERS: %s was prepared with %r, raw text is now tagged by %r; "
                "translations can differ from those of the prepared folder",
                folder,
                manifest.annotator_id,
                encoder.annotator_id,
            )
        return encoder

    def encode(self, lines: Sequence[str]) -> list[EncodedSentence]:
        """Encode raw lines, one result a line, whatever their number."""
        texts = [self.read(line) for line in lines]
        annotated = annotate_lines(texts, self.tokenizer, self.annotator)
        return [encode_line(line, self.segmenter, self.features) for line in annotated]


class TargetDecoder:
    """From the model's target subwords back to text, and (for constraints) the other way.

    Args:
        tokenizer, lang: how the target text was cut into words.
        segmenter: its subword model.
        normalizer: what was done to punctuation before.
    """

    def __init__(
        self, tokenizer: str, lang: str, segmenter: Segmenter, normalizer: str = "none"
    ) -> None:
        self.tokenizer, self.lang, self.segmenter = tokenizer, lang, segmenter
        self.tokenize = line_reader(tokenizer, normalizer, lang)

    @classmethod
    def from_folder(cls, folder: Path, manifest: Manifest) -> TargetDecoder:
        """Build the decoder of a prepared folder's target side."""
        settings = manifest.segmentation["target"]
        segmenter = folder_segmenter(folder, settings)
        normalizer = settings["normalizer"]
        return cls(settings["tokenizer"], manifest.target_lang, segmenter, normalizer)

    def add_subwords(self, text: str) -> str:
        """Cut words into subwords, separated by spaces."""
        return " ".join(self.segmenter.segment(text)[0])

    def remove_subwords(self, text: str) -> str:
        """Join subwords to words."""
        return self.segmenter.join(text)

    def detokenize(self, text: str) -> str:
        """Join words to a line of text."""
        return detokenize(text, self.tokenizer, self.lang)


def folder_segmenter(folder: Path, settings: dict[str, Any]) -> Segmenter:
    """Load the subword model that a manifest names (files beside it)."""
    model = Path(folder) / settings["model"] if settings.get("model") else None
    vocabulary = None
    if settings.get("vocabulary"):
        vocabulary = read_vocabulary(Path(folder) / settings["vocabulary"])
    return load_segmenter(settings["subwords"], model, vocabulary)


def load_annotator(folder: Path, manifest: Manifest, named: str | None = None) -> Any:
    """Load the pipeline that a manifest names; text annotated elsewhere falls back to ours."""
    from .annotate import BUNDLED, recorded_annotator

    model = manifest.annotator.get("model", "")
    if not (model or named) and manifest.source_lang != "en":
        raise ValueError(
            f"the source ({manifest.source_lang}) was annotated outside and no pipeline is known "
            "for raw text: prepare the folder with --spacy-model, or translate a prepared folder"
        )
    return recorded_annotator(model or BUNDLED, folder, parse=manifest.heads, named=named)

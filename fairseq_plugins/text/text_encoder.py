"""Raw examples as wordpieces and words with features: one code for preparation and inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..corpora.conllu_parses import Parses
from ..corpora.examples import Example
from ..data.inventories import bound_layers
from ..data.manifest import CONLLU as GIVEN
from ..data.text_manifest import TextManifest, load_vocabulary
from ..errors import InputError
from ..messages import named
from ..syntax.annotation import Annotation
from ..syntax.layers import (
    OF_PAIRS,
    STANDARD,
    Layer,
    given_names,
    in_order,
    layers_of,
)
from ..syntax.sentence import EncodedSentence
from ..syntax.subwords import align, locate_words
from ..text_reading import check_characters
from .annotators import SPACY, needs_annotator, reopen_annotator, warn_of_blanks, warn_of_other
from .pieces import PieceTokenizer, Words
from .word_layers import Match, carried, match_words, sentence_of
from .word_similarity import WordSimilarity, reopen_similarity

Pieces = tuple[list[int], list[int]]  # S wordpiece ids, and for each the index of its word


class TextEncoder:
    """All steps from a raw example to the model's input.

    Args:
        pieces: the tokeniser.
        tokenize: the words of raw text: ``whitespace``, ``characters`` (each Chinese character is a
            word), or ``spacy``: the annotator's.
        annotations: wanted layers beside those of every folder; learnt layers with the inventory of
            their folder, if known.
        annotator: `text.annotate.Annotator`, or `corpora.conllu_parses.GivenParses` if `encode`
            gets all parses, or None without annotation.
        similarity: compares the words of a pair, if the annotations need it.
        apart: whether the annotator's words are split one by one, like given words, and all are
            kept for labels.
    """

    def __init__(
        self,
        pieces: PieceTokenizer,
        tokenize: str = "whitespace",
        annotations: Sequence[Layer] = (),
        annotator: Any = None,
        similarity: WordSimilarity | None = None,
        *,
        apart: bool = False,
    ) -> None:
        known = {layer.name: layer for layer in (*layers_of(STANDARD), *annotations)}
        if annotator is None and needs_annotator(known, tokenize):
            asked = ", ".join(layer.name for layer in annotations)
            raise InputError(f"{asked or tokenize} needs a spaCy pipeline")
        for layer in annotations:
            if similarity is None and layer.name in OF_PAIRS:
                raise InputError(f"{layer.name} needs {layer.requires}")
        self.pieces, self.tokenize = pieces, tokenize
        self.layers = tuple(known[name] for name in in_order(known))
        self.annotator, self.similarity, self.apart = annotator, similarity, apart

    @classmethod
    def from_folder(
        cls, folder: Path, manifest: TextManifest, spacy_model: str | None = None
    ) -> TextEncoder:
        """Build the encoder that prepared ``folder``; warn if its pipeline has changed."""
        check_raw(folder, manifest.annotations)
        model = manifest.annotator.get("model", "")
        if manifest.annotator.get("name") == GIVEN and not (model or spacy_model):
            raise InputError(
                f"{folder} was prepared from parses given as CoNLL-U, and no pipeline is known for "
                "raw text: prepare it with --spacy-model as well, or predict its prepared splits"
            )
        encoder = cls(
            PieceTokenizer(load_vocabulary(folder, manifest), manifest.tokenizer),
            manifest.tokenize,
            bound_layers(folder, manifest, manifest.annotations),
            reopen_annotator(
                folder, manifest.annotator, manifest.annotations, spacy_model, manifest.tokenize
            ),
            reopen_similarity(folder, manifest.inputs) if manifest.compares_words else None,
            apart=manifest.target_kind.by_word,
        )
        warn_of_other(folder, manifest.annotator_id, encoder.annotator)
        warn_of_blanks(folder, manifest.annotations, manifest.tokenize)
        return encoder

    def encode(
        self, examples: Sequence[Example], parses: Sequence[Parses] | None = None
    ) -> list[tuple[EncodedSentence, ...]]:
        """Encode examples, one result each with one sentence per text, independent of their number.

        Args:
            examples: raw examples.
            parses: for each example one annotation per text, with the text's own characters, in
                place of the annotator's.
        """
        texts, given, values = [], [], []
        for example in examples:
            for text in (*example.texts, *(example.words or ())):
                check_characters(text, f"example {example.id}")
            if example.words is not None and not all(example.words):
                number = example.words.index("") + 1
                raise InputError(f"example {example.id}: word {number} is empty")
            texts += example.texts
            given += [example.words] * len(example.texts)
            values += [example.values] * len(example.texts)
        notes = None if parses is None else [note for row in parses for note in row]
        encoded = iter(self._encode(texts, given, values, notes))
        return [self._compared([next(encoded) for _ in example.texts]) for example in examples]

    def least(self, example: Example, enough: int | None) -> int:
        """Return a lower bound of an example's number of subwords, without annotation.

        The bound is 0 if nothing is annotated, and for texts of at most ``enough`` characters.
        """
        if self.annotator is None or sum(map(len, example.texts)) <= (enough or 0):
            return 0
        if self.tokenize != SPACY or example.words is not None:
            return sum(len(self._cut(text, example.words)[1][0]) for text in example.texts)
        if self.apart:
            return sum(len(text.split()) for text in example.texts)
        return sum(len(self.pieces.encode_text(text)[0]) for text in example.texts)

    def _compared(self, sentences: list[EncodedSentence]) -> tuple[EncodedSentence, ...]:
        if self.similarity is not None and len(sentences) == 2:
            table = self.similarity.table(*(sentence.words for sentence in sentences))
            compared = dict.fromkeys(OF_PAIRS, table)
            sentences[1] = replace(sentences[1], layers=sentences[1].layers | compared)
        return tuple(sentences)

    def _encode(
        self,
        texts: Sequence[str],
        given: Sequence[Sequence[str] | None],
        values: Sequence[Mapping[str, Sequence[str]]],
        parses: Sequence[Annotation] | None,
    ) -> list[EncodedSentence]:
        """Encode sentences, with or without given words."""
        found: dict[int, EncodedSentence] = {}
        free = [i for i, words in enumerate(given) if words is None]
        if self.tokenize == SPACY and free:
            if parses is None:
                notes = self.annotator.annotate_text([texts[i] for i in free])
            else:
                notes = [_located(texts[i], parses[i]) for i in free]
            found |= {i: self._from_text(texts[i], note) for i, note in zip(free, notes)}
        numbers = [i for i in range(len(texts)) if i not in found]
        cut = [self._cut(texts[i], given[i]) for i in numbers]
        if parses is None:
            kept = [words.kept for words, _ in cut]
            notes = [None] * len(kept)
            if any(layer.annotated for layer in self.layers):
                notes = self.annotator.annotate_words(kept)
            cut = [(Words.of(words), pieces) for words, (_, pieces) in zip(kept, cut)]
        else:
            notes = [parses[i] for i in numbers]
        for i, (words, pieces), note in zip(numbers, cut, notes):
            found[i] = self._from_words(words, pieces, note, values[i])
        return [found[i] for i in range(len(texts))]

    def _cut(self, text: str, given: Sequence[str] | None) -> tuple[Words, Pieces]:
        """Split given words, or the words of ``text``, into pieces.

        Words of a text that cleaning removes are dropped, so that the pieces are those of the whole
        text; given words stay (and the words of a text that becomes empty) and count as unknown.
        """
        if given is None:
            characters = self.tokenize == "characters"
            found, tokens, word_of = self.pieces.encode_raw(text, characters=characters)
            if tokens or not found.all:
                return found, (tokens, word_of)
            given = found.all
        words = list(given)
        tokens, word_of = self.pieces.encode_words(words)
        seen = set(word_of)
        gaps = [(i, self.pieces.unknown) for i in range(len(words)) if i not in seen]
        if gaps:
            pairs = sorted([*zip(word_of, tokens), *gaps], key=lambda pair: pair[0])
            word_of, tokens = map(list, zip(*pairs))
        return Words.of(words), (tokens, word_of)

    def _from_words(
        self,
        words: Words,
        pieces: Pieces,
        note: Annotation | None,
        values: Mapping[str, Sequence[str]],
    ) -> EncodedSentence:
        """Join a sentence of known words; an empty annotation gives no values.

        ``values`` came with the words, in layers without annotator.
        """
        match: Match | None = Match([-1] * len(words.all))
        if note is not None and note.words:
            match = match_words(words.all, note)
        if match is None:
            raise InputError(_other_characters(" ".join(words.all)))
        tokens = [match.tokens[i] for i in words.places]
        known = {name: [row[i] for i in words.places] for name, row in values.items()}
        known |= {} if note is None else carried(note, tokens)
        return sentence_of(self.layers, words.kept, pieces, known, repaired=match.repaired)

    def _from_text(self, text: str, note: Annotation) -> EncodedSentence:
        """Join a raw text with the annotator's words.

        A word without its own wordpiece (``not`` of ``cannot``) is joined to the word before,
        unless words are split one by one.
        """
        if self.apart:
            return self._from_words(*self._cut(text, note.words), note, {})
        tokens, spans = self.pieces.encode_text(text)
        words = note.spans or []
        if not tokens and note.words:  # nothing visible for the encoder
            tokens, spans = [self.pieces.unknown], [words[0]]
        found = align(text, spans, words)
        owners = sorted(set(found.word_of))
        number = {word: i for i, word in enumerate(owners)}
        return sentence_of(
            self.layers,
            [note.words[i] for i in owners],
            (tokens, [number[i] for i in found.word_of]),
            carried(note, owners),
            misaligned=found.misaligned,
            repaired=len(note.words) - len(owners),
        )


def _located(line: str, note: Annotation) -> Annotation:
    """Find an annotation's words in a line, which must have the same characters."""
    places = locate_words(line, note.words)
    if places is None:
        raise InputError(_other_characters(line))
    return replace(note, spans=places)


def _other_characters(line: str) -> str:
    return f"the spaCy pipeline changes the characters of {line[:80]!r}: use another one"


def check_raw(folder: Path, names: Sequence[str]) -> None:
    """Refuse layers of a folder that raw text lacks."""
    if lacking := given_names(names):
        raise InputError(
            f"{folder} holds {named(lacking)}, which raw text has not: predict its prepared "
            "splits, or train a model without"
        )

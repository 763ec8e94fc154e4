"""The words of a sentence with their values in layers, for the encoders of raw text.

The core of `text.source_encoder` and `text.text_encoder`. An annotator may split a text into other
words; their values are then transferred by character offsets.
"""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..syntax.annotation import Annotation
from ..syntax.layers import Layer, layer_of
from ..syntax.sentence import EncodedSentence
from ..syntax.subwords import align, joined_spans, locate_words


@dataclass(frozen=True)
class Match:
    """The tokens of an annotation that belong to words."""

    tokens: Sequence[int]  # index of each word's token, in order; -1 for none
    repaired: int = 0  # number of words that the annotator split otherwise
    failed: bool = False  # whether words and tokens have different characters


def match_words(words: Sequence[str], note: Annotation) -> Match | None:
    """Match W words with an annotation by offsets; None for an annotation of other characters."""
    if note.words == words:
        return Match(range(len(words)))
    line, spans = " ".join(words), joined_spans(words)
    places = locate_words(line, note.words)
    if places is None:
        return None
    same = {*zip(places, note.words)}
    repaired = sum(pair not in same for pair in zip(spans, words))
    return Match(align(line, spans, places).word_of, repaired)


def match_alike(words: Sequence[str], note: Annotation) -> Match:
    """Match the words shared with an annotation of other characters."""
    tokens = [-1] * len(words)
    matcher = difflib.SequenceMatcher(None, words, note.words, autojunk=False)
    for block in matcher.get_matching_blocks():
        tokens[block.a : block.a + block.size] = range(block.b, block.b + block.size)
    return Match(tokens, repaired=len(words), failed=True)


def carried(note: Annotation, tokens: Sequence[int]) -> dict[str, list[Any]]:
    """Return the values of an annotation for words, by their tokens."""
    return {name: layer_of(name).carried(values, tokens) for name, values in note.layers.items()}


def known_of(words: list[str], note: Annotation) -> dict[str, list[Any]]:
    """Return an annotation's values of words, even of other tokens; empty if impossible."""
    match = match_words(words, note)
    return {} if match is None else carried(note, match.tokens)


def word_values(
    layers: Iterable[Layer], words: Sequence[str], known: Mapping[str, list[Any]]
) -> dict[str, list[Any]]:
    """Return the values of W words in layers of words; see `Layer.of_words`."""
    found = {layer.name: layer.of_words(words, known) for layer in layers}
    return {name: values for name, values in found.items() if values is not None}


def sentence_of(
    layers: Sequence[Layer],
    words: list[str],
    pieces: tuple[list[Any], list[int]],
    known: Mapping[str, list[Any]],
    spelt: Sequence[str] = (),
    **misfits: Any,
) -> EncodedSentence:
    """Join a sentence; words without a subword are dropped.

    Args:
        layers: layers to give.
        words: W words.
        pieces: S subwords, and the index of each subword's word; -1 for none.
        known: values of the words, W in each layer.
        spelt: the subwords' spelling in the text, if layers need it.
        misfits: see `EncodedSentence`.
    """
    values, (tokens, word_of) = word_values(layers, words, known), pieces
    owners = sorted({*word_of} - {-1})
    if len(owners) < len(words):
        values = {name: layer_of(name).carried(row, owners) for name, row in values.items()}
        numbers = {word: number for number, word in enumerate(owners)}
        words, word_of = [words[i] for i in owners], [numbers.get(i, -1) for i in word_of]
    of_subwords = {layer.name: layer.of_spelling(spelt) for layer in layers}
    values |= {name: row for name, row in of_subwords.items() if row is not None}
    ids = {one.name: one.ids(values[one.name]) for one in layers if one.name in values}
    return EncodedSentence(tokens, word_of, words, ids, **misfits)

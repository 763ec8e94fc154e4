"""What an encoder makes of a sentence: its words, and what each carries by the table of layers.

The core of both encoders of raw text, `text.source_encoder` and `text.text_encoder`. An annotator
may cut a text into other words than ours; what it says of its own then goes to ours by character
offsets.
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
    """Which tokens of an annotation words belong to."""

    tokens: Sequence[int]  # for each of W words the index of its token, in order; -1 for none
    repaired: int = 0  # how many words the annotator cut otherwise
    failed: bool = False  # whether words and tokens do not even consist of the same characters


def match_words(words: Sequence[str], note: Annotation) -> Match | None:
    """Match W words with an annotation by offsets; None where it has other characters."""
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
    """Match those words that an annotation of other characters shares."""
    tokens = [-1] * len(words)
    matcher = difflib.SequenceMatcher(None, words, note.words, autojunk=False)
    for block in matcher.get_matching_blocks():
        tokens[block.a : block.a + block.size] = range(block.b, block.b + block.size)
    return Match(tokens, repaired=len(words), failed=True)


def carried(note: Annotation, tokens: Sequence[int]) -> dict[str, list[Any]]:
    """Return all that an annotation knows of words, which belong to these of its tokens."""
    return {name: layer_of(name).carried(values, tokens) for name, values in note.layers.items()}


def known_of(words: list[str], note: Annotation) -> dict[str, list[Any]]:
    """Return what an annotation knows of words, which it may have cut otherwise; else nothing."""
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
    """Put a sentence together; words without a subword are passed over.

    Args:
        layers: those to give.
        words: W words.
        pieces: S subwords, and for each the index of its word; -1 for none.
        known: what is known of the words, W values in each layer.
        spelt: the subwords as the text spells them, where layers ask for that.
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

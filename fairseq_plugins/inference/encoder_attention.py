"""Attention of an encoder over its own sentence, with the parse of the sentence.

Li et al. 2020, "Improving BERT with Syntax-aware Local Attention", Figure 3: scores averaged over
all heads and all layers, without special tokens. Rows attend to columns.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from ..corpora.examples import Example
from ..errors import InputError
from ..pretrained.families import RowFormat
from ..syntax.layers import HEADS, PARSE, POS, RELATIONS
from ..syntax.sentence import EncodedSentence
from ..syntax.tree import Arc, token_arcs
from ..text.annotators import reopen_annotator
from ..text.text_encoder import TextEncoder
from ..text.word_layers import known_of
from .attention import check_choice, select_tables
from .prediction import Predictor
from .prediction_inputs import examples_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EncoderAttention:
    """A model's attention over a sentence, or a pair of sentences."""

    tokens: list[str]  # P wordpieces or words of all sentences, without special tokens
    # (P, P), row i is the attention of token i; attention to special tokens is left out, so rows
    # sum to at most 1
    weights: np.ndarray
    words: list[str]  # W words of all sentences
    word_of: list[int]  # P numbers of words
    # W numbers of each word's head, a root's own number; None without a parser
    heads: list[int] | None = None
    # W relations of words to heads, empty if the pipeline has another head; nothing if unknown
    relations: Sequence[str] = ()
    border: int = 0  # number of the first word of the second sentence; W without one

    def by_word(self) -> EncoderAttention:
        """Merge the pieces of words: attention from a word is the mean, to a word the sum."""
        member = np.equal.outer(np.arange(len(self.words)), self.word_of).astype(float)  # (W, P)
        mean = member / member.sum(1, keepdims=True)  # (W, P)
        weights = mean @ self.weights @ member.T  # (W, W)
        return replace(
            self, tokens=self.words, weights=weights, word_of=list(range(len(self.words)))
        )

    def border_token(self) -> int:
        """Return the number of the second sentence's first token; 0 without a second sentence."""
        first = sum(word < self.border for word in self.word_of)
        return first if first < len(self.word_of) else 0

    def arcs(self) -> list[Arc]:
        """Return for each word with a head the middle of its tokens, and of its head's tokens."""
        return token_arcs(self.word_of, self.heads or ())

    def arc_relations(self) -> list[str]:
        """Return the relation of each of the `arcs`; empty if unknown."""
        told = enumerate(zip(self.heads or (), self.relations))
        return [relation for word, (head, relation) in told if head != word]


@dataclass(frozen=True)
class Look:
    """One example with a model's outputs and attention."""

    example: Example  # the example
    sentences: Sequence[EncodedSentence]  # its sentences as wordpieces
    extra: Mapping[str, Any]  # of the first model; see `architectures.text_model.TextModel.forward`


@torch.no_grad()
def look(predictor: Predictor, texts: Sequence[str]) -> Look:
    """Read a raw sentence, or a pair, with the first model of a `Predictor`."""
    example, sentences = _encoded(predictor, texts)
    (sample,) = predictor.batches(predictor.inputs.take([sentences]))
    return Look(example, sentences, predictor.outputs(sample, need_weights=True)[0][1])


def attend(predictor: Predictor, texts: Sequence[str], **wanted: Any) -> EncoderAttention:
    """Read a raw sentence, or two for a model of pairs, and return the attention of its tokens."""
    return attention_of(predictor, look(predictor, texts), **wanted)


def attention_of(
    predictor: Predictor,
    found: Look,
    *,
    layer: int | None = None,
    head: int | None = None,
    kind: str | None = None,
    parse: bool = True,
) -> EncoderAttention:
    """Return the attention over an example.

    Args:
        found: from `look`.
        layer: one layer from 0 (default: the mean over layers).
        head: one head from 0 (default: the mean over heads).
        kind: of attention; see `attention.select_tables`.
        parse: whether to include the heads of words.
    """
    example, sentences = found.example, found.sentences
    tables = select_tables(found.extra, kind, layer)
    check_choice("head", head, len(tables[0]))
    means = [(table.mean(0) if head is None else table[head]).cpu() for table in tables]  # (S, S)
    whole: Any = sum(means)
    shown = np.ix_(*2 * [_shown(sentences, predictor.manifest.family.row)])  # (P,) twice
    tokens = [token for sentence in sentences for token in sentence.tokens]
    heads = _heads(predictor, example, sentences) if parse else None
    return EncoderAttention(
        tokens=[predictor.inputs.vocabulary.pieces[token] for token in tokens],
        weights=(whole / len(means)).numpy()[shown],  # (P, P)
        words=[word for sentence in sentences for word in sentence.words],
        word_of=_counted_on([sentence.word_of for sentence in sentences], sentences),
        heads=heads,
        relations=() if heads is None else _relations(predictor, sentences, heads),
        border=len(sentences[0].words),
    )


def _encoded(
    predictor: Predictor, texts: Sequence[str]
) -> tuple[Example, Sequence[EncodedSentence]]:
    """Encode a text; refuse one that is longer than the model reads."""
    (example,) = examples_of([texts[0] if len(texts) == 1 else tuple(texts)], predictor.wanted)
    with predictor.encoding:
        (sentences,) = predictor.encoder.encode([example])
    length = predictor.manifest.family.row.specials(len(sentences))
    length, limit = length + sum(len(s.tokens) for s in sentences), predictor.inputs.limit
    if limit is not None and length > limit:
        raise InputError(
            f"the text has {length} wordpieces, special tokens included; the model reads {limit}"
        )
    return example, sentences


def _shown(sentences: Sequence[EncodedSentence], row: RowFormat) -> list[int]:
    """Return the positions of the sentences' wordpieces in a row."""
    places: list[int] = []
    for number, sentence in enumerate(sentences):
        begin = row.begin(number, len(places))
        places += range(begin, begin + len(sentence.tokens))
    return places


def _counted_on(
    numbers: Sequence[Sequence[int]], sentences: Sequence[EncodedSentence]
) -> list[int]:
    """Return word numbers that continue over sentences."""
    before = [0, *accumulate(len(sentence.words) for sentence in sentences)]
    return [start + n for start, row in zip(before, numbers) for n in row]


def _heads(
    predictor: Predictor, example: Example, sentences: Sequence[EncodedSentence]
) -> list[int] | None:
    """Return the head of each word, numbered over all sentences, its own number for a root."""
    if any(HEADS not in sentence.layers for sentence in sentences):
        sentences = _parsed(predictor, example)
    return _own_at_roots([sentence.layers[HEADS] for sentence in sentences], sentences) or None


def _own_at_roots(rows: Sequence[Sequence[int]], sentences: Sequence[EncodedSentence]) -> list[int]:
    """Convert heads (from 1, root 0) to numbers from 0 over all sentences, a root its own head."""
    rows = [[i if head == 0 else head - 1 for i, head in enumerate(row)] for row in rows]
    return _counted_on(rows, sentences)


def _relations(
    predictor: Predictor, sentences: Sequence[EncodedSentence], heads: Sequence[int]
) -> list[str]:
    """Return the pipeline's relation of each word to its head; empty list if the pipeline has none.

    A relation is empty if the pipeline has another head than ``heads``.
    """
    recorded, named = predictor.manifest.annotator, predictor.spacy_model
    if not (named or recorded.get("model")):
        return []
    try:
        names = PARSE
        annotator = reopen_annotator(predictor.folder, recorded, names, named)
        notes = annotator.annotate_words([sentence.words for sentence in sentences])
    except (InputError, FileNotFoundError) as error:
        logger.info("no relations to draw: %s", error)
        return []
    known = [known_of(sentence.words, note) for sentence, note in zip(sentences, notes)]
    if not all(known):
        return []
    seen = _own_at_roots([one[HEADS] for one in known], sentences)
    told = (relation for one in known for relation in one[RELATIONS])
    return [name if one == own else "" for name, one, own in zip(told, seen, heads)]


def _parsed(predictor: Predictor, example: Example) -> Sequence[EncodedSentence]:
    """Parse only for the figure if the model needs no parse; empty without a pipeline."""
    manifest = predictor.manifest
    if not manifest.annotator.get("model"):
        return ()
    kept = [name for name in manifest.annotations if name == POS]
    try:
        parsing = replace(manifest, annotations=[*kept, HEADS])
        encoder = TextEncoder.from_folder(predictor.folder, parsing, predictor.spacy_model)
        return encoder.encode([example])[0]
    except (InputError, FileNotFoundError) as error:
        logger.warning("no parse to draw: %s", error)
        return ()


def raised(first: np.ndarray, second: np.ndarray, count: int) -> list[tuple[int, int]]:
    """Return at most ``count`` cells (T, S) with the largest gain from ``first`` to ``second``.

    Ties go to the earlier cell.
    """
    gain = (second - first).ravel()
    best = np.argsort(-gain, kind="stable")[:count]
    return [divmod(int(cell), first.shape[1]) for cell in best if gain[cell] > 0]


def marks(found: Sequence[EncoderAttention], count: int) -> list[list[tuple[int, int]]]:
    """Return at most ``count`` cells to mark in each table: the largest gains over the first table.

    Two tables have the same marked cells, higher in the second. A table with other tokens than the
    first gets no marks.
    """
    first = found[0]
    cells = [
        raised(first.weights, one.weights, count) if one.tokens == first.tokens else []
        for one in found
    ]
    return [cells[1], cells[1]] if len(cells) == 2 else cells

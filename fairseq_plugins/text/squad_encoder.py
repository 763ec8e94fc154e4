"""Paragraphs and questions as wordpieces with words, features and places in the context.

Preparation and inference share this code. A context is annotated and split once for all its
questions.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..corpora.examples import Example
from ..corpora.squad import Paragraph
from ..errors import InputError
from ..syntax.sentence import EncodedSentence
from ..syntax.subwords import Span
from .pieces import PieceTokenizer
from .text_encoder import TextEncoder

MARK = "Mn"  # Unicode's category of the accents that an uncased BERT strips
_SURELY_SEEN = re.compile("[A-Za-z0-9]")


@dataclass(frozen=True)
class EncodedParagraph:
    """A paragraph ready for the model."""

    context: EncodedSentence  # its text, S wordpieces
    # begin and end (exclusive) of each wordpiece in code points of the text, (S, 2)
    offsets: np.ndarray
    questions: list[EncodedSentence]  # one per question


def encode_paragraphs(
    encoder: TextEncoder, paragraphs: Sequence[Paragraph]
) -> list[EncodedParagraph]:
    """Encode paragraphs and their questions."""
    texts = []
    for paragraph in paragraphs:
        check_visible(encoder.pieces, paragraph)
        texts.append(Example(f"{paragraph.place}: its context", (paragraph.context,)))
        texts += [Example(question.id, (question.text,)) for question in paragraph.questions]
    encoded = iter([sentence for (sentence,) in encoder.encode(texts)])
    found = []
    for paragraph in paragraphs:
        context = next(encoded)
        offsets = context_offsets(encoder.pieces, paragraph.context, context)
        questions = [next(encoded) for _ in paragraph.questions]
        found.append(EncodedParagraph(context, offsets, questions))
    return found


def context_offsets(pieces: PieceTokenizer, context: str, encoded: EncodedSentence) -> np.ndarray:
    """Return begin and end of each of a context's S wordpieces in code points, (S, 2).

    Accents that BERT strips belong to the wordpiece before.
    """
    found, spans = pieces.encode_text(context)
    if found != encoded.tokens:  # Chinese characters are words, but one word after BERT's cleaning
        found, spans = _by_words(pieces, context, encoded.words)
    if found != encoded.tokens:
        raise InputError(f"these are not the wordpieces of {context[:60]!r}")
    return np.array(_with_marks(context, spans), np.int64).reshape(-1, 2)


def _by_words(
    pieces: PieceTokenizer, context: str, words: Sequence[str]
) -> tuple[list[int], list[Span]]:
    """Split the words of a context one by one; none if the context has other words."""
    ids, spans, place = [], [], 0
    for word in words:
        start = context.find(word, place)
        if start < 0:
            return [], []
        cut, inner = pieces.encode_text(word)
        ids += cut
        spans += [(start + begin, start + end) for begin, end in inner]
        place = start + len(word)
    return ids, spans


def _with_marks(context: str, spans: Sequence[Span]) -> list[Span]:
    """Widen wordpieces by the accents after them, up to the next wordpiece."""
    widened, limit = [], len(context)
    for begin, end in reversed(spans):
        stop = end
        while stop < limit and unicodedata.category(context[stop]) == MARK:
            stop += 1
        widened.append((begin, stop))
        limit = begin if begin < limit else limit
    return widened[::-1]


def check_visible(pieces: PieceTokenizer, paragraph: Paragraph) -> None:
    """Refuse texts that cleaning empties."""
    named = [(f"{paragraph.place}: 'context'", paragraph.context)]
    named += [(f"{place}: 'question'", question.text) for place, question in paragraph.named()]
    for place, text in named:
        if not _SURELY_SEEN.search(text) and not pieces.encode_text(text)[0]:
            raise InputError(f"{place} {text[:20]!r} has no character that the encoder can see")

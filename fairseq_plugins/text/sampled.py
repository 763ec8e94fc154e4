"""Sampled subwords: words are cut differently in each sample of the training text.

BPE dropout (Provilkov et al. 2020) leaves each possible merge out with a fixed probability. The
sampling of sentencepiece (Kudo 2018) draws one of a word's best cuts, with probabilities that are
powers of the model's own. A cut follows from the number of the sample and the sentence, so that the
same input gives the same bytes in any number of processes. A word keeps its usual cut if a drawn
subword is not in the dictionary.
"""

import math
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from ..errors import InputError
from ..syntax.subwords import Span
from .merges import END
from .segment import SEPARATOR, BpeSegmenter, Segmenter, SentencePieceSegmenter, spans_of

BEST = 64  # cuts of a word to draw from, as in Kudo (2018)
CACHED = 100_000  # words


class SampledBpe:
    """Byte-pair encoding with dropout.

    Args:
        segmenter: the usual cuts.
        known: the dictionary's subwords.
        rate: probability that a merge is left out.
        number: of the sample.
    """

    def __init__(
        self, segmenter: BpeSegmenter, known: Collection[str], rate: float, number: int
    ) -> None:
        self.segmenter, self.known = segmenter, known
        self.rate, self.number = rate, number

    def segment(self, text: str) -> tuple[list[str], list[Span]]:
        """Return S subwords and their spans in ``text`` (single-spaced)."""
        before = random.getstate()  # subword-nmt draws from Python's own generator
        random.seed(f"{self.number} {text}")
        try:
            return spans_of(map(self._drawn, text.split()))
        finally:
            random.setstate(before)

    def _drawn(self, word: str) -> list[str]:
        found = self.segmenter.pieces(word, self.rate)
        return found if all(p in self.known for p in found) else self.segmenter.pieces(word)


class SampledSentencePiece:
    """Cuts drawn from a unigram model, word by word.

    Lines that the model does not cut at blanks keep their usual cut.

    Args:
        segmenter, known, number: as in `SampledBpe`.
        alpha: exponent of a cut's probability; 0 makes all cuts equally probable.
    """

    def __init__(
        self, segmenter: SentencePieceSegmenter, known: Collection[str], alpha: float, number: int
    ) -> None:
        self.segmenter, self.known = segmenter, known
        self.alpha, self.number = alpha, number
        self._cuts: dict[str, tuple[list[list[tuple[str, int]]], list[float]]] = {}

    def segment(self, text: str) -> tuple[list[str], list[Span]]:
        """Return S pieces and their spans in ``text``."""
        usual = self.segmenter.segment(text)
        found = [self._cuts_of(word) for word in text.split(" ")]
        if [piece for cuts, _ in found for piece, _ in cuts[0]] != usual[0]:
            return usual
        draw = random.Random(f"{self.number} {text}")
        pieces, spans, end = [], [], 0
        for number, (cuts, weights) in enumerate(found):
            blank = int(number > 0)  # belongs to the next word's first piece
            for piece, length in draw.choices(cuts, weights)[0]:
                pieces.append(piece)
                spans.append((end, end + blank + length))
                end, blank = spans[-1][1], 0
        return pieces, spans

    def _cuts_of(self, word: str) -> tuple[list[list[tuple[str, int]]], list[float]]:
        """Return a word's best cuts (pieces with numbers of characters), and their weights."""
        if word not in self._cuts:
            best = self.segmenter.processor.nbest_encode(
                word, nbest_size=BEST, return_type="proto"
            ).nbests
            cuts = [[(one.piece, len(one.surface)) for one in cut.pieces] for cut in best]
            weights = [math.exp(self.alpha * (cut.score - best[0].score)) for cut in best]
            kept = [
                place
                for place, cut in enumerate(cuts)
                if not place or all(piece in self.known for piece, _ in cut)
            ]
            if len(self._cuts) >= CACHED:
                self._cuts.clear()
            self._cuts[word] = [cuts[k] for k in kept], [weights[k] for k in kept]
        return self._cuts[word]


Sampled = SampledBpe | SampledSentencePiece
SAMPLERS: dict[str, Callable[[Any, Collection[str], float, int], Sampled]] = {
    "subword_nmt": SampledBpe,
    "sentencepiece": SampledSentencePiece,
}


def check_sampling(segmenter: Segmenter) -> None:
    """Refuse a sentencepiece model without a choice of cuts."""
    if isinstance(segmenter, SentencePieceSegmenter):
        try:
            segmenter.processor.nbest_encode("a", nbest_size=2, return_type=str)
        except RuntimeError:
            raise InputError(
                "--sentencepiece-alpha needs a unigram model: this model cuts in one way only"
            ) from None


def drawable(segmenter: Segmenter, words: Counter[str]) -> Iterator[str]:
    """Yield the subwords that sampled cuts of words may have, repeatedly."""
    if isinstance(segmenter, SentencePieceSegmenter):
        yield from _pieces(segmenter)
    if isinstance(segmenter, BpeSegmenter):
        merged = {"".join(pair) for pair in segmenter.bpe.bpe_codes}
        allowed = segmenter.bpe.vocab
        for word in words:
            for piece, bare in _parts(word, merged, segmenter.longest):
                if not allowed or len(bare) == 1 or piece in allowed:
                    yield piece


def _pieces(segmenter: SentencePieceSegmenter) -> Iterable[str]:
    """Return the ordinary pieces of a model."""
    model = segmenter.processor
    for number in range(model.get_piece_size()):
        if not (model.is_control(number) or model.is_unknown(number) or model.is_unused(number)):
            yield model.id_to_piece(number)


def _parts(word: str, merged: Collection[str], longest: int) -> Iterator[tuple[str, str]]:
    """Yield a word's characters and merged symbols, marked as subwords and bare."""
    for begin in range(len(word)):
        for end in range(begin + 1, min(len(word), begin + longest) + 1):
            bare, last = word[begin:end], end == len(word)
            if end == begin + 1 or (bare + END if last else bare) in merged:
                yield bare if last else bare + SEPARATOR, bare

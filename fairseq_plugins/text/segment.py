"""Subword models: learn, load, apply. A segmenter splits a line and locates each subword.

``subword_nmt``    byte-pair encoding inside space-separated words, marked ``@@``;
``sentencepiece``  unigram pieces over the whole line, word starts marked U+2581;
``none``           the space-separated words themselves.
"""

import io
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from sys import getsizeof

import sentencepiece
from subword_nmt.apply_bpe import BPE

from ..errors import InputError
from ..messages import quoted
from ..syntax.sequences import whole
from ..syntax.subwords import Span, joined_spans
from ..text_reading import read_text
from .merges import learn_merges

SUBWORDS = ("subword_nmt", "sentencepiece", "none")
SEPARATOR = "@@"
CACHE_BYTES = 1 << 26  # of split words with their subwords
LONGEST_CACHED = 100  # characters
PLACE = 100  # bytes of a dictionary entry for a word
WORD_START = "\u2581"  # sentencepiece's mark
BYTE = "<0x00>"
HELD = "\ufdd0"  # in no text
SENTENCEPIECE_THREADS = 2  # fixed: the model must not depend on the machine


class WordSegmenter:
    """Unchanged words."""

    def segment(self, text: str) -> tuple[list[str], list[Span]]:
        """Return the space-separated words and their spans."""
        words = text.split()
        return words, joined_spans(words)

    def join(self, text: str) -> str:
        return text


class BpeSegmenter:
    """Byte-pair encoding by subword-nmt.

    No final subword ends in the mark: a word with such an end (``x@@``) has its last character
    split off (``x@@@ @``), so that joining always restores the text.

    Args:
        codes: path of a codes file.
        vocabulary: allowed subwords (others are split further), or None.
        sequences: whether no subword ends within one (`syntax.sequences`).
    """

    def __init__(
        self, codes: Path, vocabulary: set[str] | None = None, *, sequences: bool = False
    ) -> None:
        self.sequences = sequences
        merges = check_codes(codes)
        # subword-nmt cannot read a file without merges, but can ignore all merges
        self.bpe = BPE(io.StringIO(read_codes(codes)), merges or 0, SEPARATOR, vocabulary)
        self.cuts: dict[str, list[str]] = {}
        self._held = 0  # bytes of these
        # most characters of a subword; the time to split a word grows with the square of its length
        self.longest = max((len(a) + len(b) for a, b in self.bpe.bpe_codes), default=1)

    def segment(self, text: str) -> tuple[list[str], list[Span]]:
        """Return S subwords and their spans in ``text`` (single-spaced)."""
        return spans_of(self.cuts.get(word) or self._cut(word) for word in text.split())

    def _cut(self, word: str) -> list[str]:
        """Split one word into marked subwords; remember the subwords of short words."""
        found = self.pieces(word)
        if len(word) <= LONGEST_CACHED:
            size = PLACE + sum(map(getsizeof, (word, found, *found)))
            if self._held + size > CACHE_BYTES:
                self.cuts, self._held = {}, 0
            self.cuts[word] = found
            self._held += size
        return found

    def pieces(self, word: str, dropout: float = 0.0) -> list[str]:
        """Split one word into marked subwords; each possible merge is left out by chance."""
        self.bpe.cache.clear()
        pieces = self.bpe.segment_tokens([word], dropout)
        bare = [*(piece[: -len(SEPARATOR)] for piece in pieces[:-1]), pieces[-1]]
        if "".join(bare) != word or not all(bare):
            bare = list(word)  # text with subword-nmt's end-of-word sign can confuse it
        if self.sequences:
            bare = ["".join(bare[i:j]) for i, j in whole(word, joined_spans(bare, 0))]
        if bare[-1].endswith(SEPARATOR):
            bare[-1:] = bare[-1][:-1], bare[-1][-1]
        return [*(piece + SEPARATOR for piece in bare[:-1]), bare[-1]]

    def join(self, text: str) -> str:
        """Remove the marks: ``wat@@ ch`` -> ``watch``."""
        return re.sub(r"(@@ )|(@@ ?$)", "", text)


def spans_of(words: Iterable[list[str]]) -> tuple[list[str], list[Span]]:
    """Return the marked subwords of words, and their spans in the words joined by blanks."""
    subwords, spans, begin = [], [], 0
    for pieces in words:
        end = begin
        for piece in pieces[:-1]:
            end += len(piece) - len(SEPARATOR)
            spans.append((begin, end))
            begin = end
        end += len(pieces[-1])
        spans.append((begin, end))
        begin = end + 1
        subwords += pieces
    return subwords, spans


class SentencePieceSegmenter:
    """Pieces of a sentencepiece model; with ``sequences``, none ends within one."""

    def __init__(self, model: Path, *, sequences: bool = False) -> None:
        if not Path(model).is_file():
            raise FileNotFoundError(f"no sentencepiece model {str(model)!r}")
        try:
            self.processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
        except (RuntimeError, OSError) as error:
            raise InputError(f"{model} is no sentencepiece model: {error}") from None
        self.unknown = self.processor.id_to_piece(self.processor.unk_id())
        has_bytes = self.processor.is_byte(self.processor.piece_to_id(BYTE))
        self.sequences = sequences and not has_bytes

    def segment(self, text: str) -> tuple[list[str], list[Span]]:
        """Return S pieces and their spans in ``text``.

        A model that has pieces for bytes knows every character: it may tear sequences.
        """
        encoded = self.processor.encode(text, return_type="offset_mapping")
        pieces, spans = encoded["pieces"], [tuple(span) for span in encoded["offsets"]]
        if not self.sequences:
            return list(pieces), spans
        found = ([], [])
        for i, j in whole(text, spans):
            begin, end = spans[i][0], spans[j - 1][1]
            start = WORD_START * pieces[i].startswith(WORD_START)
            found[0].append(pieces[i] if j == i + 1 else start + "".join(text[begin:end].split()))
            found[1].append((begin, end))
        return found

    def join(self, text: str) -> str:
        """Return the text that the model decodes pieces to, with unknown pieces unchanged."""
        pieces = [HELD if piece == self.unknown else piece for piece in text.split(" ")]
        found = self.processor.decode_pieces(pieces).replace(HELD, self.unknown)
        return found.replace(WORD_START, " ").strip()


Segmenter = WordSegmenter | BpeSegmenter | SentencePieceSegmenter


def load_segmenter(
    kind: str,
    model: Path | None,
    vocabulary: set[str] | None = None,
    *,
    sequences: bool = False,
) -> Segmenter:
    """Build a segmenter by name."""
    if kind == "none":
        return WordSegmenter()
    if kind not in SUBWORDS:
        raise InputError(f"unknown subword method {kind!r}; choices: {', '.join(SUBWORDS)}")
    if model is None:
        raise InputError(f"subword method {kind!r} needs a model file")
    if kind == "subword_nmt":
        return BpeSegmenter(model, vocabulary, sequences=sequences)
    return SentencePieceSegmenter(model, sequences=sequences)


def read_vocabulary(path: str | Path) -> set[str]:
    """Read subwords from a file with lines of a subword, a blank and a number."""
    try:
        rows = Path(path).read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no list of subwords (not UTF-8 text)") from None
    if not any(rows):
        raise InputError(f"{path} is empty: no list of subwords")
    return {row.split(" ")[0] for row in rows if row}


def read_codes(path: Path) -> str:
    """Return the text of a codes file; codes of fastBPE, with counts, become subword-nmt's."""
    rows = [line.split(" ") for line in read_text(path).rstrip("\n").split("\n")]
    if all(len(row) == 3 and row[2].isdecimal() for row in rows):
        return "\n".join(["#version: 0.2", *(f"{first} {second}" for first, second, _ in rows)])
    return read_text(path)


def check_codes(path: Path) -> int:
    """Refuse a file that is no list of merge operations; the error names its first bad line.

    Returns:
        subword-nmt's number of merges: -1 for all, 0 for none.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"no BPE codes file {str(path)!r}")
    try:
        lines = read_codes(path).rstrip("\n").split("\n")
    except InputError as error:
        raise InputError(f"{path} is no BPE codes file: {error}") from None
    start = 0
    if lines[0].startswith("#version:"):
        start = 1
        if not re.fullmatch(r"#version:\s*0\.[12](\.0)*\s*", lines[0]):
            raise InputError(
                f"{path}:1: {quoted(lines[0])}: subword-nmt knows versions 0.1 and 0.2"
            )
    elif lines == [""]:
        raise InputError(f"{path} is empty: no BPE codes file")
    pairs = [line.strip("\r ").split(" ") for line in lines[start:]]
    for number, pair in enumerate(pairs, start + 1):
        if len(pair) != 2 or not all(pair):
            raise InputError(
                f"{path}:{number}: expected two symbols of a merge, found {quoted(' '.join(pair))}"
            )
    if pairs and all(second.isdecimal() for _, second in pairs):
        raise InputError(f"{path} is no BPE codes file: it lists counts (a vocabulary?)")
    if len(pairs) >= 1000 and not any("</w>" in second for _, second in pairs):
        raise InputError(f"{path}: no merge ends a word (</w>): not codes of subword-nmt")
    return -1 if pairs else 0


def learn_codes(word_counts: Counter[str], merges: int) -> str:
    """Learn byte-pair merges from word counts (Sennrich et al. 2016): the text of a codes file."""
    if not any(len(word) > 1 for word in word_counts):
        raise InputError("the training text holds no word of two characters: nothing to learn")
    found = learn_merges(word_counts, merges)
    return "".join(("#version: 0.2\n", *(f"{first} {second}\n" for first, second in found)))


def learn_sentencepiece(lines: Iterable[str], size: int, sample: int) -> bytes:
    """Learn a unigram sentencepiece model; the same lines always give the same bytes.

    At most ``sample`` lines are kept in memory; for small texts ``size`` is no hard limit.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sample_lines(lines, sample)),
            model_writer=model,
            vocab_size=size,
            hard_vocab_limit=False,
            character_coverage=1.0,
            num_threads=SENTENCEPIECE_THREADS,
            minloglevel=2,
        )
    except RuntimeError as error:
        raise InputError(
            f"sentencepiece cannot learn {size} pieces (--bpe-size): {error}"
        ) from None
    return model.getvalue()


def sample_lines(lines: Iterable[str], sample: int) -> list[str]:
    """Choose ``sample`` lines with equal probability (sentencepiece's own choice varies)."""
    kept: list[str] = []
    random = Random(0)
    for number, line in enumerate(lines):
        if number < sample:
            kept.append(line)
        elif (place := random.randrange(number + 1)) < sample:
            kept[place] = line
    return kept


def subword_counts(segmenter: BpeSegmenter, word_counts: Counter[str]) -> Counter[str]:
    """Count subwords from word counts (for subword-nmt's vocabulary threshold)."""
    counts: Counter[str] = Counter()
    for word, count in word_counts.items():
        for piece in segmenter.segment(word)[0]:
            counts[piece] += count
    return counts

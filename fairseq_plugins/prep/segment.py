"""Subword models: learn, load, apply. A segmenter cuts a line and says where each subword lies.

``subword_nmt``    byte-pair encoding inside space-separated words, marked ``@@``;
``sentencepiece``  unigram pieces over the whole line, word starts marked U+2581;
``none``           the space-separated words themselves.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import sentencepiece
from subword_nmt.apply_bpe import BPE
from subword_nmt.learn_bpe import learn_bpe

from ..syntax.subwords import Span, joined_spans

SUBWORDS = ("subword_nmt", "sentencepiece", "none")
SEPARATOR = "@@"
CACHE_LIMIT = 200_000
SENTENCEPIECE_THREADS = 2  # fixed: the model must not depend on the machine


class Segmenter(Protocol):
    """Cuts a line into subwords."""

    def segment(self, text: str) -> tuple[list[str], list[Span]]:
        """Return S subwords and their S character spans in ``text``."""
        ...

    def join(self, text: str) -> str:
        """Undo the segmentation of a line of space-separated subwords."""
        ...


class WordSegmenter:
    """Words as they are."""

    def segment(self, text: str) -> tuple[list[str], list[Span]]:
        """Return the space-separated words and their spans."""
        words = text.split()
        return words, joined_spans(words)

    def join(self, text: str) -> str:
        """Nothing to undo."""
        return text


class BpeSegmenter:
    """Byte-pair encoding by subword-nmt.

    Args:
        codes: path of a codes file.
        vocabulary: subwords that may be produced (others are cut further), or None.

    Raises:
        FileNotFoundError, ValueError: no codes file, or a line that is no merge operation.
    """

    def __init__(self, codes: Path, vocabulary: set[str] | None = None) -> None:
        check_codes(codes)
        with open(codes, encoding="utf-8", newline="\n") as stream:
            self.bpe = BPE(stream, separator=SEPARATOR, vocab=vocabulary)

    def segment(self, text: str) -> tuple[list[str], list[Span]]:
        """Return S subwords and their spans in ``text`` (single-spaced)."""
        if len(self.bpe.cache) > CACHE_LIMIT:
            self.bpe.cache.clear()
        subwords, spans, begin = [], [], 0
        for word in text.split():
            pieces = self.bpe.segment_tokens([word])
            subwords += pieces
            end = begin
            for piece in pieces[:-1]:
                end += len(piece) - len(SEPARATOR)
                spans.append((begin, end))
                begin = end
            end += len(pieces[-1])
            spans.append((begin, end))
            begin = end + 1
        return subwords, spans

    def join(self, text: str) -> str:
        """Remove the marks: ``wat@@ ch`` -> ``watch``."""
        return re.sub(r"(@@ )|(@@ ?$)", "", text)


class SentencePieceSegmenter:
    """Pieces of a sentencepiece model.

    Raises:
        FileNotFoundError, ValueError: no model, or a file that is none.
    """

    def __init__(self, model: Path) -> None:
        if not Path(model).is_file():
            raise FileNotFoundError(f"no sentencepiece model {str(model)!r}")
        try:
            self.processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
        except (RuntimeError, OSError) as error:
            raise ValueError(f"{model} is no sentencepiece model: {error}") from None

    def segment(self, text: str) -> tuple[list[str], list[Span]]:
        """Return S pieces and their spans in ``text``."""
        encoded = self.processor.encode(text, return_type="offset_mapping")
        return list(encoded["pieces"]), [tuple(span) for span in encoded["offsets"]]

    def join(self, text: str) -> str:
        """Glue pieces and turn word marks into spaces."""
        return text.replace(" ", "").replace("\u2581", " ").strip()


def load_segmenter(kind: str, model: Path | None, vocabulary: set[str] | None = None) -> Segmenter:
    """Build a segmenter by name.

    Raises:
        ValueError: an unknown kind, or a model that is missing.
    """
    if kind == "none":
        return WordSegmenter()
    if kind not in SUBWORDS:
        raise ValueError(f"unknown subword method {kind!r}; choices: {', '.join(SUBWORDS)}")
    if model is None:
        raise ValueError(f"subword method {kind!r} needs a model file")
    if kind == "subword_nmt":
        return BpeSegmenter(model, vocabulary)
    return SentencePieceSegmenter(model)


def check_codes(path: Path) -> None:
    """Refuse a file that is no list of merge operations, naming its first bad line."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"no BPE codes file {str(path)!r}")
    try:
        lines = Path(path).read_bytes().decode("utf-8").rstrip("\n").split("\n")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no BPE codes file (not UTF-8 text)") from None
    start = 1 if lines[0].startswith("#version:") else 0
    for number, line in enumerate(lines[start:], start + 1):
        if len(line.strip("\r ").split(" ")) != 2:
            raise ValueError(f"{path}:{number}: expected two symbols of a merge, found {line!r}")


def learn_codes(word_counts: Counter[str], merges: int) -> str:
    """Learn byte-pair merges from word counts (Sennrich et al. 2016).

    Returns:
        The text of a codes file.

    Raises:
        ValueError: no word is longer than one character.
    """
    if not any(len(word) > 1 for word in word_counts):
        raise ValueError("the training text holds no word of two characters: nothing to learn")
    ordered = sorted(word_counts.items(), key=lambda item: (-item[1], item[0]))
    source = io.StringIO("".join(f"{word} {count}\n" for word, count in ordered), newline="\n")
    codes = io.StringIO(newline="\n")
    learn_bpe(source, codes, merges, is_dict=True)
    return codes.getvalue()


def learn_sentencepiece(lines: Iterable[str], size: int, sample: int) -> bytes:
    """Learn a unigram sentencepiece model.

    Args:
        lines: training text of both languages.
        size: number of pieces (a hard limit is not required of small texts).
        sample: at most this many lines are kept in memory.
    """
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        character_coverage=1.0,
        input_sentence_size=sample,
        shuffle_input_sentence=True,
        num_threads=SENTENCEPIECE_THREADS,
        minloglevel=2,
    )
    return model.getvalue()


def subword_counts(segmenter: BpeSegmenter, word_counts: Counter[str]) -> Counter[str]:
    """Count subwords from word counts (for subword-nmt's vocabulary threshold)."""
    counts: Counter[str] = Counter()
    for word, count in word_counts.items():
        for piece in segmenter.segment(word)[0]:
            counts[piece] += count
    return counts

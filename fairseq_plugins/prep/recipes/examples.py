"""What the recipes of examples and of questions share: wordpieces, their streams, their counts."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...data.folder_names import VOCABULARY
from ...data.manifest import Manifest
from ...data.streams import Rows
from ...pretrained.directory import read_vocabulary, resolve_directory
from ...pretrained.tokenizer import read_tokenizer_settings
from ...pretrained.vocabulary import Vocabulary
from ...syntax.layers import STANDARD, layers_of
from ...text.raw_text import overlong_words
from ...text.text_encoder import EncodedSentence, TextEncoder
from ...text.word_similarity import WordSimilarity
from ...text.wordpiece import WordPieces
from ..chunks import NO_BOUND
from ..split_writer import SplitWriter

logger = logging.getLogger(__name__)

TOOLS = ("tokenizers", "spacy", "numpy")
MOST_WORDS = 65_000  # word numbers are stored in 16 bits
LONG_WORDS = 8  # wordpieces a word, on average: more is hardly any language's


@dataclass(frozen=True)
class Tools:
    """What a preparation works with.

    Args:
        vocabulary: of the pretrained model.
        encoder: examples to wordpieces with features.
        settings: of the wordpieces.
        entry: of the vocabulary in the manifest.
    """

    vocabulary: Vocabulary
    encoder: TextEncoder
    settings: dict[str, Any]
    entry: dict[str, str]


def load_tools(options: Any, annotator: Any, similarity: WordSimilarity | None = None) -> Tools:
    """Load the vocabulary, and build the encoder around it; see `TextEncoder`.

    Args:
        options: with ``pretrained``, ``tokenize`` and ``annotation_names``.
        annotator: see `TextEncoder`.
        similarity: see `TextEncoder`.

    Raises:
        FileNotFoundError, ValueError: there is no such vocabulary, or it is damaged.
    """
    directory = resolve_directory(options.pretrained)
    content, settings = read_vocabulary(directory), read_tokenizer_settings(directory)
    vocabulary = Vocabulary(content, str(directory / VOCABULARY))
    pieces = WordPieces(vocabulary, settings)
    names = options.annotation_names
    encoder = TextEncoder(pieces, options.tokenize, names, annotator, similarity)
    entry = {"file": str(directory), "sha256": hashlib.sha256(content).hexdigest()}
    return Tools(vocabulary, encoder, settings, entry)


def vocabulary_files(options: Any) -> list[Path]:
    """Return the file of the vocabulary that is read; none of one that is embedded."""
    path = resolve_directory(options.pretrained) / VOCABULARY
    return [path] if path.is_file() else []


def check_sizes(name: str, sentences: Iterable[EncodedSentence]) -> None:
    """Refuse more words than can be stored.

    Raises:
        ValueError: names the example.
    """
    for sentence in sentences:
        if len(sentence.words) > MOST_WORDS:
            raise ValueError(
                f"{name} has a sentence of {len(sentence.words)} words; {MOST_WORDS} can be stored"
            )


def count_misaligned(sentences: Iterable[EncodedSentence], texts: Iterable[str]) -> Counter[str]:
    """Count the words and wordpieces that met otherwise than expected, and overlong words."""
    found: Counter[str] = Counter(misaligned_wordpieces=0, repaired_words=0)
    found["overlong_words"] = sum(map(overlong_words, texts))
    for sentence in sentences:
        found["misaligned_wordpieces"] += sentence.misaligned
        found["repaired_words"] += sentence.repaired
    return found


def sentence_streams(k: int, sentences: Sequence[EncodedSentence]) -> dict[str, Rows]:
    """Collect the streams of the examples' ``k``-th sentences."""
    found = {
        f"tokens{k}": Rows.of(sentence.tokens for sentence in sentences),
        f"words{k}": Rows.of(sentence.word_of for sentence in sentences),
    }
    for name in sentences[0].layers:
        found[f"{name}{k}"] = Rows.of(sentence.layers[name] for sentence in sentences)
    return found


def stream_sizes(manifest: Manifest, pieces: int) -> dict[str, int]:
    """Return the streams of a folder's splits, labels apart, each with the number of its ids.

    Args:
        manifest: of the folder.
        pieces: size of the vocabulary.
    """
    widths = {"tokens": pieces, "words": MOST_WORDS, "offsets": NO_BOUND}
    widths |= {layer.name: layer.id_count(MOST_WORDS) for layer in layers_of(manifest.layers)}
    return {name: widths[name[:-1]] for name in manifest.streams()}


def summarize(manifest: Manifest, writer: SplitWriter) -> dict[str, Any]:
    """Return what the manifest says of a split that is written."""
    sides, counts = range(manifest.sentences), dict(writer.counts)
    return {
        "examples": counts.pop("examples"),
        "labelled": counts.pop("labelled"),
        "tokens": writer.ids(*(f"tokens{k}" for k in sides)),
        "words": writer.ids(*(f"{STANDARD[0]}{k}" for k in sides)),
        "longest": writer.longest,
        **counts,
        "unknown": {
            name: writer.unknown_of(name, writer.ids(name)) for name in sorted(writer.unknown)
        },
    }


def describe_split(counts: Mapping[str, Any]) -> str:
    """Say what a split holds, for the log."""
    return (
        "{examples} examples ({labelled} with labels), {words} words, {tokens} wordpieces, "
        "longest {longest}"
    ).format(**counts)


def warn(manifest: Manifest, folder: Path) -> None:
    """Warn of text that was not cut into words."""
    for split, counts in manifest.splits.items():
        if counts["tokens"] > LONG_WORDS * counts["words"]:
            logger.warning(
                "%s: %.0f wordpieces a word: text without blanks between words, such as Chinese, "
                "needs --tokenize characters, or words that are given (in the data, or by CoNLL-U "
                "with --tokenize spacy)",
                split,
                counts["tokens"] / max(counts["words"], 1),
            )
    logger.info("prepared %s for %s", folder, manifest.task)

"""A vocabulary of a folder's own words, for models trained from scratch.

The vocabulary is a WordPiece vocabulary without continuations: special tokens, then whole words. So
each known word is one piece, each other word is unknown, and all code for wordpieces (rows,
batches, predictions, bundles) works with words. WordPiece splits the text into words: text is
cleaned, and split at blanks and around punctuation (``don't`` is three words); Chinese words stay
whole, unless every Chinese character is a word. Accents stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ..corpora.examples import Example
from ..errors import InputError
from ..pretrained.vocabulary import BERT, Vocabulary
from .pieces import LONGEST_WORD, cut_words

# the order of special tokens, before all words
SPECIALS = [getattr(BERT.specials, name) for name in ("pad", "unk", "cls", "sep", "mask")]


def word_settings(*, lowercase: bool, characters: bool) -> dict[str, Any]:
    """Return the tokeniser's settings; see `pretrained.tokenizer`.

    Args:
        characters: whether every Chinese character is a word.
    """
    return {
        "lowercase": lowercase,
        "strip_accents": False,
        "chinese_characters": characters,
    }


def count_words(examples: Iterable[Example], settings: Mapping[str, Any]) -> Counter[str]:
    """Count the words of examples; given words are split like text."""
    found: Counter[str] = Counter()
    for example in examples:
        for text in example.texts if example.words is None else example.words:
            found.update(word for word in cut_words(text, settings) if len(word) <= LONGEST_WORD)
    return found


def is_of_words(vocabulary: Vocabulary) -> bool:
    """Whether a vocabulary comes from `vocabulary_of`."""
    pieces = vocabulary.pieces
    return pieces[: len(SPECIALS)] == SPECIALS and not any(one.startswith("##") for one in pieces)


def vocabulary_of(counts: Mapping[str, int], least: int) -> Vocabulary:
    """Return the vocabulary of words with at least ``least`` occurrences, frequent words first."""
    kept = sorted((-count, word) for word, count in counts.items() if count >= least)
    if not kept:
        most = max(counts.values(), default=0)
        raise InputError(f"--min-count {least}: no word is that frequent; the most is {most:,}")
    lines = [*SPECIALS, *(word for _, word in kept)]
    return Vocabulary("".join(f"{line}\n" for line in lines).encode("utf-8"))

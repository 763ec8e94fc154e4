"""A vocabulary of a folder's own words, for models that start from scratch.

It is a WordPiece vocabulary without continuations: whole words, special tokens before them. So
every word that it holds is one piece and every other one is unknown, and whatever reads wordpieces
(rows, batches, predictions, bundles) reads words. A word is what WordPiece cuts: text is cleaned,
split at blanks and around punctuation (``don't`` is three words); Chinese words stay as they stand,
unless every Chinese character is a word. Accents stay, too.
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
        lowercase: whether text is lower-cased.
        characters: whether every Chinese character is a word.
    """
    return {
        "lowercase": lowercase,
        "strip_accents": False,
        "chinese_characters": characters,
    }


def count_words(examples: Iterable[Example], settings: Mapping[str, Any]) -> Counter[str]:
    """Count the words of examples; given words are cut as text is."""
    found: Counter[str] = Counter()
    for example in examples:
        for text in example.texts if example.words is None else example.words:
            found.update(word for word in cut_words(text, settings) if len(word) <= LONGEST_WORD)
    return found


def is_of_words(vocabulary: Vocabulary) -> bool:
    """Whether a vocabulary was made here."""
    pieces = vocabulary.pieces
    return pieces[: len(SPECIALS)] == SPECIALS and not any(one.startswith("##") for one in pieces)


def vocabulary_of(counts: Mapping[str, int], least: int) -> Vocabulary:
    """Return the vocabulary of the words that were counted ``least`` times, frequent ones first."""
    kept = sorted((-count, word) for word, count in counts.items() if count >= least)
    if not kept:
        most = max(counts.values(), default=0)
        raise InputError(f"--min-count {least}: no word is that frequent; the most is {most:,}")
    lines = [*SPECIALS, *(word for _, word in kept)]
    return Vocabulary("".join(f"{line}\n" for line in lines).encode("utf-8"))

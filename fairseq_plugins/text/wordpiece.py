"""The words of raw text as BERT sees them, and its wordpieces: ids, with the place of each.

Words are runs between white space, or Chinese characters one by one.

Text is cleaned, split at white space and punctuation (and around every Chinese character), and each
part is cut greedily into the longest pieces of the vocabulary (Devlin et al. 2019). The names of
special tokens are ordinary text here: ``[SEP]`` in a sentence becomes the pieces of ``[``, ``sep``
and ``]``, never the separator's id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece as WordPieceModel

from ..pretrained.tokenizer import UNK, Vocabulary

LONGEST_WORD = 100  # characters; longer words are unknown, as in BERT

Span = tuple[int, int]

_BLANKS = re.compile(r"[^\S\x0b\x0c\x1c-\x1f\x85]+")
_CHINESE = re.compile(
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f])"
)


class WordPieces:
    """A wordpiece tokeniser.

    Args:
        vocabulary: the pieces and their ids.
        settings: ``lowercase``, ``strip_accents`` (None: as ``lowercase``), ``chinese_characters``
            (set apart).
    """

    def __init__(self, vocabulary: Vocabulary, settings: Mapping[str, Any]) -> None:
        self.unknown = vocabulary.indices[UNK]
        model = WordPieceModel(
            vocabulary.indices, unk_token=UNK, max_input_chars_per_word=LONGEST_WORD
        )
        self._tokenizer = Tokenizer(model)
        self._tokenizer.normalizer = normalizers.BertNormalizer(
            clean_text=True,
            handle_chinese_chars=settings["chinese_characters"],
            strip_accents=settings["strip_accents"],
            lowercase=settings["lowercase"],
        )
        self._tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

    def encode_words(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Cut W words.

        Returns:
            S ids, and for each the index of its word. Words of which BERT's cleaning leaves
            nothing (a lone zero-width space) have no piece.
        """
        found = self._tokenizer.encode(list(words), is_pretokenized=True, add_special_tokens=False)
        return found.ids, found.word_ids

    def encode_text(self, text: str) -> tuple[list[int], list[Span]]:
        """Cut raw text; return S ids and their character spans in it."""
        found = self._tokenizer.encode(text, add_special_tokens=False)
        return found.ids, found.offsets


class Words(NamedTuple):
    """The words of a sentence."""

    all: list[str]  # as they stand there
    places: Sequence[int]  # the numbers, from 0, of those that have wordpieces

    @classmethod
    def of(cls, words: list[str]) -> Words:
        """Keep all words."""
        return cls(words, range(len(words)))

    @property
    def kept(self) -> list[str]:
        """Those that have wordpieces."""
        return [self.all[i] for i in self.places]


def split_at_characters(text: str) -> list[str]:
    """Split at white space, and around every Chinese character as BERT does."""
    return [part for word in split_at_blanks(text) for part in _CHINESE.split(word) if part]


def split_at_blanks(text: str) -> list[str]:
    """Split at white space as BERT does.

    Python's own ``split`` also cuts at some control characters, which BERT deletes.
    """
    return [word for word in _BLANKS.split(text) if word]

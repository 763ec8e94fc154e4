"""BERT's wordpieces: words or raw text -> ids, with the word or the characters of each.

Text is cleaned, split at white space and punctuation (and around every Chinese character), and each
part is cut greedily into the longest pieces of the vocabulary (Devlin et al. 2019). The names of
special tokens are ordinary text here: ``[SEP]`` in a sentence becomes the pieces of ``[``, ``sep``
and ``]``, never the separator's id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece as WordPieceModel

from ..pretrained.vocabulary import UNK, Vocabulary

LONGEST_WORD = 100  # characters; longer words are unknown, as in BERT

Span = tuple[int, int]


class WordPieces:
    """A wordpiece tokeniser.

    Args:
        vocabulary: the pieces and their ids.
        settings: ``lowercase``, ``strip_accents`` (None: as ``lowercase``), ``chinese_characters``
            (set apart).
    """

    def __init__(self, vocabulary: Vocabulary, settings: Mapping[str, Any]) -> None:
        self.unknown, self.size = vocabulary.indices[UNK], len(vocabulary)
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

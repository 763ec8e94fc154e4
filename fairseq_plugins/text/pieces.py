"""The words of raw text for encoders, and their subwords: ids, with the place of each.

Words are stretches between white space, or single Chinese characters.

WordPiece (Devlin et al. 2019): text is cleaned, split at white space and punctuation (and around
every Chinese character), and each part is split greedily into the longest pieces of the vocabulary.

Byte-level byte-pair encoding (RoBERTa, ModernBERT) and sentencepiece (XLM-R, ALBERT, DeBERTa) split
a whole text; the characters of a piece tell its word. Their pieces depend on a blank before them,
hence the rule: given words are joined by single blanks, so that words and text give the same ids.
Thus the first word of RoBERTa has no blank before it (as in fairseq's `alignment_utils`), unless
its tokeniser says ``add_prefix_space`` (transformers accepts given words only then, and the ids are
the same). A piece of blanks alone belongs to the word after it.

The names of special tokens are ordinary text here: ``[SEP]`` in a sentence becomes the pieces of
``[``, ``sep`` and ``]``, never the separator's id.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece as WordPieceModel

from ..errors import InputError
from ..messages import quoted
from ..pretrained.families import WORDPIECE
from ..pretrained.tokenizer_claims import LONGEST_WORD
from ..pretrained.tokenizer_json import Parts
from ..pretrained.tokenizer_models import normalizers as normalizer_of
from ..pretrained.tokenizer_models import steps_of
from ..pretrained.vocabulary import Vocabulary
from ..syntax.subwords import Span, align, joined_spans
from .characters import Characters

_BLANKS = re.compile(r"[^\S\x0b\x0c\x1c-\x1f\x85]+")
_WORD = re.compile(r"[\S\x0b\x0c\x1c-\x1f\x85]+")
# Chinese in `tokenizers`: BERT's ranges without U+2B820 to U+2B91F
_CHINESE = re.compile(
    "([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b81f\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f])"
)


class PieceTokenizer:
    """A tokeniser of any scheme.

    Args:
        vocabulary: the pieces and their ids.
        settings: for WordPiece ``lowercase``, ``strip_accents`` (None: as ``lowercase``),
            ``chinese_characters`` (separate words); other schemes have none.
    """

    def __init__(self, vocabulary: Vocabulary, settings: Mapping[str, Any]) -> None:
        self.unknown = vocabulary.indices[vocabulary.family.specials.unk]
        self._by_word = vocabulary.family.scheme == WORDPIECE
        self._characters: Characters | None = None
        if self._by_word:
            self._tokenizer = _wordpiece(vocabulary, settings)
        else:
            parts = cast(Parts, vocabulary.parts)
            steps = steps_of(parts.normalizer)
            at = next((i for i, one in enumerate(steps) if one["type"] == "Precompiled"), None)
            if at is not None:
                self._characters = Characters(steps[:at], steps[at])
                parts = replace(parts, normalizer=normalizer_of(*steps[at + 1 :]))
            self._tokenizer = _of_parts(parts)

    @property
    def lowers(self) -> bool:
        """Whether the tokeniser lower-cases text."""
        normalizer = self._tokenizer.normalizer
        text = self._characters.changed("A")[0] if self._characters else "A"
        return "A" not in (normalizer.normalize_str(text) if normalizer else text)

    def encode_words(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Split W words.

        Returns:
            S ids, and the index of each id's word. Words that cleaning empties (a lone zero-width
            space) have no piece.
        """
        if self._by_word:
            found: Any = self._tokenizer.encode(
                list(words), is_pretokenized=True, add_special_tokens=False
            )
            return found.ids, found.word_ids
        text = " ".join(words)
        ids, spans = self.encode_text(text)
        return ids, align(text, spans, joined_spans(words)).word_of

    def encode_text(self, text: str) -> tuple[list[int], list[Span]]:
        """Split raw text; return S ids and their character spans, without blanks.

        A piece of blanks alone has the span of the next character (at the end of the text, of the
        last); part of a character has the character's span.
        """
        changed, places, spans = text, [], []
        if self._characters is not None:
            changed, places, spans = self._characters.changed(text)
        found = self._tokenizer.encode(changed, add_special_tokens=False)
        offsets = found.offsets
        if self._by_word:
            return found.ids, offsets
        if not text or text.isspace():
            return [], []
        if places:
            offsets = [(places[begin], places[end]) for begin, end in offsets]
        if spans:
            offsets = [(spans[b][0], spans[max(b, e - 1)][1]) for b, e in offsets]
        return found.ids, _visible(text, offsets)

    def encode_raw(self, text: str, *, characters: bool) -> tuple[Words, list[int], list[int]]:
        """Split raw text and find its words.

        Words without a piece (see `encode_words`) are dropped; neighbours that share a piece, such
        as Chinese characters, are joined.

        Args:
            characters: whether every Chinese character is a word.

        Returns:
            Its words, S ids, and each id's word among the words with pieces; without any piece, all
            words and no ids.
        """
        if self._by_word:
            words = split_at_characters(text) if characters else split_at_blanks(text)
            ids, word_of = self.encode_words(words)
        else:
            ids, pieces = self.encode_text(text)
            spans = _spans_of(text, characters=characters)
            word_of = align(text, pieces, spans).word_of if spans else []
            if characters:
                spans, word_of = _merged(pieces, spans, word_of)
            words, ids = [text[begin:end] for begin, end in spans], ids if spans else []
        seen = set(word_of)
        if len(seen) == len(words):
            return Words.of(words), ids, word_of
        number = {word: i for i, word in enumerate(sorted(seen))}
        return Words(words, list(number)), ids, [number[i] for i in word_of]


def _wordpiece(vocabulary: Vocabulary, settings: Mapping[str, Any]) -> Tokenizer:
    model = WordPieceModel(
        vocabulary.indices,
        unk_token=vocabulary.family.specials.unk,
        max_input_chars_per_word=LONGEST_WORD,
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = _cleaning(settings)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _cleaning(settings: Mapping[str, Any]) -> normalizers.BertNormalizer:
    return normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=settings["chinese_characters"],
        strip_accents=settings["strip_accents"],
        lowercase=settings["lowercase"],
    )


def cut_words(text: str, settings: Mapping[str, Any]) -> list[str]:
    """Return the parts of a text that WordPiece looks up, cleaned by a tokeniser's settings."""
    cleaned = _cleaning(settings).normalize_str(text)
    return [word for word, _ in pre_tokenizers.BertPreTokenizer().pre_tokenize_str(cleaned)]


def _of_parts(parts: Parts) -> Tokenizer:
    """Build a tokeniser of another scheme."""
    try:
        return Tokenizer.from_str(json.dumps(parts.body(), ensure_ascii=False))
    except Exception as error:  # the library has no more exact error
        raise InputError(f"the tokeniser cannot be built: {quoted(str(error), 200)}") from None


def _visible(text: str, offsets: Sequence[Span]) -> list[Span]:
    """Return the spans of pieces without blanks around; see `PieceTokenizer.encode_text`."""
    spans = []
    last = len(text.rstrip())  # > 0
    for begin, end in offsets:
        while begin < end and text[end - 1].isspace():
            end -= 1
        while begin < last and text[begin].isspace():
            begin += 1
        begin = min(begin, last - 1)
        spans.append((begin, max(min(end, last), begin + 1)))
    return spans


def _spans_of(text: str, *, characters: bool) -> list[Span]:
    """Return the spans of a text's words; see `split_at_characters`."""
    spans = [found.span() for found in _WORD.finditer(text)]
    if not characters:
        return spans
    parts = []
    for place, end in spans:
        for part in _CHINESE.split(text[place:end]):
            parts += [(place, place + len(part))] * bool(part)
            place += len(part)
    return parts


def _merged(
    pieces: Sequence[Span], spans: Sequence[Span], word_of: Sequence[int]
) -> tuple[list[Span], list[int]]:
    """Join words without their own piece to the word whose piece covers them."""
    reach = {}
    for word, (_, end) in zip(word_of, pieces):
        reach[word] = max(reach.get(word, 0), end)
    found: list[Span] = []
    numbers, owner = [], -1
    for word, (begin, end) in enumerate(spans):
        if word in reach:
            owner = word
        elif owner >= 0 and begin < reach[owner]:
            found[-1] = (found[-1][0], end)
            numbers.append(len(found) - 1)
            continue
        found.append((begin, end))
        numbers.append(len(found) - 1)
    return found, [numbers[word] for word in word_of]


class Words(NamedTuple):
    """The words of a sentence."""

    all: list[str]  # all words of the text
    places: Sequence[int]  # numbers, from 0, of the words with pieces

    @classmethod
    def of(cls, words: list[str]) -> Words:
        return cls(words, range(len(words)))

    @property
    def kept(self) -> list[str]:
        """The words with pieces."""
        return [self.all[i] for i in self.places]


def split_at_characters(text: str) -> list[str]:
    """Split at white space, and around every Chinese character as BERT does."""
    return [part for word in split_at_blanks(text) for part in _CHINESE.split(word) if part]


def split_at_blanks(text: str) -> list[str]:
    """Split at white space as BERT does.

    Python's own ``split`` also splits at some control characters, which BERT deletes.
    """
    return [word for word in _BLANKS.split(text) if word]

"""A sentencepiece model file: its subwords, their scores, and its normalisation.

The ``sentencepiece`` package reads the subwords. It gives access to nothing else in the file (a
protocol buffer, https://protobuf.dev/programming-guides/encoding), so this file decodes the other
entries: the kind of model, the table of characters, and the handling of blanks.
"""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentencepiece import SentencePieceNormalizer, SentencePieceProcessor

from ..errors import InputError
from ..messages import named, quoted
from .character_table import is_table

TRAINER, NORMALIZER = 2, 3  # fields of the file
MODEL_TYPE, UNIGRAM, SUFFIX = 3, 1, 24  # of the first: the type, the supported value
CHARACTERS = 2  # of the second
BLANKS = {3: "add_dummy_prefix", 4: "remove_extra_whitespaces", 5: "escape_whitespaces"}
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # encodings of a field


@dataclass(frozen=True)
class SentencePieces:
    """The content of a model file."""

    scores: list[tuple[str, float]]  # subwords by their id in the file, each with its score
    unknown: int  # id of the unknown subword
    controls: frozenset[str]  # subwords that are not text, including the unknown one
    characters: str | None  # table of the normaliser as base64, or None

    @property
    def normalizer(self) -> dict[str, Any] | None:
        """The table as a step of ``tokenizer.json``."""
        if self.characters is None:
            return None
        return {"type": "Precompiled", "precompiled_charsmap": self.characters}


def read_sentencepieces(path: Path) -> SentencePieces:
    content = path.read_bytes()
    try:
        model = SentencePieceProcessor(model_proto=content)
        fields = dict(_fields(content, last_of=(TRAINER, NORMALIZER)))
        trainer, normalizer = (dict(_fields(fields.get(k, b""))) for k in (TRAINER, NORMALIZER))
    except (RuntimeError, OSError, ValueError, TypeError, IndexError):
        raise InputError(f"{path} is no sentencepiece model, or is damaged") from None
    count = model.get_piece_size()
    if trainer.get(MODEL_TYPE, UNIGRAM) != UNIGRAM:
        raise InputError(f"{path} is no unigram model; others are not read here")
    scores = [(model.id_to_piece(i), float(model.get_score(i))) for i in range(count)]
    hidden = (model.is_control, model.is_unknown, model.is_unused)
    controls = frozenset(scores[i][0] for i in range(count) if any(is_so(i) for is_so in hidden))
    table = normalizer.get(CHARACTERS) or b""
    given = [piece for piece, score in scores if score == 0 and piece not in controls]
    unread = [f"without {name}" for key, name in BLANKS.items() if not normalizer.get(key, 1)]
    unread += ["with treat_whitespace_as_suffix"] * bool(trainer.get(SUFFIX))
    unread += ["with byte_fallback"] * any(map(model.is_byte, range(count)))
    if given and is_table(table):
        change = table_reader(table).normalize
        unread += [f"with the symbol {quoted(one)}" for one in given if change(one) != one]
    if unread:
        raise InputError(f"{path} was made {named(unread)}; such models are not read here")
    characters = base64.b64encode(table).decode("ascii") if table else None
    return SentencePieces(scores, model.unk_id(), controls, characters)


def pieces_of(path: Path) -> list[str]:
    """Return the subwords of a model of any type, by their id in the file."""
    try:
        model = SentencePieceProcessor(model_proto=path.read_bytes())
    except (RuntimeError, OSError, ValueError, TypeError):
        raise InputError(f"{path} is no sentencepiece model, or is damaged") from None
    return [model.id_to_piece(i) for i in range(model.get_piece_size())]


def table_reader(table: bytes) -> Any:
    """Return a normaliser with only a table of characters; refuse a broken table."""
    plain: dict[str, Any] = {"add_dummy_prefix": False, "escape_whitespaces": False}
    plain["remove_extra_whitespaces"] = False
    model = _field(NORMALIZER, _field(CHARACTERS, table))
    try:
        return SentencePieceNormalizer(model_proto=model, **plain)
    except RuntimeError:
        raise InputError("precompiled_charsmap is no table of characters") from None


def _field(number: int, content: bytes) -> bytes:
    """Return a field of bytes as encoded in a file."""
    size, length = len(content), []
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | BYTES, *length, size]) + content


def _fields(content: bytes, last_of: tuple[int, ...] = ()) -> Iterator[tuple[int, Any]]:
    """Yield the fields of a message with their values; with ``last_of`` only these."""
    place = 0
    while place < len(content):
        key, place = _number(content, place)
        kind, length = key & 7, 0
        if kind == VARINT:
            value, place = _number(content, place)
        elif kind in (FIXED64, FIXED32):
            value, length = None, 8 if kind == FIXED64 else 4
        elif kind == BYTES:
            length, place = _number(content, place)
            value = content[place : place + length]
        else:
            raise InputError(f"no field of kind {kind}")
        place += length
        if not last_of or key >> 3 in last_of:
            yield key >> 3, value


def _number(content: bytes, place: int) -> tuple[int, int]:
    """Return a number of variable length at a place, and the place after it."""
    value = shift = 0
    while content[place] & 128:
        value |= (content[place] & 127) << shift
        place, shift = place + 1, shift + 7
    return value | content[place] << shift, place + 1

"""The vocabulary of a pretrained encoder: its subwords by id, in the bytes of one file.

A vocabulary belongs to pretrained weights and is closed: nothing is added, sorted or padded.
WordPiece has one subword per line, its id is the line's number from 0; other schemes have a whole
tokeniser (`tokenizer_json`). Special tokens have any ids.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..text_reading import decode
from .families import FAMILIES, WORDPIECE, Family
from .tokenizer_checks import parse
from .tokenizer_json import Parts

BERT = FAMILIES["bert"]


class Vocabulary:
    """Subwords and their ids from the bytes of a vocabulary file, whose name is for errors.

    Attributes:
        parts: the tokeniser, if the file holds one.
        cls, sep, pad: ids of the tokens before a text, after a text, and for padding.
    """

    def __init__(self, content: bytes, name: str = "vocabulary", family: Family = BERT) -> None:
        self.content, self.family = content, family
        self.parts: Parts | None = None
        if family.scheme == WORDPIECE:
            # split only at line feeds: a wordpiece may be any other separator
            lines = content.removesuffix(b"\n").split(b"\n") if content else []
            decoded = (decode(line, name, i) for i, line in enumerate(lines, 1))
            self.pieces = [line.removesuffix("\r") for line in decoded]
        else:
            self.parts = Parts.read(parse(content, name), family, name)
            self.pieces = self.parts.pieces
        self.indices = {piece: i for i, piece in enumerate(self.pieces)}
        own = family.specials
        missing = [p for p in (own.pad, own.unk, own.cls, own.sep) if p not in self.indices]
        if missing:
            raise InputError(
                f"{name} is no vocabulary of {family.name}: it lacks {', '.join(missing)}"
            )

        self.cls, self.sep, self.pad = (self.indices[p] for p in (own.cls, own.sep, own.pad))

    def __len__(self) -> int:
        return len(self.pieces)

    @classmethod
    def load(cls, file: str | Path, family: Family = BERT) -> Vocabulary:
        path = Path(file)
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no such vocabulary")
        return cls(path.read_bytes(), str(path), family)

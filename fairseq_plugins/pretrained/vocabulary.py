"""A BERT vocabulary: one wordpiece a line, its id the line's number from 0.

It belongs to pretrained weights, so it is closed: nothing is added, sorted or padded, and its bytes
are kept as they were read. ``[PAD]``, ``[UNK]``, ``[CLS]`` and ``[SEP]`` stand anywhere in it.
"""

from __future__ import annotations

from pathlib import Path

from ..text_reading import decode

CLS, SEP, PAD, UNK, MASK = "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]"


class Vocabulary:
    """Wordpieces and their ids.

    Args:
        content: bytes of a vocabulary file.
        name: what errors call it.

    Raises:
        ValueError: it is not UTF-8, or lacks a special wordpiece.
    """

    def __init__(self, content: bytes, name: str = "vocabulary") -> None:
        self.content = content
        self.pieces = _wordpieces(content, name)
        self.indices = {piece: i for i, piece in enumerate(self.pieces)}
        missing = [piece for piece in (PAD, UNK, CLS, SEP) if piece not in self.indices]
        if missing:
            raise ValueError(f"{name} is no BERT vocabulary: it lacks {', '.join(missing)}")

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.pieces)

    @classmethod
    def load(cls, file: str | Path) -> Vocabulary:
        """Read a vocabulary file.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: it is no BERT vocabulary.
        """
        path = Path(file)
        if not path.is_file():
            raise FileNotFoundError(f"{path}: no such vocabulary")
        return cls(path.read_bytes(), str(path))


def _wordpieces(content: bytes, name: str) -> list[str]:
    """Split a vocabulary at line feeds only: a wordpiece may be any other separator."""
    lines = content.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [decode(line, name, i).removesuffix("\r") for i, line in enumerate(lines, start=1)]

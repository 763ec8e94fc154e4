"""BERT's vocabulary as a fairseq dictionary that keeps every id.

fairseq puts its own four symbols first and counts behind every word; a BERT vocabulary
(`pretrained.vocabulary`) is one wordpiece a line and closed. Nothing is added, sorted or padded
here, and saving gives back the very bytes that were read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from fairseq.data import Dictionary
from fairseq.tokenizer import tokenize_line
from torch import Tensor

from ..files import write_bytes
from ..pretrained.vocabulary import CLS, MASK, PAD, SEP, UNK, Vocabulary


class BertDictionary(Dictionary):
    """A closed vocabulary: fairseq's bos is ``[CLS]``, eos ``[SEP]``, pad ``[PAD]``.

    Args:
        vocabulary: the wordpieces.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(bos=CLS, pad=PAD, eos=SEP, unk=UNK, add_special_symbols=False)
        self.vocabulary = vocabulary
        self.symbols, self.indices = vocabulary.pieces, vocabulary.indices
        self.count = [1] * len(self.symbols)
        self.bos_index, self.eos_index = self.indices[CLS], self.indices[SEP]
        self.pad_index, self.unk_index = self.indices[PAD], self.indices[UNK]
        self.mask_index = self.indices.get(MASK)
        self.nspecial = 0  # fairseq leaves out so many first symbols when it sorts and saves

    @classmethod
    def load(cls, f: str | Path, add_special_symbols: bool = False) -> BertDictionary:
        """Read a vocabulary file.

        Args:
            f: its path.
            add_special_symbols: part of fairseq's signature; a vocabulary has its own.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: it is no BERT vocabulary.
        """
        return cls(Vocabulary.load(f))

    def save(self, f: str | Path | TextIO) -> None:
        """Write the bytes that were read, to a path (renamed when complete) or an open file."""
        if not isinstance(f, (str, Path)):
            f.write(self.vocabulary.content.decode("utf-8"))
            return
        write_bytes(f, self.vocabulary.content)

    def add_symbol(self, word: str, n: int = 1, overwrite: bool = False) -> int:
        """Return the id of a known wordpiece; the vocabulary takes no others.

        Raises:
            ValueError: the wordpiece is unknown, or to be overwritten.
        """
        if overwrite or word not in self.indices:
            raise ValueError(f"a BERT vocabulary is closed: cannot add {word!r}")
        return self.indices[word]

    def update(self, new_dict: Dictionary) -> None:
        """Take nothing from another dictionary; ValueError names a symbol that is not here."""
        for word in new_dict.symbols:
            self.add_symbol(word)

    def finalize(self, threshold: int = -1, nwords: int = -1, padding_factor: int = 8) -> None:
        """Leave order and size as they are: ids belong to the pretrained weights."""

    def pad_to_multiple_(self, padding_factor: int) -> None:
        """Leave the size as it is: it belongs to the pretrained weights."""

    def encode_line(
        self,
        line: str,
        line_tokenizer: Callable[[str], list[str]] = tokenize_line,
        add_if_not_exist: bool = False,
        consumer: Callable[[str, int], None] | None = None,
        append_eos: bool = True,
        reverse_order: bool = False,
    ) -> Tensor:
        """Map the wordpieces of a line to ids as fairseq does, by default without adding any."""
        return super().encode_line(
            line, line_tokenizer, add_if_not_exist, consumer, append_eos, reverse_order
        )

"""fairseq dictionaries: of parallel text, and a pretrained vocabulary with unchanged ids.

fairseq puts its own four symbols first and counts behind every word; a pretrained vocabulary is
closed. Nothing is added, sorted or padded there, and saving restores the very bytes that were read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from fairseq.data import Dictionary
from fairseq.tokenizer import tokenize_line
from torch import Tensor

from ..errors import InputError
from ..files import write_bytes
from ..pretrained.families import Family
from ..pretrained.translation_models import vocabulary_of
from ..pretrained.vocabulary import BERT, Vocabulary


def build_dictionary(counts: Mapping[str, int], threshold: int, size: int) -> Dictionary:
    """Build a dictionary by falling count, ties in alphabetical order, as fairseq-preprocess does.

    Args:
        threshold: least count of a kept subword.
        size: number of subwords to keep, -1 for all.
    """
    dictionary = Dictionary()
    specials = set(dictionary.symbols)
    for symbol, count in sorted(counts.items()):
        if symbol not in specials:
            dictionary.add_symbol(symbol, n=count)
    dictionary.finalize(threshold=threshold, nwords=size, padding_factor=8)
    return dictionary


def load_dictionary(path: str | Path) -> Dictionary:
    """Load a fairseq dictionary, or that of a trained translation model from its file."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"no dictionary {str(path)!r}")
    if symbols := vocabulary_of(Path(path)):
        made = Dictionary()
        for symbol in symbols[made.nspecial :]:
            made.add_symbol(symbol)
        return made
    try:
        return Dictionary.load(str(path))
    except Exception as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path} is no fairseq dictionary: {reason}") from None


def token_ids(dictionary: Dictionary, tokens: Sequence[str]) -> list[int]:
    """Map subwords to ids and append ``</s>``.

    A subword spelled like one of fairseq's own symbols (``<pad>``, ``</s>``) is text here and
    becomes ``<unk>``: such a subword must neither end the sentence nor vanish as padding.
    """
    unk, reserved = dictionary.unk(), dictionary.nspecial
    ids = [i if i >= reserved else unk for i in map(dictionary.index, tokens)]
    return [*ids, dictionary.eos()]


class ClosedDictionary(Dictionary):
    """A closed vocabulary: fairseq's bos is the token before a text, eos the token after it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        own = vocabulary.family.specials
        # fairseq 0.12.2's own __init__ always adds the four symbols in its own order
        self.bos_word, self.pad_word = own.cls, own.pad
        self.eos_word, self.unk_word = own.sep, own.unk
        self.vocabulary = vocabulary
        self.symbols, self.indices = vocabulary.pieces, vocabulary.indices
        self.count = [1] * len(self.symbols)
        self.bos_index, self.eos_index = self.indices[own.cls], self.indices[own.sep]
        self.pad_index, self.unk_index = self.indices[own.pad], self.indices[own.unk]
        self.mask_index = self.indices.get(own.mask)
        self.nspecial = 0  # number of first symbols that fairseq skips when sorting and saving

    @classmethod
    def load(
        cls, f: str | Path, add_special_symbols: bool = False, *, family: Family = BERT
    ) -> ClosedDictionary:
        """Read a vocabulary file with its own special symbols; see `Vocabulary.load`."""
        return cls(Vocabulary.load(f, family))

    def save(self, f: str | Path | TextIO) -> None:
        """Write the original bytes, to a path (renamed when complete) or an open file."""
        if not isinstance(f, (str, Path)):
            f.write(self.vocabulary.content.decode("utf-8"))
            return
        write_bytes(f, self.vocabulary.content)

    def add_symbol(self, word: str, n: int = 1, overwrite: bool = False) -> int:
        """Return the id of a known subword; a new subword is an error."""
        if overwrite or word not in self.indices:
            raise InputError(f"a pretrained vocabulary is closed: cannot add {word!r}")
        return self.indices[word]

    def update(self, new_dict: Dictionary) -> None:
        """Add nothing from another dictionary; a symbol missing here is an error."""
        for word in new_dict.symbols:
            self.add_symbol(word)

    def finalize(self, threshold: int = -1, nwords: int = -1, padding_factor: int = 8) -> None:
        """Keep order and size: ids belong to the pretrained weights."""

    def pad_to_multiple_(self, padding_factor: int) -> None:
        """Keep the size, which belongs to the pretrained weights."""

    def encode_line(
        self,
        line: str,
        line_tokenizer: Callable[[str], list[str]] = tokenize_line,
        add_if_not_exist: bool = False,
        *more: Any,
        **named: Any,
    ) -> Tensor:
        """Map the subwords of a line to ids as fairseq does, by default without adding subwords."""
        return super().encode_line(line, line_tokenizer, add_if_not_exist, *more, **named)

"""fairseq dictionaries of a prepared folder, and text to ids that survives any line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fairseq.data import Dictionary


def build_dictionary(counts: Mapping[str, int], threshold: int, size: int) -> Dictionary:
    """Build a dictionary by falling count, ties in alphabetical order, as fairseq-preprocess does.

    Args:
        counts: occurrences per subword.
        threshold: rarer subwords are left out.
        size: number of subwords to keep, -1 for all.
    """
    dictionary = Dictionary()
    specials = set(dictionary.symbols)
    for symbol, count in sorted(counts.items()):
        if symbol not in specials:
            dictionary.add_symbol(symbol, n=count)
    dictionary.finalize(threshold=threshold, nwords=size, padding_factor=8)
    return dictionary


def load_dictionary(path: Path) -> Dictionary:
    """Load a fairseq dictionary; FileNotFoundError or ValueError name a bad file."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"no dictionary {str(path)!r}")
    try:
        return Dictionary.load(str(path))
    except Exception as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} is no fairseq dictionary: {reason}") from None


def token_ids(dictionary: Dictionary, tokens: Sequence[str]) -> list[int]:
    """Map subwords to ids and append ``</s>``.

    A subword spelled like one of fairseq's own symbols (``<pad>``, ``</s>``) is text here and
    becomes ``<unk>``: it must neither end the sentence nor vanish as padding.
    """
    unk, reserved = dictionary.unk(), dictionary.nspecial
    ids = [i if i >= reserved else unk for i in map(dictionary.index, tokens)]
    return [*ids, dictionary.eos()]

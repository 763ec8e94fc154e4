"""Safety of the character table of a sentencepiece model.

The table is the size of a trie in bytes (4), its 32-bit units (a double array, as in Darts-clone),
and the texts that its values point to, each with a final zero byte. `tokenizers` follows the units
without a check, and crashes if a unit leads outside.
"""

import numpy as np

BYTES = np.arange(1, 256, dtype=np.int64)  # possible bytes of a key


def is_table(content: bytes) -> bool:
    """Return whether every look-up stays within the table."""
    size, texts = int.from_bytes(content[:4], "little"), content[4:]
    trie, texts = texts[:size], texts[size:]
    if len(trie) != size or size % 4 or not size:
        return False
    try:
        texts.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return _stays_within(np.frombuffer(trie, "<u4").astype(np.int64), texts)


def _stays_within(units: np.ndarray, texts: bytes) -> bool:
    """Walk all keys of a trie of U units, byte by byte."""
    starts = np.frombuffer(texts + b"\0", np.uint8) & 0xC0 != 0x80  # not inside a character
    seen = np.zeros(len(units), bool)  # (U,)
    found = np.zeros(1, np.int64)
    while len(found):
        seen[found] = True
        one = units[found]
        bases = found ^ ((one >> 10) << ((one & 0x200) >> 6))
        if ((bases | 255) >= len(units)).any():
            return False
        values = units[bases[(one >> 8) & 1 == 1]] & 0x7FFFFFFF
        if (values >= len(starts)).any() or not starts[values].all():
            return False
        next_ones = bases[:, None] ^ BYTES  # (found, 255)
        fits = units[next_ones] & 0x800000FF == BYTES
        found = np.unique(next_ones[fits])
        found = found[~seen[found]]
    return True

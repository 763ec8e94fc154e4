"""MSRA's named entities (SIGHAN 2006): characters with BIO labels.

The corpus goes about as ``character<TAB>label`` lines (``msra_train_bio.txt``) and as a line a
sentence of ``word/tag`` with the tags o, nr (person), ns (place), nt (organisation).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...messages import quoted
from ..examples import Example
from .split_file import EMPTY, Line, Reading, Unusable, tagged, usable
from .tokens import OUTSIDE, TokenLayout, read_tokens

TYPES = {"o": "", "nr": "PER", "ns": "LOC", "nt": "ORG"}


def read_msra(reading: Reading) -> Iterator[Example]:
    """Read either form, told by the first line.

    Raises:
        ValueError: a line of another form, with file and line.
    """
    first = next((line for _, line in reading.lines() if line.strip()), "")
    if "\t" in first or "/" not in first:
        return read_tokens(reading, TokenLayout())
    lines = enumerate(line for line in reading.lines() if line[1].strip())
    return usable(lines, lambda item: _sentence(reading, *item), reading)


def _sentence(reading: Reading, number: int, line: Line) -> Example:
    characters: list[str] = []
    labels: list[str] = []
    for piece in line[1].split():
        word, slash, tag = piece.rpartition("/")
        kind = TYPES.get(tag.lower())
        if not slash or kind is None:
            expected = f"word/tag with a tag of {', '.join(TYPES)}"
            raise reading.malformed(line[0], f"expected {expected}, found {quoted(piece)}")
        characters.extend(word)
        inside = [f"I-{kind}"] * (len(word) - 1)
        labels.extend([f"B-{kind}", *inside][: len(word)] if kind else [OUTSIDE] * len(word))
    if not characters:
        raise Unusable(EMPTY, f"{reading.path}:{line[0]}: empty sentence")
    return tagged(characters, labels, str(number), line[0])

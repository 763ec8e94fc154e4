"""MSRA's named entities (SIGHAN 2006): characters with BIO labels.

The corpus is found as ``character<TAB>label`` lines (``msra_train_bio.txt``) and as a line a
sentence of ``word/tag`` with the tags o, nr (person), ns (place), nt (organisation).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...messages import quoted
from ..examples import Example
from .split_file import SplitFile, tagged
from .tokens import OUTSIDE, TokenLayout, read_tokens

TYPES = {"o": "", "nr": "PER", "ns": "LOC", "nt": "ORG"}


def read_msra(file: SplitFile) -> Iterator[Example]:
    """Read either form; which one it is follows from the first line.

    Raises:
        ValueError: a line of another form, with file and line.
    """
    first = file.first_line()
    if "\t" in first or "/" not in first:
        return read_tokens(file, TokenLayout())
    lines = enumerate(line for line in file.lines() if line[1].strip())
    return file.examples(lines, lambda row: _sentence(file, row[0], *row[1]))


def _sentence(file: SplitFile, number: int, line: int, text: str) -> Example:
    characters: list[str] = []
    labels: list[str] = []
    for piece in text.split():
        word, slash, tag = piece.rpartition("/")
        kind = TYPES.get(tag.lower())
        if not slash or kind is None:
            expected = f"word/tag with a tag of {', '.join(TYPES)}"
            raise file.malformed(line, f"expected {expected}, found {quoted(piece)}")
        characters.extend(word)
        inside = [f"I-{kind}"] * (len(word) - 1)
        labels.extend([f"B-{kind}", *inside][: len(word)] if kind else [OUTSIDE] * len(word))
    if not characters:
        raise file.empty(line)
    return tagged(characters, labels, str(number), line)

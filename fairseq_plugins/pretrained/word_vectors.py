"""Given word vectors in the text formats of word2vec, GloVe and fastText.

A line is a word and its numbers, separated by single blanks. word2vec and fastText begin with a
line of two numbers, the number of words and the width; GloVe does not. Some words of GloVe contain
blanks: the numbers are the last of the line. Files are read line by line, and only the vectors of
wanted words are kept.
"""

from __future__ import annotations

import logging
import math
from codecs import BOM_UTF8
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from ..errors import InputError
from ..messages import quoted

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class WordVectors:
    """Vectors of some words."""

    words: list[str]  # the words, in the order of the file
    vectors: Tensor  # (W, E)
    path: Path  # the file


def read_word_vectors(
    path: str | Path, wanted: Collection[str], width: int, *, called: str = "--embedding-size"
) -> WordVectors:
    """Read the vectors of wanted words; of a repeated word the first counts."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no file of word vectors {str(path)!r}")
    found: dict[bytes, Tensor] = {}
    known = {word.encode("utf-8") for word in wanted}
    with open(path, "rb") as stream:
        for number, line in enumerate(stream, 1):
            if number == 1:
                line = line.removeprefix(BOM_UTF8)
            parts = line.rstrip().rsplit(b" ", width)
            if number == 1 and len(header := line.split()) == 2 and width != 1:
                _check_header(header, path, width, called)
            elif len(parts) != width + 1 or _is_wide(parts[0]):
                raise _no_vector(line, f"{path}:{number}", f"{width} numbers ({called} {width}")
            elif parts[0] in known and parts[0] not in found:
                found[parts[0]] = _numbers(parts[1:], path, number)
    if not found:
        raise InputError(f"{path} has none of the {len(known):,} words of the data folder")
    words = [word.decode("utf-8") for word in found]
    return WordVectors(words, torch.stack([*found.values()]), path)


def _no_vector(line: bytes, place: str, wanted: str) -> InputError:
    text = quoted(line.decode("utf-8", "replace").rstrip())
    wanted = f"{wanted}; no packed or binary file)"
    return InputError(f"{place}: expected a word and {wanted}, found {text}")


def _check_header(header: list[bytes], path: Path, width: int, called: str) -> None:
    """Refuse a first line of two words with a wrong header."""
    count, wide = (int(part) if part.isdigit() and len(part) < 19 else 0 for part in header)
    if not count or not wide:
        raise InputError(f"{path}:1: expected a word and {width} numbers, or how many words and "
                         f"how wide, found {quoted(b' '.join(header))}")  # fmt: skip
    if wide != width:
        raise InputError(f"{path}:1: the vectors have {wide} numbers, but {called} is {width}")


def _is_wide(word: bytes) -> bool:
    """Return whether another number precedes the numbers: the vectors are wider."""
    before, _, last = word.strip().rpartition(b" ")
    return bool(before) and math.isfinite(_number(last))


def _number(text: bytes) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _numbers(parts: list[bytes], path: Path, line: int) -> Tensor:
    """Read numbers that single precision can hold, (E,)."""
    values = torch.tensor([*map(_number, parts)])
    if len(wrong := (~values.isfinite()).nonzero()):
        text = parts[wrong[0]].decode("utf-8", "replace")
        raise InputError(f"{path}:{line}: number {int(wrong[0]) + 1} is {quoted(text)}")
    return values

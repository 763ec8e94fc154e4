"""M2 files of corrected sentences, as labels of right (``c``) and wrong (``i``) words.

The words that an edit replaces or deletes are wrong. An insertion has no words of its own: it marks
the word that follows, as the published token files of FCE and Falko-MERLIN do, or the last one at
the end of the sentence. Those of Falko-MERLIN leave out missing punctuation: edits of given types
can be ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from ...messages import named, quoted
from ..conllu import Line, read_blocks
from ..examples import Example
from .split_file import SplitFile, tagged

CORRECT, INCORRECT = "c", "i"
NO_EDIT = "noop"


def read_m2(file: SplitFile, ignored: Collection[str] = ()) -> Iterator[Example]:
    """Read an M2 file with the edits of one annotator.

    Args:
        file: what to read.
        ignored: types of edits that mark nothing, in addition to those of the options.

    Raises:
        ValueError: lines that are no M2, an edit outside its sentence, an annotator who is not
            in the file; with file and line.
    """
    seen: Counter[int] = Counter()
    wanted, ignored = file.options.annotator, {*ignored, *file.options.ignored_edits.split(",")}

    def make(row: tuple[int, list[Line]]) -> Example:
        number, (sentence, *edits) = row
        words = _words(file, *sentence)
        labels = [CORRECT] * len(words)
        for edit in edits:
            first, last, annotator, kind = _edit(file, *edit, len(words))
            seen[annotator] += 1
            if annotator == wanted and kind not in {NO_EDIT, *ignored}:
                mark(labels, first, last)
        return tagged(words, labels, str(number), sentence[0])

    yield from file.examples(enumerate(read_blocks(file.lines())), make)
    if seen and wanted not in seen:
        there = named(sorted(seen))
        raise ValueError(f"{file.path}: no edits of annotator {wanted}; those of {there} are there")


def _words(file: SplitFile, number: int, line: str) -> list[str]:
    letter, *words = line.split(" ")
    if letter != "S":
        raise file.malformed(number, f"expected a sentence 'S …', found {quoted(line)}")
    if not "".join(words).strip():
        raise file.empty(number)
    return [file.word(word, number) for word in words]


def mark(labels: list[str], first: int, last: int) -> None:
    """Mark the words first … last - 1 as wrong; for none, the following or else the last one."""
    if first == last:
        first = min(first, len(labels) - 1)
        last = first + 1
    labels[first:last] = [INCORRECT] * (last - first)


def _edit(file: SplitFile, number: int, text: str, words: int) -> tuple[int, int, int, str]:
    """Read ``A first last|||type|||…|||annotator`` as (first, last, annotator, type)."""
    try:
        head, kind, *_, annotator = text.split("|||")
        letter, first, last = head.split()
        found = int(first), int(last), int(annotator), kind
        if letter != "A":
            raise ValueError
    except ValueError:
        what = f"expected an edit 'A first last|||type|||…|||annotator', found {quoted(text)}"
        raise file.malformed(number, what) from None
    if kind != NO_EDIT and not 0 <= found[0] <= found[1] <= words:
        raise file.malformed(number, f"edit {found[0]} {found[1]} of a sentence of {words} words")
    return found

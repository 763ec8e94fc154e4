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
from ..examples import Example
from .split_file import EMPTY, Line, Reading, Unusable, blocks, tagged, usable
from .tokens import checked_word

CORRECT, INCORRECT = "c", "i"
NO_EDIT = "noop"


def read_m2(reading: Reading, ignored: Collection[str] = ()) -> Iterator[Example]:
    """Read an M2 file with the edits of one annotator.

    Args:
        reading: what to read.
        ignored: types of edits that mark nothing, beside those of the options.

    Raises:
        ValueError: lines that are no M2, an edit outside its sentence, an annotator who is not
            in the file; with file and line.
    """
    annotators: Counter[int] = Counter()
    ignored = {NO_EDIT, *ignored, *reading.options.ignored_edits.split(",")}

    def make(item: tuple[int, list[Line]]) -> Example:
        return _sentence(reading, item, annotators, ignored)

    yield from usable(enumerate(blocks(reading.lines())), make, reading)
    if annotators and reading.options.annotator not in annotators:
        there = named(sorted(annotators))
        raise ValueError(
            f"{reading.path}: no edits of annotator {reading.options.annotator}; those of "
            f"{there} are there"
        )


def _sentence(
    reading: Reading,
    item: tuple[int, list[Line]],
    annotators: Counter[int],
    ignored: Collection[str],
) -> Example:
    number, ((line, source), *edits) = item
    if source.split(" ", 1)[0] != "S":
        raise reading.malformed(line, f"expected a sentence 'S …', found {quoted(source)}")
    words = source.split(" ")[1:]
    if not "".join(words).strip():
        raise Unusable(EMPTY, f"{reading.path}:{line}: empty sentence")
    words = [checked_word(reading, word, line) for word in words]
    labels = [CORRECT] * len(words)
    for edit in edits:
        first, last, annotator, kind = _span(reading, edit, len(words))
        annotators[annotator] += 1
        if annotator == reading.options.annotator and kind not in ignored:
            mark(labels, first, last)
    return tagged(words, labels, str(number), line)


def mark(labels: list[str], first: int, last: int) -> None:
    """Mark the words first … last - 1 as wrong; for none, the following or else the last one."""
    if first == last:
        first = min(first, len(labels) - 1)
        last = first + 1
    labels[first:last] = [INCORRECT] * (last - first)


def _span(reading: Reading, line: Line, words: int) -> tuple[int, int, int, str]:
    """Read ``A first last|||type|||…|||annotator`` as (first, last, annotator, type)."""
    number, text = line
    fields = text.split("|||")
    head = fields[0].split()
    try:
        if len(fields) < 3 or len(head) != 3 or head[0] != "A":
            raise ValueError
        first, last, annotator = int(head[1]), int(head[2]), int(fields[-1])
    except ValueError:
        raise reading.malformed(
            number, f"expected an edit 'A first last|||type|||…|||annotator', found {quoted(text)}"
        ) from None
    if fields[1] != NO_EDIT and not 0 <= first <= last <= words:
        raise reading.malformed(number, f"edit {first} {last} of a sentence of {words} words")
    return first, last, annotator, fields[1]

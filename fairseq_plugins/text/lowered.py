"""An annotator that reads lower-cased text and returns words as written.

The authors of SLA lower-case the text of an uncased BERT before parsing (Li et al. 2020,
github.com/Neutralzz/syntax_aware_local_attention, ``src/dataset.py``).
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..data.folder_names import AS_TOKENISED
from ..syntax.annotation import Annotation
from ..syntax.subwords import locate_words


class LoweredAnnotator:
    """Annotates lower-cased text; words and spans are those of the original text."""

    def __init__(self, annotator: Any) -> None:
        self.annotator = annotator

    @property
    def files(self) -> Path:
        """The annotator's place."""
        return self.annotator.files

    def identity(self) -> dict[str, str]:
        """Name, version and content hash of the annotator, and the mark of lower-cased text."""
        return self.annotator.identity() | {"text": AS_TOKENISED}

    def annotate_words(self, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
        """Annotate sentences with given words."""
        notes = self.annotator.annotate_words([[*map(lowered, words)] for words in sentences])
        return [_as_written(" ".join(words), note) for words, note in zip(sentences, notes)]

    def annotate_text(self, lines: Sequence[str]) -> list[Annotation]:
        """Find and annotate the words of raw lines; spans refer to each line."""
        notes = self.annotator.annotate_text([*map(lowered, lines)])
        return [_as_written(line, note) for line, note in zip(lines, notes)]


def lowered(text: str) -> str:
    """Return a lower-cased text of equal length, each character by itself as in tokenisers."""
    return "".join(small if len(small := one.lower()) == 1 else one for one in text)


def _as_written(line: str, note: Annotation) -> Annotation:
    """Restore a line's original words in its annotation, unless the annotator changed them."""
    spans = locate_words(lowered(line), note.words)
    if spans is None:
        return note
    return replace(note, words=[line[begin:end] for begin, end in spans])

"""An annotator that is shown small letters, and tells what it finds of the words as written.

The authors of SLA lower-case the text of an uncased BERT before they parse it (Li et al. 2020,
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
    """Annotates a text in small letters; words and spans are those of the text as it is written.

    Args:
        annotator: `annotate.Annotator` or another.
    """

    def __init__(self, annotator: Any) -> None:
        self.annotator = annotator

    @property
    def files(self) -> Path:
        """Where the annotator lies."""
        return self.annotator.files

    def identity(self) -> dict[str, str]:
        """Name, version and content hash of the annotator, and that it is shown small letters."""
        return self.annotator.identity() | {"text": AS_TOKENISED}

    def annotate_words(self, sentences: Sequence[Sequence[str]]) -> list[Annotation]:
        """Annotate sentences whose words are given."""
        notes = self.annotator.annotate_words([[*map(lowered, words)] for words in sentences])
        return [_as_written(" ".join(words), note) for words, note in zip(sentences, notes)]

    def annotate_text(self, lines: Sequence[str]) -> list[Annotation]:
        """Find and annotate the words of raw lines; spans refer to each line."""
        notes = self.annotator.annotate_text([*map(lowered, lines)])
        return [_as_written(line, note) for line, note in zip(lines, notes)]


def lowered(text: str) -> str:
    """Return a text in small letters, each by itself as tokenisers do, whatever stands beside it;
    what would become longer stays.
    """
    return "".join(small if len(small := one.lower()) == 1 else one for one in text)


def _as_written(line: str, note: Annotation) -> Annotation:
    """Give an annotation of a line in small letters its words back; no other one is changed."""
    spans = locate_words(lowered(line), note.words)
    if spans is None:
        return note
    return replace(note, words=[line[begin:end] for begin, end in spans])

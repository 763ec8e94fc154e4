"""The questions of entity labels for datasets."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..syntax.sentence import EncodedSentence

Span = tuple[str, int, int]  # label, first and last word


@dataclass(frozen=True)
class LabelQuestions:
    """The question of each label of entities.

    Args:
        questions: label -> its text, in the labels' order.
        encode: names of layers -> each question from the encoder of raw text.
        read: a sentence's labels of words, one level after another, and its number of words -> its
            entities.
    """

    questions: dict[str, str]
    encode: Callable[[tuple[str, ...]], Sequence[EncodedSentence]]
    read: Callable[[Sequence[str], int], Iterable[Span]]

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of entities, L."""
        return tuple(self.questions)

"""Gold answers and wordpieces: an answer's place in its context, and the covering wordpieces.

A reader of spans can only return text between the beginning of one wordpiece and the end of
another. An answer that begins or ends inside a wordpiece is covered by the fewest pieces, and the
text read back is longer than the answer; blanks at an answer's ends are not read back.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unicodedata import category

import numpy as np

from ..corpora.squad import GoldAnswer, Question
from ..data.folder_names import ANSWERABLE, UNANSWERABLE, UNKNOWN
from ..data.text_windows import stride_windows
from ..errors import InputError
from ..pretrained.families import RowFormat

MOVED = "moved"
NOT_FOUND = "not_found"
NO_WORDPIECE = "no_wordpiece"
INSIDE_WORDPIECE = "inside_wordpiece"
BESIDE_WORDPIECES = "beside_wordpieces"
NO_WINDOW = "no_window"
COUNTED = {  # reason -> the manifest's count of answers
    MOVED: "moved_answers",  # not at answer_start; the nearest occurrence counts
    NOT_FOUND: "skipped_answers",  # not found there either, or not searched
    NO_WORDPIECE: "unseen_answers",  # no wordpiece in BERT's input
    INSIDE_WORDPIECE: "widened_answers",  # begin or end inside a wordpiece
    BESIDE_WORDPIECES: "trimmed_answers",  # begin or end without wordpieces, as with blanks
    NO_WINDOW: "answers_in_no_window",  # longer than every window of the context
}


@dataclass(frozen=True)
class Limits:
    """The windows of contexts, each after its question."""

    max_positions: int = 384  # wordpieces of a row with its special tokens
    doc_stride: int = 128  # wordpieces from one window's beginning to the next's
    max_query_length: int = 64  # kept wordpieces of a question
    row: RowFormat = RowFormat()  # special tokens of a row

    @property
    def specials(self) -> int:
        """Special tokens of a row."""
        return self.row.specials(2)

    def check(self) -> None:
        """Refuse windows further apart than their length."""
        room = self.room(self.max_query_length)
        if self.doc_stride > room:
            raise InputError(
                f"--doc-stride {self.doc_stride}: beside a question of --max-query-length "
                f"{self.max_query_length} and {self.specials} special tokens --max-positions "
                f"{self.max_positions} leaves {max(room, 0)} wordpieces of the context, and "
                "windows further apart than that would leave some out"
            )

    def room(self, question: int) -> int:
        """Wordpieces of a context that fit beside a question."""
        return self.max_positions - min(question, self.max_query_length) - self.specials

    def reach(self, span: tuple[int, int], question: int, context: int) -> bool:
        """Whether a window of a context holds a whole span, both ends included."""
        windows = stride_windows(context, self.room(question), self.doc_stride)
        return bool(((windows[:, 0] <= span[0]) & (span[1] < windows[:, 1])).any())


def find_answer(context: str, answer: GoldAnswer, *, repair: bool) -> GoldAnswer | None:
    """Return the answer at the place of its text; None for a skipped answer.

    With ``repair`` the nearest occurrence may replace the place, the earlier of two; an occurrence
    inside a word only if all occurrences are.
    """
    if answer.stands_in(context):
        return answer
    places = [*_occurrences(answer.text, context)] if repair else []
    if not places:
        return None
    whole = [place for place in places if _is_whole(context, place, place + len(answer.text))]
    nearest = min(whole or places, key=lambda place: abs(place - answer.start))
    return GoldAnswer(answer.text, nearest)


def _occurrences(text: str, context: str) -> Iterator[int]:
    place = context.find(text)
    while place >= 0:
        yield place
        place = context.find(text, place + 1)


def _is_whole(context: str, begin: int, end: int) -> bool:
    """Whether no word continues over begin or end; scripts without case (Lo) may have no blanks."""
    for place in (begin, end):
        around = context[max(place - 1, 0) : place + 1]
        if len(around) == 2 and all(c.isalnum() and category(c) != "Lo" for c in around):
            return False
    return True


def cover(offsets: np.ndarray, begin: int, end: int) -> tuple[int, int] | None:
    """Return the first and last of the fewest wordpieces that hold characters begin to end.

    None without such wordpieces; ``offsets`` are in code points, (S, 2).
    """
    inside = np.flatnonzero((offsets[:, 1] > begin) & (offsets[:, 0] < end))
    return (int(inside[0]), int(inside[-1])) if len(inside) else None


@dataclass(frozen=True)
class PlacedQuestion:
    """A question's answers as wordpieces of its context."""

    state: int  # `UNKNOWN`, `UNANSWERABLE` or `ANSWERABLE`
    # first and last wordpiece of each covered answer, in order
    spans: tuple[tuple[int, int], ...]
    # all answers, with starts repaired where possible; None: unknown
    answers: tuple[GoldAnswer, ...] | None
    # irregular answers: text and start in the file, the reason (of `COUNTED`), and the repair
    notes: tuple[dict[str, Any], ...] = ()

    @property
    def unplaced(self) -> bool:
        """Whether the question has answers, but no wordpieces cover any."""
        return self.state == ANSWERABLE and not self.spans

    def row(self) -> list[int]:
        """Return a row of the prepared folder: the state, then begin and end of every span."""
        return [self.state, *(place for span in self.spans for place in span)]


def place_question(
    question: Question,
    context: str,
    offsets: np.ndarray,
    *,
    repair: bool,
    limits: Limits,
    pieces: int,
) -> PlacedQuestion:
    """Place a question's answers.

    Args:
        context: the text of the paragraph.
        offsets: of the context's wordpieces, (S, 2).
        repair: see `find_answer`.
        limits, pieces: of windows, and of the question; they decide which answers lie in no window.
    """
    if question.answers is None:
        return PlacedQuestion(UNKNOWN, (), None)
    spans, answers, notes = [], [], []
    for answer in question.answers:
        found = find_answer(context, answer, repair=repair)
        answers.append(found or answer)
        span = cover(offsets, found.start, found.start + len(found.text)) if found else None
        spans += [span] if span else []
        said = answer.as_json()
        notes += [said | note for note in _remarks(context, answer, found, span, offsets)]
        if span and not limits.reach(span, pieces, len(offsets)):
            notes.append(said | {"reason": NO_WINDOW, "wordpieces": [*span]})
    state = ANSWERABLE if question.answers else UNANSWERABLE
    return PlacedQuestion(state, tuple(spans), tuple(answers), tuple(notes))


def _remarks(
    context: str,
    answer: GoldAnswer,
    found: GoldAnswer | None,
    span: tuple[int, int] | None,
    offsets: np.ndarray,
) -> Iterator[dict[str, Any]]:
    """Yield the irregularities of an answer's place."""
    if found is None:
        yield {"reason": NOT_FOUND}
        return
    if found != answer:
        yield {"reason": MOVED, "moved_to": found.start}
    if span is None:
        yield {"reason": NO_WORDPIECE}
        return
    begin, end = int(offsets[span[0], 0]), int(offsets[span[1], 1])
    if (begin, end) != (found.start, found.start + len(found.text)):
        inside = begin < found.start or end > found.start + len(found.text)
        reason = INSIDE_WORDPIECE if inside else BESIDE_WORDPIECES
        yield {"reason": reason, "covered": context[begin:end]}

"""Gold answers and wordpieces: where an answer stands in its context, and which pieces cover it.

A reader of spans can only give what lies between the beginning of one wordpiece and the end of
another. An answer that begins or ends inside a wordpiece is covered by the fewest pieces that hold
it, and what is read back is then longer than the answer; one that begins or ends with blanks is
read back without them.
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
    MOVED: "moved_answers",  # did not stand at answer_start; their nearest occurrence counts
    NOT_FOUND: "skipped_answers",  # did not stand there either, or were not to be looked for
    NO_WORDPIECE: "unseen_answers",  # BERT sees nothing of them
    INSIDE_WORDPIECE: "widened_answers",  # begin or end inside a wordpiece
    BESIDE_WORDPIECES: "trimmed_answers",  # begin or end with what no wordpiece shows, as blanks
    NO_WINDOW: "answers_in_no_window",  # no window of the context holds all of them
}


@dataclass(frozen=True)
class Limits:
    """How contexts are cut into windows, each behind its question."""

    max_positions: int = 384  # wordpieces of a row with its special tokens
    doc_stride: int = 128  # wordpieces from the beginning of a window to that of the next
    max_query_length: int = 64  # wordpieces of a question that are kept
    row: RowFormat = RowFormat()  # special tokens of a row

    @property
    def specials(self) -> int:
        """Special tokens of a row."""
        return self.row.specials(2)

    def check(self) -> None:
        """Refuse windows further apart than they are long (InputError)."""
        room = self.room(self.max_query_length)
        if self.doc_stride > room:
            raise InputError(
                f"--doc-stride {self.doc_stride}: beside a question of --max-query-length "
                f"{self.max_query_length} and {self.specials} special tokens --max-positions "
                f"{self.max_positions} leaves {max(room, 0)} wordpieces of the context, and "
                "windows further apart than that would leave some out"
            )

    def room(self, question: int) -> int:
        """Wordpieces of a context that fit beside a question of so many wordpieces."""
        return self.max_positions - min(question, self.max_query_length) - self.specials

    def reach(self, span: tuple[int, int], question: int, context: int) -> bool:
        """Whether a window of a context of so many wordpieces holds a whole span, both ends."""
        windows = stride_windows(context, self.room(question), self.doc_stride)
        return bool(((windows[:, 0] <= span[0]) & (span[1] < windows[:, 1])).any())


def find_answer(context: str, answer: GoldAnswer, *, repair: bool) -> GoldAnswer | None:
    """Return the answer where its text stands; None where it is passed over.

    With ``repair`` the nearest occurrence may take its place; the earlier of two. One inside a word
    does so only where all are.
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
    """Whether no word goes on over begin or end; scripts without case (Lo) may write no blanks."""
    for place in (begin, end):
        around = context[max(place - 1, 0) : place + 1]
        if len(around) == 2 and all(c.isalnum() and category(c) != "Lo" for c in around):
            return False
    return True


def cover(offsets: np.ndarray, begin: int, end: int) -> tuple[int, int] | None:
    """Return the first and last of the fewest wordpieces that hold characters begin to end.

    None when no wordpiece has any of them; ``offsets`` are theirs in code points, (S, 2).
    """
    inside = np.flatnonzero((offsets[:, 1] > begin) & (offsets[:, 0] < end))
    return (int(inside[0]), int(inside[-1])) if len(inside) else None


@dataclass(frozen=True)
class PlacedQuestion:
    """A question's answers as wordpieces of its context."""

    state: int  # `UNKNOWN`, `UNANSWERABLE` or `ANSWERABLE`
    # first and last wordpiece of each answer that wordpieces cover, in order
    spans: tuple[tuple[int, int], ...]
    # all answers, with their starts set right where that was possible; None: unknown
    answers: tuple[GoldAnswer, ...] | None
    # what was unusual: an answer's text and start as the file has them, the reason (of `COUNTED`),
    # and what became of it
    notes: tuple[dict[str, Any], ...] = ()

    @property
    def unplaced(self) -> bool:
        """Whether it has answers, and wordpieces cover none."""
        return self.state == ANSWERABLE and not self.spans

    def row(self) -> list[int]:
        """As a row of the prepared folder: the state, then begin and end of every span."""
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
        question, context: with its gold answers; its paragraph's text.
        offsets: of the context's wordpieces, (S, 2).
        repair: see `find_answer`.
        limits, pieces: of windows, and of the question: they say which answers lie in no window.
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
    """Say what is unusual about an answer's place."""
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

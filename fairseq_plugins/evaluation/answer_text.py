"""A model's answer to a question, for a terminal.

The span is coloured on a terminal, else marked by ``>>`` and ``<<``. Of a long text the paragraph
around the span is shown, and of a long paragraph the sentences around it.
"""

from ..targets.answers import Answered, Candidate
from .shown_text import MARKS, NO_ANSWER, as_line, cropped

COLOR = ("\x1b[1;32m", "\x1b[0m")


def as_text(found: Answered, context: str, *, threshold: float = 0.0, color: bool = False) -> str:
    """Return the answer to a question as text.

    Args:
        found: its candidates, and the score of no answer.
        context: of the candidates.
        threshold: null odds above it mean no answer.
        color: whether to colour the span instead of marking it.
    """
    if not found.candidates:
        return f"{NO_ANSWER}\n"
    best, answer = found.candidates[0], found.answer(threshold)
    lines = [_headline(found, answer)]
    if not answer:
        lines.append(f"  best span: {_headline(found, best.text)}")
    lines.append(f"  {_marked(context, best, color)}")
    return "".join(f"{line}\n" for line in lines)


def _headline(found: Answered, answer: str) -> str:
    """Return an answer, its probability, and its distance from no answer or the best span."""
    odds = found.null_odds
    if not answer:
        told = f"score {found.null_score:.2f}, {odds:+.2f} to the best span"
        return f"{NO_ANSWER}  (probability {found.probabilities[-1]:.3f}, {told})"
    told = f"score {found.candidates[0].score:.2f}, {-odds:+.2f} to no answer"
    return f"{as_line(answer)}  (probability {found.probabilities[0]:.3f}, {told})"


def _marked(context: str, span: Candidate, color: bool) -> str:
    """Return the text around a span, marked or coloured, in one line."""
    left, right = COLOR if color else MARKS
    before, shown, after = map(as_line, cropped(context, span.begin, span.end))
    return f"{before}{left}{shown}{right}{after}"

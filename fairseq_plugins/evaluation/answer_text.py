"""What a model says about a question, for a terminal.

On a terminal the span is coloured, elsewhere it stands between ``>>`` and ``<<``. Of a long text
the paragraph around the span is shown, and of a long paragraph the sentences around it.
"""

from ..targets.answers import Answered, Candidate
from .shown_text import MARKS, NO_ANSWER, as_line, cropped

COLOR = ("\x1b[1;32m", "\x1b[0m")


def as_text(found: Answered, context: str, *, threshold: float = 0.0, color: bool = False) -> str:
    """Render what a model says about a question.

    Args:
        found: its candidates, and the score of no answer.
        context: that they stand in.
        threshold: no answer wins where the null odds exceed it.
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
    """Say an answer, how probable it is, and how it stands to no answer or to the best span."""
    odds = found.null_odds
    if not answer:
        told = f"score {found.null_score:.2f}, {odds:+.2f} to the best span"
        return f"{NO_ANSWER}  (probability {found.probabilities[-1]:.3f}, {told})"
    told = f"score {found.candidates[0].score:.2f}, {-odds:+.2f} to no answer"
    return f"{as_line(answer)}  (probability {found.probabilities[0]:.3f}, {told})"


def _marked(context: str, span: Candidate, color: bool) -> str:
    """Return the text around a span, which is marked or coloured, in one line."""
    left, right = COLOR if color else MARKS
    before, shown, after = map(as_line, cropped(context, span.begin, span.end))
    return f"{before}{left}{shown}{right}{after}"

"""An answer for a terminal: what it is, how sure the model is, and where in the text it stands.

On a terminal the span is coloured, elsewhere it stands between ``>>`` and ``<<``. Of a long text
the paragraph around the span is shown, and of a long paragraph the sentences around it.
"""

from __future__ import annotations

import re
import unicodedata

from ...evaluation.answers import Answered, Candidate
from .highlights import visible

MARKS = (">>", "<<")
COLOR = ("\x1b[1;32m", "\x1b[0m")
NO_ANSWER = "no answer"
LONGEST = 500  # characters of a text that are shown
TURNS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))

_PARAGRAPH_END = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]]*\s+")


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


def as_line(text: str) -> str:
    """Return a text in one line, with nothing that a terminal would obey or turn round."""
    kept = "".join(char for char in text if unicodedata.bidirectional(char) not in TURNS)
    return visible(re.sub(r"\s+", " ", kept))


def cropped(context: str, begin: int, end: int) -> tuple[str, str, str]:
    """Return what is shown before a span, the span, and what is shown behind it.

    Args:
        context: the text.
        begin: of the span.
        end: of the span.
    """
    left, right = surroundings(context, begin, end)
    head, tail = ("… " if context[:left].strip() else "", " …" if context[right:].strip() else "")
    return head + context[left:begin], context[begin:end], context[end:right] + tail


def surroundings(context: str, begin: int, end: int, longest: int = LONGEST) -> tuple[int, int]:
    """Return begin and end of what is shown around a span of a text.

    Args:
        context: the text.
        begin: of the span.
        end: of the span.
        longest: most characters; a longer span is shown whole.
    """
    left, right = _between(context, begin, end, _PARAGRAPH_END)
    if right - left > longest:
        first, last = _between(context, begin, end, _SENTENCE_END)
        left, right = max(left, first), min(right, last)
    if right - left > longest:
        room = max(0, (longest - (end - begin)) // 2)
        left, right = max(left, begin - room), min(right, end + room)
    inside = context[left:right]
    return left + len(inside) - len(inside.lstrip()), left + len(inside.rstrip())


def _between(context: str, begin: int, end: int, border: re.Pattern[str]) -> tuple[int, int]:
    """Return what of the text lies between the borders around a span."""
    left = max((found.end() for found in border.finditer(context, 0, begin)), default=0)
    right = border.search(context, end)
    return left, right.end() if right else len(context)

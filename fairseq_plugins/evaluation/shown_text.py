"""Texts from anywhere, made safe for a terminal, a table or a page, and shortened.

Of a long text the paragraph around a span is shown, of a long paragraph the sentences around it.
"""

import re
import unicodedata
from collections.abc import Sequence

MARKS = (">>", "<<")  # around a span
NO_ANSWER = "no answer"
LONGEST = 500  # shown characters of a text
UNSEEN = frozenset(("Cc", "Cs", "Zl", "Zp"))  # controls, surrogates, line separators
TURNS = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))
SIDES = "\u061c\u200e\u200f"  # direction marks

_IN_CELL = re.compile(r"([\\|]|<(?=[A-Za-z/!?])|(?<=\])\()")
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]]*\s+")


def visible(text: str) -> str:
    """Return text without characters that move a cursor or end a line."""
    return "".join(
        " " if char.isspace() else "\ufffd" if unicodedata.category(char) in UNSEEN else char
        for char in text
    )


def straight(text: str) -> str:
    """Return visible text without marks that reverse the direction of a line."""
    kept = (c for c in text if unicodedata.bidirectional(c) not in TURNS and c not in SIDES)
    return visible("".join(kept))


def as_line(text: str) -> str:
    """Return a text in one line, without control characters or direction marks."""
    return straight(re.sub(r"\s+", " ", text))


def as_markdown_cell(text: str) -> str:
    """Return a name for a Markdown table, readable as source, that ends no cell or HTML."""
    return _IN_CELL.sub(r"\\\1", straight(text))


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Pad cells into columns: the first to the left, the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows)]
    return [
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))])
        for row in rows
    ]


def cropped(context: str, begin: int, end: int) -> tuple[str, str, str]:
    """Return the shown text before a span, the span, and the shown text after it."""
    left, right = surroundings(context, begin, end)
    head, tail = ("… " if context[:left].strip() else "", " …" if context[right:].strip() else "")
    return head + context[left:begin], context[begin:end], context[end:right] + tail


def surroundings(context: str, begin: int, end: int, longest: int = LONGEST) -> tuple[int, int]:
    """Return begin and end of the text around a span; a span over ``longest`` stays whole."""
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
    """Return the text between the borders around a span."""
    left = max((found.end() for found in border.finditer(context, 0, begin)), default=0)
    right = border.search(context, end)
    return left, right.end() if right else len(context)

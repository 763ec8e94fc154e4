"""The case of subwords apart from their letters: text is lower-cased, and restored by a label.

    restored(lowered(subword), casing_of(subword)) = subword      for all labels but ``mixed``

Characters are changed one by one, and only where another single character takes their place, so
that all places in a text stay as they are. Moses' entities (``&quot;``) are no letters, nor are
sentencepiece's bytes (``<0xE5>``).
"""

import re
from collections.abc import Callable

LOWER, TITLE, UPPER, MIXED, OTHER = "lower", "title", "upper", "mixed", "other"
CASINGS = (LOWER, TITLE, UPPER, MIXED, OTHER)
_ENTITY = re.compile(r"(&\w+;|&#\d+;|<0x[0-9A-F]{2}>)")


def _changed(character: str, to: Callable[[str], str]) -> str:
    found = to(character)
    return found if len(found) == 1 else character


def lowered(text: str) -> str:
    """Return a text in small letters, as long as it was."""
    return "".join(_changed(character, str.lower) for character in text)


def casing_of(subword: str) -> str:
    """Return how a subword is written.

    Returns:
        ``lower``; ``title``, its first letter alone being a capital; ``upper``; ``mixed``, anything
        else, which is not restored; ``other``, without letters that have a case.
    """
    small = lowered(subword)
    if small == restored(small, UPPER):
        return OTHER if small == subword else MIXED
    found = (casing for casing in (LOWER, TITLE, UPPER) if restored(small, casing) == subword)
    return next(found, MIXED)


def restored(subword: str, casing: str) -> str:
    """Return a subword in small letters as its casing says; ``mixed`` stays in small letters."""
    if casing not in (TITLE, UPPER):
        return subword
    parts, left = _ENTITY.split(subword), len(subword)
    for place in range(0, len(parts), 2):  # the others are entities
        characters = list(parts[place])
        for i, character in enumerate(characters):
            capital = _changed(character, str.upper)
            if left and capital != character:
                characters[i] = capital
                left = 0 if casing == TITLE else left
        parts[place] = "".join(characters)
    return "".join(parts)

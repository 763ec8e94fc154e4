"""The case of subwords as labels: text is lower-cased, and a label restores each subword.

    restored(lowered(subword), casing_of(subword)) = subword      for all labels but ``mixed``

Characters are changed one by one, and only into a single character, so that all places in a text
stay. Moses' entities (``&quot;``) count as no letters, and so do sentencepiece's bytes
(``<0xE5>``).
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
    """Return a lower-cased text of equal length."""
    return "".join(_changed(character, str.lower) for character in text)


def casing_of(subword: str) -> str:
    """Return the casing of a subword.

    Returns:
        ``lower``; ``title``, with only the first letter a capital; ``upper``; ``mixed``, anything
        else, which is not restored; ``other``, without letters that have a case.
    """
    small = lowered(subword)
    if small == restored(small, UPPER):
        return OTHER if small == subword else MIXED
    found = (casing for casing in (LOWER, TITLE, UPPER) if restored(small, casing) == subword)
    return next(found, MIXED)


def restored(subword: str, casing: str) -> str:
    """Return a lower-cased subword in its casing; ``mixed`` stays lower-cased."""
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

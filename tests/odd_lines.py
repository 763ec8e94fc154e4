"""Lines that hold what Python and others take for ends of lines, from a seed."""

from __future__ import annotations

from random import Random

# all that str.splitlines, universal newlines or fileinput break lines at, but the line feed
ENDS = ("\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
SEEN = ("the cat", "Straße", "北京", "。", "東京", "مرحبا", "🙂")
WORDS = (*SEEN, "a\u0301", "\u200d", "<unk>", "\ufeff")


def odd_texts(seed: int, count: int) -> list[list[str]]:
    """Return texts, each a list of lines without their ends; every line has a visible word."""
    draw, found = Random(seed), []
    for _ in range(count):
        lines = []
        for _ in range(draw.randint(1, 6)):
            parts = draw.choices((*ENDS, *WORDS), k=draw.randint(0, 5))
            parts.insert(draw.randint(0, len(parts)), draw.choice(SEEN))
            lines.append("".join(parts))
        found.append(lines)
    return found

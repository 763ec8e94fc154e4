"""From words to a line of text, with the places of the words kept."""

from __future__ import annotations

from typing import NamedTuple

from .entries import Word

OPENING, CLOSING = '"(', ')"'
NO_COMMA_BEFORE = {",", ".", "?", "!"}


class Line(NamedTuple):
    """A line of text and its words with their character offsets."""

    text: str
    words: list[tuple[int, Word]]


def join(words: list[Word]) -> Line:
    """Write words as text: spaces, commas, quotes, the capital at the start."""
    text, placed, glue = "", [], True
    for word in tidy(words):
        spelling = {OPENING: '"', CLOSING: '"'}.get(word.text, word.text)
        attaches = spelling in (",", ".", "?", "!") or word.text == CLOSING or spelling[0] == "'"
        if text and not attaches and not glue:
            text += " "
        if not text.strip('"') and word.text != OPENING:
            spelling = spelling[0].upper() + spelling[1:]
        placed.append((len(text), word._replace(text=spelling)))
        text += spelling
        glue = word.text == OPENING
    return Line(text, placed)


def tidy(words: list[Word]) -> list[Word]:
    """Drop commas that stand before another mark."""
    return [
        word
        for word, following in zip(words, [*words[1:], Word("")])
        if word.text != "," or following.text not in NO_COMMA_BEFORE
    ]

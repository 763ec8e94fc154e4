"""From words to a line of text, with the places of the words kept."""

from __future__ import annotations

from typing import NamedTuple

from .entries import Word

NO_COMMA_BEFORE = {",", "."}


class Line(NamedTuple):
    """A line of text and its words with their character offsets."""

    text: str
    words: list[tuple[int, Word]]


def join(words: list[Word]) -> Line:
    """Write words as text: spaces, commas, the capital at the start."""
    text, placed = "", []
    for word in tidy(words):
        spelling = word.text if text else word.text[0].upper() + word.text[1:]
        if text and spelling[0] not in ",.'":
            text += " "
        placed.append((len(text), word._replace(text=spelling)))
        text += spelling
    return Line(text, placed)


def tidy(words: list[Word]) -> list[Word]:
    """Drop commas that stand before another mark."""
    return [
        word
        for word, following in zip(words, [*words[1:], Word("")])
        if word.text != "," or following.text not in NO_COMMA_BEFORE
    ]

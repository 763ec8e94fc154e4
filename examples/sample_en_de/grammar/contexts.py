"""Where a tagger goes wrong: readings of a word between two kinds of neighbours.

``lexicon/contexts.txt`` tells in which surroundings the bundled pipeline misses a reading; the
sampler draws those rarely. ``tag_contexts.py`` measures and writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .entries import Word
from .lexicon import TABLES, rows

START, END, OTHER, ANY = "start", "end", "other", "*"
BE = ("is", "are", "was", "were")
TABLE = TABLES / "contexts.txt"
HEAD = """\
# word form | part of speech | word before | words after | hard or easy
# How well the bundled English pipeline finds the reading in these surroundings. "*" is any; the
# more specific row wins; what no row covers is easy. Written by tag_contexts.py.

"""


class Context(NamedTuple):
    """A reading of a word form and its neighbours' parts of speech."""

    surface: str
    upos: str
    before: str
    after: str


def neighbour(word: Word | None, edge: str) -> str:
    """The part of speech of a neighbour (a form of "be" as it is), or the edge of the sentence."""
    if word is None or not word.text[0].isalpha():
        return edge
    return word.text if word.text in BE else word.upos or OTHER


def context(words: list[Word], place: int) -> Context:
    """The context of ``words[place]``."""
    before = words[place - 1] if place else None
    after = words[place + 1] if place + 1 < len(words) else None
    word = words[place]
    return Context(word.text.lower(), word.upos, neighbour(before, START), neighbour(after, END))


def wider(item: Context) -> tuple[Context, Context, Context]:
    """The context itself, without the word after, without both neighbours."""
    return item, item._replace(after=ANY), item._replace(before=ANY, after=ANY)


def is_hard(table: Mapping[Context, bool], item: Context) -> bool:
    """True if the most specific row for this context says hard."""
    return next((table[level] for level in wider(item) if level in table), False)


def measure(
    seen: Mapping[Context, int], hit: Mapping[Context, int], *, least: float, few: int
) -> dict[Context, bool]:
    """Make the table: a context is hard if less than ``least`` of its readings are found.

    A context seen fewer than ``few`` times is judged by the wider one. Only rows that differ from
    the wider one are kept.
    """
    total, found = Counter(), Counter()
    for item, number in seen.items():
        for level in wider(item):
            total[level] += number
            found[level] += hit.get(item, 0)
    table: dict[Context, bool] = {}
    for level in sorted(total, key=lambda c: (c[:2], c.before != ANY, c.after != ANY, c)):
        hard = found[level] / total[level] < least
        if total[level] >= few and hard != is_hard(table, level):
            table[level] = hard
    return table


def read_contexts(path: Path = TABLE) -> dict[Context, bool]:
    """Read the table."""
    return {
        Context(surface, upos, before, after): verdict == "hard"
        for surface, upos, before, afters, verdict in rows(path, 5)
        for after in afters.split()
    }


def write_contexts(table: Mapping[Context, bool], path: Path = TABLE) -> None:
    """Write the table, contexts that differ in the word after in one row."""
    afters: dict[tuple[str, ...], list[str]] = {}
    for item in sorted(table):
        verdict = "hard" if table[item] else "easy"
        afters.setdefault((*item[:3], verdict), []).append(item.after)
    lines = [
        " | ".join((*key[:3], " ".join(found), key[3])) + "\n" for key, found in afters.items()
    ]
    path.write_text(HEAD + "".join(lines), encoding="utf-8")

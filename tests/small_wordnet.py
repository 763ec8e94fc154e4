"""A tiny WordNet database in the official format (wndb(5WN)), of invented glosses.

Nouns: entity > animal > (dog = hound, cat), entity > (day <> night), entity > thing > car = auto;
verbs: move > (rise <> fall), buy = purchase; adjectives: good <> bad, big <> little,
large <> small, big = large, small = little, quick = fast; adverbs: quickly <> slowly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEADER = "  1 A tiny database; WordNet 0.1 Copyright by nobody.  \n"
LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
LEXICOGRAPHER = {"noun": 3, "verb": 38, "adj": 0, "adv": 2}
EXCEPTIONS = {
    "noun": "mice mouse\n",
    "verb": "bought buy\nfell fall\nrose rise\n",
    "adj": "",
    "adv": "",
}


@dataclass(frozen=True)
class Sense:
    """One synset: its words, its hypernym's first word, antonyms by word."""

    part: str
    words: tuple[str, ...]
    hypernym: str = ""
    antonyms: tuple[tuple[str, str], ...] = ()


SENSES = (
    Sense("noun", ("entity",)),
    Sense("noun", ("animal",), "entity"),
    Sense("noun", ("dog", "hound"), "animal"),
    Sense("noun", ("cat",), "animal"),
    Sense("noun", ("mouse",), "animal"),
    Sense("noun", ("thing",), "entity"),
    Sense("noun", ("car", "auto", "motor_car"), "thing"),
    Sense("noun", ("day",), "entity", (("day", "night"),)),
    Sense("noun", ("night",), "entity", (("night", "day"),)),
    Sense("verb", ("move",)),
    Sense("verb", ("rise", "climb"), "move", (("rise", "fall"),)),
    Sense("verb", ("fall",), "move", (("fall", "rise"),)),
    Sense("verb", ("buy", "purchase")),
    Sense("adj", ("good",), "", (("good", "bad"),)),
    Sense("adj", ("bad",), "", (("bad", "good"),)),
    Sense("adj", ("big", "large"), "", (("big", "little"), ("large", "small"))),
    Sense("adj", ("small", "little"), "", (("small", "large"), ("little", "big"))),
    Sense("adj", ("quick", "fast")),
    Sense("adv", ("quickly",), "", (("quickly", "slowly"),)),
    Sense("adv", ("slowly",), "", (("slowly", "quickly"),)),
)


def write_small_wordnet(folder: Path, senses: tuple[Sense, ...] = SENSES) -> Path:
    """Write the database's files into a new folder, as Debian has them (without ``lexnames``)."""
    folder.mkdir(parents=True)
    for part, letter in LETTERS.items():
        mine = [sense for sense in senses if sense.part == part]
        offsets = _offsets(mine, mine)
        lines = [_line(sense, offsets) for sense in mine]
        (folder / f"data.{part}").write_text(HEADER + "".join(lines), encoding="utf-8")
        rows = "".join(_index(mine, offsets, letter))
        (folder / f"index.{part}").write_text(HEADER + rows, encoding="utf-8")
        (folder / f"{part}.exc").write_text(EXCEPTIONS[part], encoding="utf-8")
    return folder


def _offsets(senses: list[Sense], mine: list[Sense]) -> dict[Sense, int]:
    """Return where each line begins; numbers have a fixed width, so a first guess tells."""
    guess = dict.fromkeys(senses, 0)
    found, place = {}, len(HEADER)
    for sense in mine:
        found[sense] = place
        place += len(_line(sense, guess))
    return found


def _line(sense: Sense, offsets: dict[Sense, int]) -> str:
    letter = LETTERS[sense.part]
    owner = {word: other for other in offsets for word in other.words}
    pointers = [f"! {offsets[owner[b]]:08d} {letter} {_place(sense, a)}{_place(owner[b], b)}"
                for a, b in sense.antonyms]  # fmt: skip
    if sense.hypernym:
        pointers.append(f"@ {offsets[owner[sense.hypernym]]:08d} {letter} 0000")
    pointers += [
        f"~ {offsets[other]:08d} {letter} 0000"
        for other in offsets
        if other.hypernym in sense.words and other.hypernym
    ]
    words = " ".join(f"{word} 0" for word in sense.words)
    frames = " 01 + 08 00" if sense.part == "verb" else ""
    return (
        f"{offsets[sense]:08d} {LEXICOGRAPHER[sense.part]:02d} {letter} {len(sense.words):02x} "
        f"{words} {len(pointers):03d}{''.join(f' {p}' for p in pointers)}{frames} | made up  \n"
    )


def _place(sense: Sense, word: str) -> str:
    return f"{sense.words.index(word) + 1:02x}"


def _index(senses: list[Sense], offsets: dict[Sense, int], letter: str) -> Iterator[str]:
    places = defaultdict(list)
    for sense in senses:
        for word in sense.words:
            places[word].append(offsets[sense])
    for word, found in sorted(places.items()):
        numbers = " ".join(f"{offset:08d}" for offset in found)
        yield f"{word} {letter} {len(found)} 0 {len(found)} {len(found)} {numbers}  \n"

"""NumWord: one number becomes another of the same form and similar size."""

import re
from collections.abc import Sequence
from random import Random

from ..english_forms import in_case_of
from .names import MONTHS
from .sentences import Change, Pair, Resources, TaggedSentence, one_exchanged

WORDS = (
    tuple("two three four five six seven eight nine ten eleven twelve".split()),
    tuple("thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()),
    tuple("twenty thirty forty fifty sixty seventy eighty ninety".split()),
    tuple("thousand million billion".split()),
)
CLASS_OF = {word: words for words in WORDS for word in words} | {"hundred": WORDS[-1]}
DIGITS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?|\d+(\.\d+)?")
JOINED_BEFORE = re.compile(r"\d\s?[-–/:]\s?$")  # part of a span, a date, a time or a score
JOINED_BEHIND = re.compile(r"\s?[-–/:]\s?\d")
YEAR = re.compile(r"1[1-9]\d\d|20\d\d")
LAST_DAY = 28
UNITS = 8  # two to nine
BACK, AHEAD = 30, 9  # limits of a year's change
TENS = re.compile(rf"\b({'|'.join(WORDS[2])})[-–\s]+$", re.IGNORECASE)  # twenty-two


def change_number(
    pair: Pair, numbers: Sequence[int], random: Random, resources: Resources
) -> Change | None:
    """Set the second sentence to the first, with one number changed.

    Source: Naik et al. (2018). TextFlint's NumWord changes the first digit as well, leaves years
    alone, and in half of the cases writes ``more than`` or ``less than`` instead.
    """
    first = pair[0]
    places = [i for i, part in enumerate(first.upos) if part == "NUM"]
    return one_exchanged(pair, places, random, lambda i: other_number(first, i, random))


def other_number(sentence: TaggedSentence, i: int, random: Random) -> str | None:
    """Return another number for word ``i``; None if it cannot change.

    ``one`` and ``1`` stay, and are not made: the noun next to them would have to change.
    """
    word, written = sentence.lower(i), sentence.words[i]
    first, last = sentence.spans[i]
    if word in CLASS_OF:
        known = CLASS_OF[word][:UNITS] if TENS.search(sentence.text[:first]) else CLASS_OF[word]
        return in_case_of(random.choice([other for other in known if other != word]), written)
    beside = (sentence.lower(i + k).rstrip(".") for k in (-2, -1, 1))  # of "Jan." without its dot
    joined = JOINED_BEFORE.search(sentence.text[:first]) or JOINED_BEHIND.match(sentence.text, last)
    if not DIGITS.fullmatch(word) or not word.isascii() or joined:
        return None
    if word.isdigit() and not MONTHS.isdisjoint(beside):
        if int(word) <= 31:
            options = [str(day) for day in range(2, LAST_DAY + 1) if day != int(word)]
            return random.choice(options)
    if YEAR.fullmatch(word):
        distance = random.choice([n for n in range(-BACK, AHEAD + 1) if n])
        return str(int(word) + distance)
    return _other_digit(word, random)


def _other_digit(word: str, random: Random) -> str | None:
    """Change the first digit that is not zero; a single digit stays above 1."""
    place = next((k for k, character in enumerate(word) if character in "123456789"), None)
    if place is None or word == "1":
        return None
    lowest = 2 if word.isdigit() and len(word) == 1 else 1
    options = [str(digit) for digit in range(lowest, 10) if str(digit) != word[place]]
    return word[:place] + random.choice(options) + word[place + 1 :]

"""SwapNamedEnt: names exchanged for other names of the file.

TextFlint takes entities of the same kind from lists. Here a name is exchanged for any other of as
many words, a place for a place. Within a pair, a word of a name always becomes the same word, in
both sentences and in parts of the name, so that what the sentences say of each other stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from .name_lists import Name, runs
from .pairs import Change, Pair, Resources, Rewriting, changed, exchanging
from .sentences import Sentence

TRIES = 10  # to find a name that does not stand in the pair


def swap_names(
    pair: Pair, numbers: Sequence[int], random: Random, resources: Resources
) -> Change | None:
    """Exchange every name of the sentences."""
    names = resources.names
    own = {name for number in numbers for _, name in runs(pair[number], names.words)}
    taken = {word for sentence in pair for word in sentence.words}
    exchange: dict[str, str] = {}
    for name in sorted(own, key=lambda name: (-len(name), name)):
        if any(word in exchange for word in name) or len(set(name)) < len(name):
            continue  # part of a longer name: its other words stay
        option = _other_name(names.like(name), taken, random)
        if option:
            exchange |= dict(zip(name, option))
            taken |= set(option)
    return changed(pair, {number: _renamed(pair[number], exchange) for number in numbers})


def _other_name(options: Sequence[Name], taken: set[str], random: Random) -> Name | None:
    """Draw a name of which no word is taken."""
    drawn = (random.choice(options) for _ in range(TRIES if options else 0))
    return next((name for name in drawn if taken.isdisjoint(name)), None)


def _renamed(sentence: Sentence, exchange: dict[str, str]) -> Rewriting | None:
    """Exchange words wherever they stand, however they are tagged there."""
    new = {i: exchange[word] for i, word in enumerate(sentence.words) if word in exchange}
    return exchanging(sentence, new) if new else None

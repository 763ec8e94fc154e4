"""The tree of a sentence, carried over to the same sentence with errors.

Words that stay keep their heads. A removed word hands its dependents to its own head; a new word
depends on the next word, or at the end on the one before. The result is the tree of an annotator
who knows the intended sentence, which no parser does.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ..corpora.conllu import Word
from ..errors import InputError
from .error_rules import WordEdit

_NEW = ("X", "dep")  # part of speech and relation of a new word


class CarriedWord(NamedTuple):
    """A word with its place in the tree."""

    # form, upos, relation: its columns
    form: str
    upos: str
    relation: str
    head: int  # number of its head from 1, or 0 for the root


def carried_tree(words: Sequence[Word], edits: Sequence[WordEdit]) -> list[CarriedWord]:
    """Return a sentence after edits, none of which touch, with its tree from before."""
    heads = _checked([word.head for word in words])
    forms, sources = _after(words, edits)
    places = {old: new for new, old in enumerate(sources, 1) if old is not None}  # from 0; from 1
    found = []
    for new, (form, old) in enumerate(zip(forms, sources), 1):
        if old is None:
            nearest = min(places.values(), key=lambda place: (place < new, abs(place - new)))
            found.append(CarriedWord(form, *_NEW, nearest))
            continue
        head = heads[old]
        while head and head - 1 not in places:
            head = heads[head - 1]
        place = places[head - 1] if head else 0
        found.append(CarriedWord(form, words[old].upos, words[old].relation, place))
    root, *others = (number for number, word in enumerate(found, 1) if not word.head)
    found[root - 1] = found[root - 1]._replace(relation="root")
    for number in others:  # their head, the root, was removed
        found[number - 1] = found[number - 1]._replace(head=root)
    return found


def _checked(heads: Sequence[int | None]) -> list[int]:
    """Return heads that form a tree with one root; refuse others."""
    for start in range(1, len(heads) + 1):
        seen, at = set(), start
        while at:
            head = heads[at - 1]
            if at in seen or head is None or head > len(heads):
                raise InputError(f"word {start}: no tree leads from it to a root")
            seen.add(at)
            at = head
    if sum(not head for head in heads) != 1:
        raise InputError(f"{sum(not head for head in heads)} roots in the place of one")
    return [head or 0 for head in heads]


def _after(words: Sequence[Word], edits: Sequence[WordEdit]) -> tuple[list[str], list[int | None]]:
    """Return the words after edits, and the old number of each, from 0, if any."""
    forms = [word.form for word in words]
    sources: list[int | None] = [*range(len(words))]
    for first, last, put, _ in sorted(edits, reverse=True):
        sources[first:last] = _aligned(forms[first:last], put, first)
        forms[first:last] = put
    return forms, sources


def _aligned(old: Sequence[str], new: Sequence[str], first: int) -> list[int | None]:
    """Return the old word of each new word: one of the same form, or else the next one left."""
    left = {first + i: form.casefold() for i, form in enumerate(old)}
    found: list[int | None] = []
    for form in new:
        same = next((i for i, other in left.items() if other == form.casefold()), None)
        found.append(same)
        if same is not None:
            del left[same]
    others = iter(left)
    return [next(others, None) if one is None else one for one in found]

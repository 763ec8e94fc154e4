"""SwapNamedEnt: names replaced by other names of the file.

TextFlint takes entities of the same kind from lists. Here a name is a run of proper nouns, because
a pipeline without entities has no others, and is replaced by another name of as many words, a place
by a place. Within a pair, a word of a name always becomes the same word, in both sentences and in
parts of the name, so that the relation of the sentences stays.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from random import Random

from .sentences import Change, Name, Names, Pair, Resources, TaggedSentence, changed, exchanging

MONTHS = frozenset(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
LOCATIVE = ("in", "near")
TRIES = 10  # to find a name that is not in the pair


def collect_names(sentences: Iterable[TaggedSentence]) -> Names:
    """Collect the names of a file, whatever the order of its sentences."""
    sentences = list(sentences)
    words = _name_words(sentences)
    seen: Counter[Name] = Counter()
    placed: Counter[Name] = Counter()
    for sentence in sentences:
        for start, name in runs(sentence, words):
            seen[name] += 1
            placed[name] += sentence.lower(start - 1) in LOCATIVE
    places = frozenset(name for name in seen if 2 * placed[name] >= seen[name])
    others: dict[tuple[int, bool], list[Name]] = {}
    for name in sorted(name for name in seen if len(set(name)) == len(name)):
        others.setdefault((len(name), name in places), []).append(name)
    return Names(words, places, others)


def _name_words(sentences: Sequence[TaggedSentence]) -> frozenset[str]:
    """Collect words that are mostly proper nouns, and never written small."""
    total = Counter(word for sentence in sentences for word in sentence.words)
    proper = Counter(
        word
        for sentence in sentences
        for word, part in zip(sentence.words, sentence.upos)
        if part == "PROPN" and is_name(word)
    )
    return frozenset(
        word for word, n in proper.items() if 2 * n > total[word] and word.lower() not in total
    )


def is_name(word: str) -> bool:
    """Return whether a proper noun has a capital, no digits, and is no month or day."""
    known = word.lower().rstrip(".") in MONTHS or word.lower() in DAYS
    return word[:1].isupper() and len(word) > 1 and word.replace(".", "").isalpha() and not known


def runs(sentence: TaggedSentence, words: Collection[str]) -> Iterator[tuple[int, Name]]:
    """Yield the runs of proper nouns among ``words``: number of the first word, and the name."""
    run: list[str] = []
    for i, (word, part) in enumerate(zip((*sentence.words, ""), (*sentence.upos, ""))):
        if part == "PROPN" and word in words:
            run.append(word)
        elif run:
            yield i - len(run), tuple(run)
            run = []


def swap_names(
    pair: Pair, numbers: Sequence[int], random: Random, resources: Resources
) -> Change | None:
    """Replace every name of the sentences."""
    names = resources.names
    own = {name for number in numbers for _, name in runs(pair[number], names.words)}
    taken = {word for sentence in pair for word in sentence.words}
    exchange: dict[str, str] = {}
    for name in sorted(own, key=lambda name: (-len(name), name)):
        if any(word in exchange for word in name) or len(set(name)) < len(name):
            continue  # part of a longer name: its other words stay
        alike = names.others.get((len(name), name in names.places), ())
        drawn = (random.choice(alike) for _ in range(TRIES if alike else 0))
        option = next((other for other in drawn if taken.isdisjoint(other)), None)
        if option:
            exchange |= dict(zip(name, option))
            taken |= set(option)
    return changed(pair, {number: exchanging(pair[number], exchange.get) for number in numbers})

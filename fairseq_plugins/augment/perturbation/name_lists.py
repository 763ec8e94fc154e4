"""The names of a file: runs of proper nouns, for a pipeline without entities knows no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .sentences import Sentence

Name = tuple[str, ...]
MONTHS = frozenset(
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
LOCATIVE = ("in", "near")


@dataclass(frozen=True)
class Names:
    """The names of a file.

    Args:
        words: of which they consist.
        places: those that are places.
        others: (number of words, whether a place) -> names, sorted.
    """

    words: Collection[str] = frozenset()
    places: Collection[Name] = frozenset()
    others: dict[tuple[int, bool], list[Name]] = field(default_factory=dict)

    def like(self, name: Name) -> Sequence[Name]:
        """Return names of the same kind and number of words."""
        return self.others.get((len(name), name in self.places), ())


def collect_names(sentences: Iterable[Sentence]) -> Names:
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


def _name_words(sentences: Sequence[Sentence]) -> frozenset[str]:
    """Collect words that are proper nouns more often than not, and never written small."""
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
    """Whether a proper noun has a capital, no digits, and is no month or day."""
    known = word.lower().rstrip(".") in MONTHS or word.lower() in DAYS
    return word[:1].isupper() and len(word) > 1 and word.replace(".", "").isalpha() and not known


def runs(sentence: Sentence, words: Collection[str]) -> Iterator[tuple[int, Name]]:
    """Yield the runs of proper nouns among ``words``: number of the first word, and the name."""
    run: list[str] = []
    for i, (word, part) in enumerate(zip((*sentence.words, ""), (*sentence.upos, ""))):
        if part == "PROPN" and word in words:
            run.append(word)
        elif run:
            yield i - len(run), tuple(run)
            run = []

"""Byte-pair merges, learnt from the counts of words (Sennrich et al. 2016).

The merges are those of subword-nmt. The most frequent pair of neighbouring symbols is merged first;
of equally frequent pairs, the pair with the last symbols in code point order. subword-nmt compares
all pairs before each merge; here a heap gives the pair.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from heapq import heapify, heappush, heapreplace
from itertools import pairwise

END = "</w>"  # end of a word, part of its last symbol
LEAST = 2  # least occurrences of a merged pair
BEFORE, AFTER = " ", "\n"  # around each symbol; words contain neither


class _Falling(tuple[str, str]):
    """A pair that precedes pairs of earlier strings."""

    __slots__ = ()
    __lt__ = tuple.__gt__


class _Pairs:
    """The pairs in words: their counts, and the words that may contain each."""

    def __init__(self, words: Mapping[str, int]) -> None:
        symbols = ((*word[:-1], word[-1] + END) for word in words)
        self._words = [_written(*one) for one in symbols]
        self._weights = [*words.values()]
        self._counts: Counter[tuple[str, str]] = Counter()
        self._places: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
        for number, (word, weight) in enumerate(zip(self._words, self._weights)):
            for pair in pairwise(word.split()):
                self._counts[pair] += weight
                self._places[pair].add(number)
        self._heap = [(-count, _Falling(pair)) for pair, count in self._counts.items()]
        heapify(self._heap)

    def most_frequent(self) -> tuple[str, str] | None:
        """Return the next pair to merge, or None if each occurs once."""
        while self._heap:
            count, pair = self._heap[0]
            now = self._counts[pair]
            if now == -count:
                return pair if now >= LEAST else None
            heapreplace(self._heap, (-now, pair))  # counts fall, unless `merge` pushed the pair
        return None

    def merge(self, pair: tuple[str, str]) -> None:
        """Replace a pair by one symbol everywhere."""
        merged = "".join(pair)
        separate, joined = _written(*pair), _written(merged)
        risen = set()
        for number in self._places.pop(pair):
            word, weight = self._words[number], self._weights[number]
            if (place := word.find(separate)) < 0:
                continue
            self._words[number] = changed = word.replace(separate, joined)
            first = max(0, word.rfind(BEFORE, 0, place))  # the pair before changes too
            for one in pairwise(word[first:].split()):
                self._counts[one] -= weight
            for one in pairwise(changed[first:].split()):
                self._counts[one] += weight
                if merged in one:
                    self._places[one].add(number)
                    risen.add(one)
        for one in risen:
            heappush(self._heap, (-self._counts[one], _Falling(one)))


def _written(*symbols: str) -> str:
    return "".join(f"{BEFORE}{symbol}{AFTER}" for symbol in symbols)


def learn_merges(words: Mapping[str, int], most: int) -> Iterator[tuple[str, str]]:
    """Yield at most ``most`` merges of the symbols in words without white space."""
    pairs = _Pairs(words)
    for _ in range(most):
        pair = pairs.most_frequent()
        if pair is None:
            return
        yield pair
        pairs.merge(pair)

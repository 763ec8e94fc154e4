"""The similarity of words of two sentences by WordNet (Xia et al. 2021, "UER-BERT").

The paper multiplies BERT's scores in the first layer by a matrix S, which its released code defines
(xiatingyu/Bert_sim, ``get_similarity.py``): 1 between words of one sentence, so that their scores
stay BERT's; equal for all wordpieces of a word; and between words of two sentences

    S = 1                  if one is among the lemmas of the other's synsets (a synonym)
    S = mean of wup(s, t)  over all pairs of their senses, of any part of speech, both ways round
    S = 0                  if WordNet lacks one of them, or no two senses have a common ancestor

    wup(s, t) = 2 depth(c) / (steps(s, c) + steps(t, c) + 2 depth(c))

with c the lowest common ancestor of s and t: Wu and Palmer's similarity (1994) as in NLTK. Four
things differ here. Special tokens have 1 with all tokens (there [CLS] and [SEP] have 0 with one or
both sentences). Equal spellings, case apart, always have 1 (there only if WordNet lacks the word,
or has exactly this form). Punctuation is removed only from the ends of a word (there everywhere in
the text: ``can't`` becomes ``cant``). S is rounded to 1/255, one byte per pair of words.
"""

import hashlib
import logging
import os
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import sha256
from .wordnet import FILES, WordNet, find_wordnet, open_wordnet

logger = logging.getLogger(__name__)

RULE = "mean-wup-1"  # a new rule gets a new name, to distinguish its folders
FULL = 255  # the byte of similarity 1
ROOT = "*ROOT*"  # NLTK's own root above verbs, adjectives and adverbs, which share none
CACHED, LONGEST = 1 << 20, 100  # pairs of words; most characters of a word kept as text


@dataclass(frozen=True)
class Sense:
    """The parts of a synset for `wup`."""

    name: str  # NLTK's name
    part: str  # part of speech, satellite adjectives as adjectives
    # ancestor -> steps on the shortest way to the ancestor; a sense is its own ancestor
    steps: dict[str, int]
    ranked: tuple[str, ...]  # ancestors, farthest from the root first
    # ancestor -> synsets on the longest way from the root to the ancestor, both ends counted
    depths: dict[str, int]
    to_root: int  # steps to `ROOT`, the common ancestor of senses of two parts of speech


@dataclass(frozen=True)
class Entry:
    """A word in WordNet: its senses, and their lemmas in lower case; both may be empty."""

    senses: tuple[Sense, ...]
    lemmas: frozenset[str]


def wup(first: Sense, second: Sense) -> float | None:
    """Return Wu and Palmer's similarity of two senses, in (0, 1]; None without a common ancestor.

    Equals ``first.wup_similarity(second)`` of NLTK 3.10, which may differ slightly with swapped
    senses:
    among several ancestors equally far from the root, ``first`` itself counts.
    """
    if first.part != second.part:
        return 2 / (first.to_root + second.to_root + 2)
    for name in first.ranked:
        steps = second.steps.get(name)
        if steps is not None:
            double = 2 * first.depths[name]
            return double / (first.steps[name] + steps + double)
    return None


class WordSimilarity:
    """Cached similarity of words by an installed WordNet.

    Worker processes, forked or not, open their own database.

    Args:
        folder: of the database; empty for `text.wordnet.find_wordnet`.
    """

    def __init__(self, folder: str | Path = "") -> None:
        self.folder = find_wordnet(folder or None)
        self._opened: WordNet | None = None
        self._owner = 0  # process number
        self._ancestors = Ancestors()
        self._entry = lru_cache(maxsize=CACHED // 8)(self._look_up)
        self._level = lru_cache(maxsize=CACHED)(self._compare)

    def __reduce__(self) -> Any:
        """Pickle the folder alone."""
        return WordSimilarity, (str(self.folder),)

    @property
    def wordnet(self) -> WordNet:
        """The database, opened at first use; a forked process gets open files of its own."""
        if self._opened is None:
            self._opened = open_wordnet(self.folder)
        elif self._owner != os.getpid():
            self._opened.reader._data_file_map.clear()
        self._owner = os.getpid()
        return self._opened

    def identity(self) -> dict[str, str]:
        """Return the database and rule behind the similarities, for the manifest."""
        digests = "".join(sha256(self.folder / name) for name in FILES)
        return {
            "file": str(self.folder),
            "sha256": hashlib.sha256(digests.encode()).hexdigest(),
            "version": self.wordnet.version,
            "rule": RULE,
        }

    def of(self, first: str, second: str) -> int:
        """Return the similarity of two words, from 0 to `FULL`; symmetric."""
        return self.table([first], [second])[0]

    def table(self, first: Sequence[str], second: Sequence[str]) -> list[int]:
        """Compare the W words of one sentence with the V words of another.

        Returns:
            V W numbers from 0 to `FULL`: for each of the V words W, one after another.
        """
        columns, level = [*map(_key, first)], self._level
        return [level(a, b) if a < b else level(b, a) for b in map(_key, second) for a in columns]

    def _compare(self, first: str, second: str) -> int:
        """Compare two spellings in alphabetical order."""
        if first == second:
            return FULL
        one, two = self._entry(first), self._entry(second)
        if not one.senses or not two.senses:
            return 0
        if first in two.lemmas or second in one.lemmas:
            return FULL
        return round(FULL * _mean(one.senses, two.senses))

    def _look_up(self, word: str) -> Entry:
        synsets = self.wordnet.reader.synsets(word)
        lemmas = (name.lower() for synset in synsets for name in synset.lemma_names())
        return Entry(tuple(map(self._ancestors.sense, synsets)), frozenset(lemmas))


def reopen_similarity(prepared: Path, inputs: Mapping[str, Any]) -> WordSimilarity:
    """Open the WordNet that compares words as in a prepared folder, by the inputs of its manifest.

    Another version causes a warning.
    """
    then = inputs.get("wordnet", {})
    place = str(then.get("file", ""))
    try:
        found = WordSimilarity(place if Path(place).is_dir() else "")
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"the model reads the similarity of words, which {prepared} has from WordNet, so raw "
            f"text needs WordNet, too: {error} (or by $WNSEARCHDIR)"
        ) from None
    now = found.identity()
    if any(now[name] != then.get(name) for name in ("sha256", "rule")):
        logger.warning(
            "ANOTHER WORDNET: %s was prepared with version %s by rule %s, raw text is now compared "
            "with version %s by rule %s; predictions can differ from those of the prepared folder",
            *(prepared, then.get("version"), then.get("rule"), now["version"], now["rule"]),
        )
    return found


def spelling(word: str) -> str:
    """Return a word in lower case without punctuation at its ends, unless all is punctuation."""
    word = word.lower()
    return word.strip(string.punctuation) or word


def _key(word: str) -> str:
    """Return a spelling; for a long spelling, which no dictionary has, its digest."""
    found = spelling(word)
    whole = found.encode("utf-8", "surrogatepass")
    return found if len(found) <= LONGEST else hashlib.sha256(whole).hexdigest()


def _mean(first: Sequence[Sense], second: Sequence[Sense]) -> float:
    """Return the mean similarity of all comparable pairs of senses, both ways; 0 for none."""
    total, count = 0.0, 0
    for one in first:
        for two in second:
            if one.part != two.part:  # most pairs, symmetric
                total, count = total + 4 / (one.to_root + two.to_root + 2), count + 2
                continue
            for score in (wup(one, two), wup(two, one)):
                if score is not None:
                    total, count = total + score, count + 1
    return total / count if count else 0.0


class Ancestors:
    """Collects the parts of NLTK's synsets for `wup`, every synset once."""

    def __init__(self) -> None:
        self._senses: dict[str, Sense] = {}
        self._ways: dict[str, dict[str, int]] = {ROOT: {ROOT: 0}}
        self._depths: dict[str, tuple[int, int]] = {ROOT: (0, 1)}  # fewest steps, most synsets
        self._open: set[str] = set()  # synsets in progress, to find cycles

    def sense(self, synset: Any) -> Sense:
        """Return a synset as a `Sense`."""
        name = synset.name()
        if name not in self._senses:
            self._senses[name] = self._gather(synset)
        return self._senses[name]

    def _gather(self, synset: Any) -> Sense:
        own, part = synset.name(), synset.pos().replace("s", "a")
        mine = self._above(synset)
        to_root = max(mine.values()) + 1 if part == "n" else mine[ROOT]
        # NLTK takes the shortest way over any common ancestor, not only the lowest
        steps = {
            name: min(mine[key] + way for key, way in self._ways[name].items()) for name in mine
        }
        ranked = sorted(steps, key=lambda name: (-self._depths[name][0], name != own, name))
        depths = {name: self._depths[name][1] for name in steps}
        return Sense(own, part, steps, tuple(ranked), depths, to_root)

    def _above(self, synset: Any) -> dict[str, int]:
        """Return a synset's ancestors, itself included, with the steps of the shortest ways.

        Nouns share a root; all others get `ROOT`, one step above the farthest ancestor.
        """
        name = synset.name()
        if name in self._ways:
            return self._ways[name]
        parents = (*synset.hypernyms(), *synset.instance_hypernyms())
        if name in self._open:
            raise InputError(f"WordNet is damaged: {name} is among its own ancestors")
        self._open.add(name)
        ways = [self._above(parent) for parent in parents]
        self._open.remove(name)
        found = {name: 0}
        for key, steps in ((key, way[key] + 1) for way in ways for key in way if key != ROOT):
            found[key] = min(found.get(key, steps), steps)
        if synset.pos() != "n":
            found[ROOT] = max(found.values()) + 1
        depths = [self._depths[parent.name()] for parent in parents] or [(-1, 0)]
        self._depths[name] = min(few for few, _ in depths) + 1, max(n for _, n in depths) + 1
        self._ways[name] = found
        return found

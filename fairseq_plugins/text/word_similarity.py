"""How similar words of two sentences are, by WordNet (Xia et al. 2021, "UER-BERT").

The paper multiplies BERT's scores in the first layer by a matrix S. What S is, its released code
decides (xiatingyu/Bert_sim, ``get_similarity.py``): 1 between words of one sentence, whose scores
so stay BERT's; the same for all wordpieces of a word; and between words of two sentences

    S = 1                  if one is among the lemmas of the other's synsets (a synonym)
    S = mean of wup(s, t)  over all pairs of their senses, of any part of speech, both ways round
    S = 0                  if WordNet lacks one of them, or no two senses have a common ancestor

    wup(s, t) = 2 depth(c) / (steps(s, c) + steps(t, c) + 2 depth(c))

with c the lowest common ancestor of s and t, which is Wu and Palmer's similarity (1994) as NLTK has
it. Four things differ here. Special tokens have 1 with all others (there [CLS] and [SEP] have 0
with one sentence or both). The same spelling, case apart, is always 1 (there only where WordNet
lacks the word, or has it in just this form). Punctuation goes from the ends of a word alone (there
from everywhere in the text, which makes ``cant`` of ``can't``). S is rounded to 1/255, one byte a
pair of words.
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

RULE = "mean-wup-1"  # another rule gets another name, so that its folders are told apart
FULL = 255  # the byte of similarity 1
ROOT = "*ROOT*"  # NLTK's own root above verbs, adjectives and adverbs, which have none in common
CACHED, LONGEST = 1 << 20, 100  # pairs of words; characters of a word that is kept as it is


@dataclass(frozen=True)
class Sense:
    """What `wup` needs to know of a synset."""

    name: str  # NLTK's name of it
    part: str  # part of speech, satellite adjectives as adjectives
    # ancestor -> steps to it on the shortest way; the sense itself is its own
    steps: dict[str, int]
    ranked: tuple[str, ...]  # its ancestors, those farthest from the root first
    # ancestor -> synsets on the longest way to it from the root, both ends counted
    depths: dict[str, int]
    to_root: int  # steps to `ROOT`, which senses of two parts of speech have in common


@dataclass(frozen=True)
class Entry:
    """A word in WordNet: its senses, and the lemmas of these in lower case; both may be empty."""

    senses: tuple[Sense, ...]
    lemmas: frozenset[str]


def wup(first: Sense, second: Sense) -> float | None:
    """Return Wu and Palmer's similarity of two senses, above 0 up to 1; None without an ancestor.

    It is ``first.wup_similarity(second)`` of NLTK 3.10, which may differ a little the other way
    round: of several ancestors equally far from the root, ``first`` itself counts.
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
    """Similarity of words by an installed WordNet, remembered.

    It may travel to worker processes, forked or not: each opens the database for itself.

    Args:
        folder: of the database; empty: where `text.wordnet.find_wordnet` finds one.
    """

    def __init__(self, folder: str | Path = "") -> None:
        self.folder = find_wordnet(folder or None)
        self._opened: WordNet | None = None
        self._owner = 0  # process number
        self._ancestors = Ancestors()
        self._entry = lru_cache(maxsize=CACHED // 8)(self._look_up)
        self._level = lru_cache(maxsize=CACHED)(self._compare)

    def __reduce__(self) -> Any:
        """Travel as the folder alone."""
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
        """Return what similarities follow from, as the manifest keeps it: database and rule."""
        digests = "".join(sha256(self.folder / name) for name in FILES)
        return {
            "file": str(self.folder),
            "sha256": hashlib.sha256(digests.encode()).hexdigest(),
            "version": self.wordnet.version,
            "rule": RULE,
        }

    def of(self, first: str, second: str) -> int:
        """Return how similar two words are, from 0 to `FULL`; the same the other way round."""
        return self.table([first], [second])[0]

    def table(self, first: Sequence[str], second: Sequence[str]) -> list[int]:
        """Compare the W words of one sentence with the V words of another.

        Returns:
            V W numbers from 0 to `FULL`: for each of the V words W, one after another.
        """
        columns, level = [*map(_key, first)], self._level
        return [level(a, b) if a < b else level(b, a) for b in map(_key, second) for a in columns]

    def _compare(self, first: str, second: str) -> int:
        """Compare two spellings; the first is not behind the second in the alphabet."""
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

    Another one is warned of.
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
    """Return a word in lower case without punctuation at its ends, unless it is nothing else."""
    word = word.lower()
    return word.strip(string.punctuation) or word


def _key(word: str) -> str:
    """Return a spelling; for a long one, which is in no dictionary, its digest."""
    found = spelling(word)
    whole = found.encode("utf-8", "surrogatepass")
    return found if len(found) <= LONGEST else hashlib.sha256(whole).hexdigest()


def _mean(first: Sequence[Sense], second: Sequence[Sense]) -> float:
    """Return the mean similarity of all pairs of senses, both ways; 0 where none is defined."""
    total, count = 0.0, 0
    for one in first:
        for two in second:
            if one.part != two.part:  # most pairs, and the same both ways
                total, count = total + 4 / (one.to_root + two.to_root + 2), count + 2
                continue
            for score in (wup(one, two), wup(two, one)):
                if score is not None:
                    total, count = total + score, count + 1
    return total / count if count else 0.0


class Ancestors:
    """Gathers what `wup` needs from NLTK's synsets, every synset once."""

    def __init__(self) -> None:
        self._senses: dict[str, Sense] = {}
        self._ways: dict[str, dict[str, int]] = {ROOT: {ROOT: 0}}
        self._depths: dict[str, tuple[int, int]] = {ROOT: (0, 1)}  # fewest steps, most synsets
        self._open: set[str] = set()  # those whose ancestors are being gathered

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
        # NLTK takes the shortest way over any common ancestor, which need not be the lowest one
        steps = {
            name: min(mine[key] + way for key, way in self._ways[name].items()) for name in mine
        }
        ranked = sorted(steps, key=lambda name: (-self._depths[name][0], name != own, name))
        depths = {name: self._depths[name][1] for name in steps}
        return Sense(own, part, steps, tuple(ranked), depths, to_root)

    def _above(self, synset: Any) -> dict[str, int]:
        """Return a synset's ancestors, itself among them, with the steps of the shortest ways.

        Nouns are below one root of their own; all others get `ROOT`, one step above the farthest.
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

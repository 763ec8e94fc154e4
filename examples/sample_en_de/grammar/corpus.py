"""Draw a corpus: distinct sentence pairs, each around an ambiguous word, all words alike often."""

from __future__ import annotations

from typing import NamedTuple

from . import english, german
from .ambiguity import Ambiguity, Occurrence, Sense
from .dice import Dice
from .lexicon import Lexicon, Word, read_lexicon
from .sentences import SentenceSampler
from .text import Line, join

SHORTEST, LONGEST = 4, 18
TRIES = 2000
PERCEPTION = ("verb:see", "verb:hear", "verb:watch", "verb:help")
SEVERAL_READINGS = ("NOUN", "ADJ", "NUM")


class Pair(NamedTuple):
    """A sentence pair and its ambiguous words."""

    english: str
    german: str
    ambiguous: list[Occurrence]


def word_count(line: Line) -> int:
    """Number of words, as spaces separate them."""
    return len(line.text.split())


def unclear(words: list[Word], ambiguity: Ambiguity) -> bool:
    """True for "her" where English leaves open whose or to whom ("saw her ring")."""
    for before, her, after in zip([Word(""), *words], words, [*words[1:], Word("")]):
        if her.key == "pronoun:her" and (after.upos in SEVERAL_READINGS or after.text == "well"):
            return True
        doubtful = ambiguity.is_ambiguous(after) and before.key in PERCEPTION
        if her.key == "possessive:her" and doubtful:
            return True
    return False


class CorpusSampler:
    """Draws pairs one after the other."""

    def __init__(self, seed: int, lexicon: Lexicon | None = None) -> None:
        lexicon = lexicon or read_lexicon()
        self.dice = Dice(seed)
        self.ambiguity = Ambiguity(lexicon)
        self.sentences = SentenceSampler(lexicon, self.dice)
        self.seen: set[str] = set()

    def pair(self, word: str, sense: Sense, keys: list[str]) -> Pair:
        """Draw a new pair with ``word`` in this reading.

        Raises:
            RuntimeError: the grammar has no further sentence with it.
        """
        for _ in range(TRIES):
            pair = self.attempt(self.dice.pick(keys))
            if pair is None or not {pair.english, pair.german}.isdisjoint(self.seen):
                continue
            if any((item.word, item.upos, item.role) == (word, *sense) for item in pair.ambiguous):
                self.seen |= {pair.english, pair.german}
                return pair
        raise RuntimeError(f"no further sentence with {word!r} ({sense.upos} {sense.role})")

    def attempt(self, key: str) -> Pair | None:
        """Draw one sentence, None if it leads nowhere or does not please."""
        try:
            sentence = self.sentences.sentence(key)
        except LookupError:
            return None
        words = english.sentence_words(sentence)
        first, second = join(words), join(german.sentence_words(sentence))
        if unclear(words, self.ambiguity) or not SHORTEST <= word_count(first) <= LONGEST:
            return None
        return Pair(first.text, second.text, self.ambiguity.occurrences(first, second))

    def pairs(self, number: int) -> list[Pair]:
        """Draw ``number`` distinct pairs in random order."""
        targets = self.ambiguity.targets()
        found = [self.pair(*targets[count % len(targets)]) for count in range(number)]
        self.dice.shuffle(found)
        return found

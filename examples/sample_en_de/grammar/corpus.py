"""Draw a corpus: distinct sentence pairs, each around an ambiguous word in one reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from . import english_sentences as english
from . import german_sentences as german
from .ambiguity import Ambiguity, Occurrence
from .contexts import Context, context, is_hard, read_contexts
from .dice import Dice
from .entries import Word
from .lexicon import read_lexicon
from .sentences import SentenceSampler
from .text import Line, join

SHORTEST, LONGEST = 4, 12
TRIES = 2000
PERCEPTION = ("verb:see", "verb:hear", "verb:watch", "verb:help")
GIVING = ("verb:give", "verb:hand", "verb:send", "verb:show")
USUAL = 6  # how often another reading is drawn for training where the verb is drawn once


class Pair(NamedTuple):
    """A sentence pair, its ambiguous words, and the contexts of those."""

    english: str
    german: str
    ambiguous: list[Occurrence]
    contexts: list[Context]


def word_count(line: Line) -> int:
    """Number of words, as spaces separate them."""
    return len(line.text.split())


def unclear(words: list[Word], ambiguity: Ambiguity) -> bool:
    """True where the reader stumbles: "saw her ring", "the men that we needed fish"."""
    for before, word, after in zip([Word(""), *words], words, [*words[1:], Word("")]):
        if word.upos == before.upos == "VERB" and ambiguity.is_ambiguous(word):
            return True
        if word.text == "her" and before.key in GIVING and after.upos in ("NOUN", "ADJ", "NUM"):
            return True
        if word.text == "her" and before.key in PERCEPTION and ambiguity.is_ambiguous(after):
            return True
    return False


class CorpusSampler:
    """Draws pairs one after the other."""

    def __init__(self, seed: int, table: Mapping[Context, bool] | None = None) -> None:
        lexicon = read_lexicon()
        self.table = read_contexts() if table is None else table
        self.dice = Dice(seed)
        self.ambiguity = Ambiguity(lexicon)
        self.sentences = SentenceSampler(lexicon, self.dice, self.ambiguity.entries())
        self.seen: set[str] = set()

    def pair(self, word: str, upos: str, keys: list[str]) -> Pair:
        """Draw a new pair with ``word`` as this part of speech.

        Raises:
            RuntimeError: the grammar has no further sentence with it.
        """
        for tries in range(TRIES):
            pair = self.attempt(self.dice.pick(keys), hard=tries > TRIES // 2)
            if pair is None or not {pair.english, pair.german}.isdisjoint(self.seen):
                continue
            if any((item.word, item.upos) == (word, upos) for item in pair.ambiguous):
                self.seen |= {pair.english, pair.german}
                return pair
        raise RuntimeError(f"no further sentence with {word!r} ({upos})")

    def attempt(self, key: str, hard: bool) -> Pair | None:
        """Draw one sentence; None if it leads nowhere, or is harder to tag than wished."""
        try:
            sentence = self.sentences.sentence(key)
        except LookupError:
            return None
        words = english.sentence_words(sentence)
        first, second = join(words), join(german.sentence_words(sentence))
        if unclear(words, self.ambiguity) or not SHORTEST <= word_count(first) <= LONGEST:
            return None
        contexts = self.contexts(first)
        if not hard and any(is_hard(self.table, item) for item in contexts):
            return None
        found = self.ambiguity.occurrences(first, second)
        return Pair(first.text, second.text, found, contexts)

    def contexts(self, line: Line) -> list[Context]:
        """The contexts of the ambiguous words, in order."""
        words = [word for _, word in line.words]
        places = [n for n, word in enumerate(words) if self.ambiguity.is_ambiguous(word)]
        return [context(words, n) for n in places]

    def pairs(self, number: int, *, usual: bool) -> list[Pair]:
        """Draw ``number`` distinct pairs in random order: around verbs alone, or (``usual``) around
        every reading, verbs least often."""
        targets = self.ambiguity.targets()
        verbs = [target for target in targets if target[1] == "VERB"]
        others = [target for target in targets if target[1] != "VERB"]
        targets = verbs + others * USUAL if usual else verbs
        found = [self.pair(*targets[count % len(targets)]) for count in range(number)]
        self.dice.shuffle(found)
        return found

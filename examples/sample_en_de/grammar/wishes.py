"""Turn the wish for an entry of the lexicon into a frame that can grant it."""

from __future__ import annotations

from functools import cache

from .clauses import ClauseSampler
from .entries import Adjective, Frame, Noun, Phrase, Verb
from .nominals import Wish

Entry = Noun | Verb | Adjective | Phrase
PHRASE_USES = {"time": "t", "span": "s"}


class WishSampler:
    """Prepares the samplers for a sentence with a wished entry."""

    def __init__(self, clauses: ClauseSampler) -> None:
        self.clauses = clauses
        self.dice, lexicon = clauses.dice, clauses.lexicon
        self.lexicon = lexicon
        self.frames = cache(self.candidates)
        entries: list[Entry] = [*lexicon.nouns.values(), *lexicon.verbs.values()]
        self.entries: dict[str, Entry] = {e.key: e for e in (*entries, *lexicon.adjectives)}
        for phrase in lexicon.phrases:
            self.entries |= {word.key: phrase for word in phrase.english if word.key}

    def frame(self, key: str) -> Frame:
        """Wish for the entry ``key`` and draw a frame that can grant it."""
        entry = self.entries.get(key)
        self.clauses.phrase = entry if isinstance(entry, Phrase) else None
        wish = self.wish(entry)
        self.clauses.nominals.start(wish)
        return self.of_a_verb(self.frames(key, wish.noun, wish.predicate))

    def candidates(self, key: str, noun: Noun | None, predicate: bool) -> list[Frame]:
        """The frames that can grant a wish (for ``predicate``, with an adjective after "be")."""
        entry = self.entries.get(key)
        frames = [frame for frame in self.lexicon.frames if self.grants(frame, key, entry)]
        if predicate:
            return [f for f in frames if f.has("adjective") and f.subjects & noun.tags]
        return [f for f in frames if noun is None or self.has_room(f, noun)]

    def wish(self, entry: Entry | None) -> Wish:
        """The wish for a noun, or for an adjective with a noun it suits."""
        if isinstance(entry, Noun):
            return Wish(noun=entry)
        if isinstance(entry, Adjective):
            noun = self.dice.pick(self.lexicon.nouns_of(entry.tags))
            after_be = not entry.attribute or self.dice.chance(0.3)
            return Wish(noun, entry, predicate=bool(entry.predicate) and after_be)
        return Wish()

    def grants(self, frame: Frame, key: str, entry: Entry | None) -> bool:
        """True if the frame allows the entry, as far as that is no noun."""
        if isinstance(entry, Verb):
            return frame.verb is entry
        if isinstance(entry, Phrase):
            return PHRASE_USES.get(entry.kind, "=" + entry.group) in frame.uses
        if key == "preposition:like":
            return bool(frame.marked("~")) or any(slot.german == "wie" for slot in frame.slots)
        return True

    def has_room(self, frame: Frame, noun: Noun) -> bool:
        """True if the noun may be subject, object or profession."""
        profession = frame.has("job") and "job" in noun.tags
        return bool(frame.subjects & noun.tags) or frame.takes(noun) or profession

    def of_a_verb(self, frames: list[Frame]) -> Frame:
        """Draw a verb, then one of its frames; LookupError if there is none."""
        verbs = {frame.verb.key: frame.verb for frame in frames}
        verb = self.clauses.nominals.drawn([verbs[key] for key in sorted(verbs)])
        return self.dice.pick([frame for frame in frames if frame.verb is verb])

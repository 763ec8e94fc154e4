"""The words of the grammar, read from the tables in ``lexicon/``.

Each entry holds its English and its German forms, so nothing is guessed from spelling. An entry's
``key`` ties an English word of a sentence to the German word that translates it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

TABLES = Path(__file__).parent / "lexicon"
VOWELS = "aeiou"


class Word(NamedTuple):
    """A word of a sentence: spelling, part of speech, key of the entry it comes from."""

    text: str
    upos: str = ""
    key: str = ""


@dataclass(frozen=True)
class Noun:
    """A noun; ``singular`` and ``plural`` are English words with their parts of speech."""

    key: str
    singular: tuple[Word, ...]
    plural: tuple[Word, ...]
    german: str
    gender: str
    german_plural: str
    oblique: str
    genitive: str
    determiners: str
    tags: frozenset[str]


@dataclass(frozen=True)
class Verb:
    """A verb. ``english``: base, he, past, participle, -ing; ``german``: infinitive without
    prefix, ich, du, er, past, participle, imperative."""

    key: str
    english: tuple[str, ...]
    particle: Word | None
    particle_first: bool
    prefix: str
    german: tuple[str, ...]
    auxiliary: str

    @property
    def marks_particle(self) -> bool:
        """True if the particle, not the verb, is what the German prefix translates."""
        return self.particle is not None and not self.particle_first


@dataclass(frozen=True)
class Modal:
    """``will`` or a modal verb: English form; German infinitive, ich, du, er."""

    key: str
    english: str
    german: tuple[str, ...]
    negatable: bool


@dataclass(frozen=True)
class Adjective:
    """An adjective (or a material noun used as one); ``predicate`` may be empty."""

    key: str
    english: str
    predicate: str
    stem: str
    upos: str
    tags: frozenset[str]
    determiners: frozenset[str]


@dataclass(frozen=True)
class Phrase:
    """A fixed adverbial in both languages."""

    kind: str
    group: str
    english: tuple[Word, ...]
    german: tuple[Word, ...]


@dataclass(frozen=True)
class Slot:
    """What a verb takes: ``kind`` is acc, dat, prep, at, to, city, adjective, job or a clause."""

    kind: str
    tags: frozenset[str] = frozenset()
    english: str = ""
    german: str = ""
    case: str = ""


@dataclass(frozen=True)
class Frame:
    """One use of a verb: who does it, to what, with which adverbials."""

    verb: Verb
    subjects: frozenset[str]
    slots: tuple[Slot, ...]
    uses: frozenset[str]


@dataclass(frozen=True)
class PlaceName:
    """A preposition with the noun it goes with."""

    groups: frozenset[str]
    english: str
    german: str
    case: str
    noun: Noun


@dataclass
class Lexicon:
    """All tables."""

    nouns: dict[str, Noun]
    verbs: dict[str, Verb]
    modals: dict[str, Modal]
    adjectives: list[Adjective]
    phrases: list[Phrase]
    frames: list[Frame]
    places: list[PlaceName]
    by_tag: dict[str, list[Noun]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for noun in self.nouns.values():
            for tag in sorted(noun.tags):
                self.by_tag.setdefault(tag, []).append(noun)

    def nouns_of(self, tags: frozenset[str]) -> list[Noun]:
        """Return the nouns that carry one of ``tags``, in the order of the table."""
        return [noun for noun in self.nouns.values() if noun.tags & tags]


def rows(path: Path, width: int) -> Iterator[tuple[str, ...]]:
    """Read the rows of a table; "-" becomes the empty string.

    Raises:
        ValueError: a row has another number of columns than ``width``.
    """
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = tuple("" if cell.strip() == "-" else cell.strip() for cell in line.split("|"))
        if len(cells) != width:
            raise ValueError(f"{path}:{number}: {len(cells)} columns instead of {width}: {line!r}")
        yield cells


def tagged_words(text: str, upos: str, key: str) -> tuple[Word, ...]:
    """Split ``a b/ADP``: words with their part of speech, ``upos`` where none is given ("/_" also
    hides the word from the count of ambiguous words, as does any other part of speech)."""
    words = []
    for item in text.split():
        word, _, own = item.partition("/")
        words.append(Word(word, own or upos, "" if own else key))
    return tuple(words)


def bracketed(text: str, key: str) -> tuple[Word, ...]:
    """Split ``in [May/PROPN]``: the n-th bracketed word of each language gets the key ``key``n."""
    words: list[Word] = []
    found = 0
    for item in text.split():
        if item.startswith("["):
            word, _, upos = item.strip("[]").partition("/")
            words.append(Word(word, upos, f"{key}{found}"))
            found += 1
        else:
            words.append(Word(item))
    return tuple(words)


def read_nouns() -> dict[str, Noun]:
    """Read ``nouns.txt``; a noun's own name is one of its tags."""
    nouns = {}
    for row in rows(TABLES / "nouns.txt", 9):
        english, plural, german, gender, german_plural, oblique, genitive, dets, tags = row
        key = "noun:" + " ".join(item.partition("/")[0] for item in english.split())
        name = key[5:].replace(" ", "-")
        nouns[key[5:]] = Noun(
            key,
            tagged_words(english, "NOUN", key),
            tagged_words(plural, "NOUN", key),
            german,
            gender,
            german_plural,
            oblique or german,
            genitive,
            dets,
            frozenset([*tags.split(), name]),
        )
    return nouns


def read_verbs() -> dict[str, Verb]:
    """Read ``verbs.txt``; the name of a verb is its base form and its particle."""
    verbs = {}
    for row in rows(TABLES / "verbs.txt", 13):
        base, _, particle = row[0].partition(" ")
        particle, _, upos = particle.partition("/")
        name = f"{base} {particle.lstrip('+')}".strip()
        key = "verb:" + name
        prefix, slash, infinitive = row[5].rpartition("/")
        is_word = bool(particle) and bool(upos)
        verbs[name] = Verb(
            key,
            (base, *row[1:5]),
            Word(particle.lstrip("+"), upos, "" if "+" in particle else key) if is_word else None,
            particle.startswith("+"),
            prefix if slash else "",
            (infinitive, *row[6:12]),
            row[12],
        )
    return verbs


def read_adjectives() -> list[Adjective]:
    """Read ``adjectives.txt``."""
    found = []
    for english, predicate, stem, upos, tags, use, dets in rows(TABLES / "adjectives.txt", 7):
        keep = predicate if use == "both" else ""
        sets = frozenset(tags.split()), frozenset(dets.split())
        found.append(Adjective(f"adjective:{english}", english, keep, stem, upos, *sets))
    return found


def read_slot(text: str) -> Slot:
    """Read one object of a frame (see the head of ``frames.txt``)."""
    head, colon, tags = text.partition(":")
    wanted = frozenset(tags.split(",")) if colon else frozenset()
    english, arrow, german = head.rpartition(">")
    if not arrow:
        return Slot(head, wanted, case=head if head in ("acc", "dat") else "")
    preposition, plus, case = german.rpartition("+")
    return Slot("prep" if plus else case, wanted, english, preposition, case)


def read_frames(verbs: dict[str, Verb]) -> list[Frame]:
    """Read ``frames.txt``."""
    frames = []
    for verb, subjects, objects, uses in rows(TABLES / "frames.txt", 4):
        slots = tuple(read_slot(item) for item in objects.split())
        sets = frozenset(subjects.split(",")), frozenset(uses.split())
        frames.append(Frame(verbs[verb], sets[0], slots, sets[1]))
    return frames


def check_tags(lexicon: Lexicon) -> None:
    """Refuse tags of frames and adjectives that no noun carries.

    Raises:
        ValueError: names the first such tag.
    """
    used = [(frame.verb.key, frame.subjects) for frame in lexicon.frames]
    used += [(f.verb.key, s.tags) for f in lexicon.frames for s in f.slots if s.case]
    used += [(adjective.key, adjective.tags) for adjective in lexicon.adjectives]
    for key, tags in used:
        for tag in sorted(tags - set(lexicon.by_tag)):
            raise ValueError(f"{key}: no noun has the tag {tag!r}")


def read_lexicon() -> Lexicon:
    """Read and check all tables."""
    nouns, verbs = read_nouns(), read_verbs()
    modals = {
        english: Modal(f"modal:{english}", english, forms, negatable == "yes")
        for english, *forms, negatable in rows(TABLES / "modals.txt", 6)
        for forms in [tuple(forms)]
    }
    phrases = [
        Phrase(kind, group, bracketed(english, f"phrase:{english}"), bracketed(german, f"phrase:{english}"))
        for kind, english, german, group in rows(TABLES / "phrases.txt", 4)
    ]
    places = [
        PlaceName(frozenset(groups.split()), english, german, case, nouns[noun])
        for groups, english, german, case, noun in rows(TABLES / "places.txt", 5)
    ]
    lexicon = Lexicon(
        nouns, verbs, modals, read_adjectives(), phrases, read_frames(verbs), places
    )
    check_tags(lexicon)
    return lexicon

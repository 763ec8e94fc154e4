"""Read the tables in ``lexicon/``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .entries import Adjective, Frame, Lexicon, Modal, Noun, Phrase, PlaceName, Slot, Verb, Word

TABLES = Path(__file__).parent / "lexicon"
WEATHER = "weather"  # the subject "it"; no noun has this tag


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
    """Split ``[last/ADJ] week``: the n-th bracketed word of each language gets the key ``key``n."""
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
    for row in rows(TABLES / "verbs.txt", 10):
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
            (infinitive, *row[6:9]),
            row[9],
        )
    return verbs


def read_adjectives() -> list[Adjective]:
    """Read ``adjectives.txt``."""
    found = []
    for english, predicate, stem, upos, tags, use, dets in rows(TABLES / "adjectives.txt", 7):
        shown = "" if use == "attribute" else predicate
        rest = frozenset(tags.split()), use != "predicate", frozenset(dets.split())
        found.append(Adjective(f"adjective:{english}", english, shown, stem, upos, *rest))
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
        for tag in sorted(tags - set(lexicon.by_tag) - {WEATHER}):
            raise ValueError(f"{key}: no noun has the tag {tag!r}")


def read_lexicon() -> Lexicon:
    """Read and check all tables."""
    nouns, verbs = read_nouns(), read_verbs()
    modals = {
        english: Modal(f"modal:{english}", english, forms, negatable == "yes")
        for english, *forms, negatable in rows(TABLES / "modals.txt", 4)
        for forms in [tuple(forms)]
    }
    phrases = [
        Phrase(kind, group, *(bracketed(text, f"phrase:{texts[0]}") for text in texts))
        for kind, *texts, group in rows(TABLES / "phrases.txt", 4)
    ]
    places = [
        PlaceName(frozenset(groups.split()), english, german, case, nouns[noun])
        for groups, english, german, case, noun in rows(TABLES / "places.txt", 5)
    ]
    lexicon = Lexicon(nouns, verbs, modals, read_adjectives(), phrases, read_frames(verbs), places)
    check_tags(lexicon)
    return lexicon

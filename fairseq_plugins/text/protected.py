"""Protected spans of a line: each becomes one token, ``<p0>``, ``<p1>`` …, and returns unchanged.

A span is a match of a pattern or a term (`Protection`). A stand-in of one character takes its place
in a line, so that tokenisers and subword models leave it whole; as a subword it is the symbol
`PLACES[number]`, and in a translation the text of this number. Spans of a sentence are numbered by
their order. A target has the numbers of its source, where a source has the same text.

    Lies https://a.de/b  ->  Lies <p0>  ->  Read <p0>  ->  Read https://a.de/b
"""

from __future__ import annotations

import logging
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from time import monotonic
from typing import Any
from urllib.parse import quote, unquote

from ..errors import InputError
from ..messages import named, quoted
from ..syntax.subwords import Span
from ..text_reading import numbered_lines
from .protected_patterns import (
    MOST_PATTERNS,
    MOST_TERMS,
    READY,
    SECONDS,
    check,
    is_pattern,
    matchers,
    own_pattern,
)
from .raw_text import line_reader, unescape
from .segment import WORD_START

logger = logging.getLogger(__name__)

PLACES = tuple(f"<p{number}>" for number in range(10))  # in both dictionaries
UNKNOWN = "<unk>"
_FIRST = 0xFDD1  # a character that no text has
STAND_INS = {chr(_FIRST + number): number for number in range(len(PLACES))}
_OWN = {ord(one): "\ufffd" for one in STAND_INS}
_STAND_IN = re.compile(f"([{min(STAND_INS)}-{max(STAND_INS)}])")
_SHOWN = re.compile(r"\A(?:<p\d=> ?)+| ?<p\d=>|<p\d=([\w.~%-]+)>")


@dataclass(frozen=True)
class Taken:
    """A line whose protected spans are stand-ins."""

    text: str
    spans: tuple[str, ...] = ()  # the text of each number
    left: int = 0  # further spans, which are ordinary text


@dataclass(frozen=True, repr=False)
class Protection:
    """The text that is protected; the same in a manifest."""

    patterns: tuple[str, ...] = ()  # regular expressions of the library regex
    terms: tuple[str, ...] = ()  # protected as whole words

    def __post_init__(self) -> None:
        for texts, most in ((self.patterns, MOST_PATTERNS), (self.terms, MOST_TERMS)):
            if len(texts) > most:
                name = "patterns" if texts is self.patterns else "terms"
                raise InputError(f"{len(texts):,} {name}, more than {most:,}")
        for pattern in self.patterns:
            check(pattern)

    def __repr__(self) -> str:
        """Return what is protected, in words for users: ``urls; 1 pattern; 12 terms``."""
        ready = {pattern: name for name, pattern in READY.items()}
        names = [ready[pattern] for pattern in self.patterns if pattern in ready]
        counts = {"pattern": len(self.patterns) - len(names), "term": len(self.terms)}
        counted = [f"{n:,} {name}{'s' * (n > 1)}" for name, n in counts.items() if n]
        return "; ".join([*names, *counted])

    @classmethod
    def asked(cls, given: str) -> Protection:
        """Read ``--protect``: names of `READY` patterns and files, at last ``/a pattern/``."""
        patterns, terms, comma, rest = [], [], ",", given
        while comma:
            whole = rest.strip()
            part, comma, rest = rest.partition(",")
            if (part := part.strip()) in READY:
                patterns.append(READY[part])
                continue
            if os.path.isfile(part):
                texts = [*filter(None, (text.strip() for _, text in numbered_lines(part)))]
            else:
                texts, comma = [own_pattern(whole)], ""
            if not texts:
                raise InputError(f"--protect: {part} has no term and no pattern")
            patterns += [text[1:-1] for text in texts if is_pattern(text)]
            terms += [text for text in texts if not is_pattern(text)]
        try:
            return cls(tuple(dict.fromkeys(patterns)), tuple(sorted({*terms})))
        except InputError as error:
            raise InputError(f"--protect: {error}") from None

    @classmethod
    def recorded(cls, found: Any) -> Protection | None:
        """Read the entry of a manifest, which may come from elsewhere."""
        if found is None:
            return None
        lists = [*found.values()] if isinstance(found, dict) else [None]
        is_text = all(isinstance(one, list) and {*map(type, one)} <= {str} for one in lists)
        if not is_text or found.keys() != {"patterns", "terms"}:
            raise InputError(f"the manifest says {quoted(found)} for 'protect'")
        return cls(tuple(found["patterns"]), tuple(found["terms"]))

    def as_json(self) -> dict[str, list[str]]:
        return {name: [*texts] for name, texts in asdict(self).items()}

    def take(self, line: str, known: Sequence[str] | None = None, *, apart: bool = True) -> Taken:
        """Replace the protected spans of a line.

        Args:
            line: raw text.
            known: for a target, the spans of its source; other spans stay text.
            apart: whether blanks separate stand-ins from other text.
        """
        line, blank = line.translate(_OWN), " " * apart
        places = self._spans(line)
        own = tuple(line[begin:end] for begin, end in places)
        texts = own[: len(PLACES)] if known is None else tuple(known)
        parts, done, left, free = [], 0, 0, [*range(len(texts))]
        for (begin, end), text in zip(places, own):
            number = next((k for k in free if texts[k] == text), None)
            if number is None:
                left += 1
                continue
            free.remove(number)
            parts += line[done:begin], blank, chr(_FIRST + number), blank
            done = end
        return Taken("".join((*parts, line[done:])), texts, left)

    def _spans(self, line: str) -> list[Span]:
        """Return the spans of a line; of spans that overlap the first, and of these the longest."""
        until, found = monotonic() + SECONDS, []
        for pattern in matchers(self.patterns, self.terms):
            try:
                left = max(until - monotonic(), 1e-3)
                matches = pattern.finditer(line, timeout=left, concurrent=True)
                found += [one.span() for one in matches if one[0].strip()]
            except (TimeoutError, MemoryError):
                raise InputError(
                    f"the protected pattern {quoted(pattern.pattern)} takes more than {SECONDS} "
                    f"seconds or too much memory on {quoted(line)}: write one without "
                    "repetitions of repetitions"
                ) from None
        kept, end = [], 0
        for begin, after in sorted(found, key=lambda one: (one[0], -one[1])):
            if begin >= end:
                kept.append((begin, after))
                end = after
        return kept


def reader(how: dict[str, Any], lang: str, protection: Protection | None) -> Callable[..., Taken]:
    """Return the function from a raw line (and the spans of its source) to the text for subwords.

    Args:
        how: tokeniser, normaliser, subwords and sequences, see `raw_text.line_reader`.
        lang: the language.
        protection: of the text, if any.
    """
    sequences = how.get("sequences", False)
    read = line_reader(how["tokenizer"], how["normalizer"], lang, sequences=sequences)
    apart = how["tokenizer"] != "none" or how["subwords"] != "sentencepiece"

    def protected(line: str, known: Sequence[str] | None = None) -> Taken:
        if protection is None:
            return Taken(read(line))
        found = protection.take(line, known, apart=apart)
        return Taken(read(found.text), found.spans, found.left)

    return protected


def numbers_in(text: str) -> Counter[int]:
    """Count the numbers of a text's stand-ins."""
    return Counter(STAND_INS[one] for one in _STAND_IN.findall(text))


def words_of(text: str, spans: Sequence[str], *, escaped: bool = True) -> list[str]:
    """Return the space-separated words of a text for a reader, protected spans in full."""
    words = [*map(unescape, text.split())] if escaped else text.split()
    if not spans:
        return words
    return [_STAND_IN.sub(lambda one: spans[STAND_INS[one[0]]], word) for word in words]


def plain(text: str, letter: str = "") -> str:
    """Return a text with a letter, or nothing, in the place of each stand-in."""
    return _STAND_IN.sub(letter, text)


class ProtectedSegmenter:
    """A subword model that leaves stand-ins whole; ``marks`` is whether it marks blanks."""

    def __init__(self, segmenter: Any, *, marks: bool) -> None:
        self.inner, self.marks = segmenter, marks
        self.longest = getattr(segmenter, "longest", math.inf)

    def segment(self, text: str) -> tuple[list[str], list[Span]]:
        """Return S subwords, with the symbols of stand-ins, and their spans in ``text``."""
        subwords, spans, at = [], [], 0
        for part in _STAND_IN.split(text):
            if part in STAND_INS:
                if self.marks and (not at or text[at - 1] == " "):
                    subwords.append(WORD_START)
                    spans.append((max(0, at - 1), at))
                subwords.append(PLACES[STAND_INS[part]])
                spans.append((at, at + 1))
            elif bare := part.strip():
                first = at + part.index(bare[0])
                pieces, own = self.inner.segment(bare)
                if pieces and self.marks and 0 < first == at:  # no blank before
                    pieces[0] = pieces[0].removeprefix(WORD_START)
                kept = [k for k, piece in enumerate(pieces) if piece]
                subwords += [UNKNOWN if pieces[k] in PLACES else pieces[k] for k in kept]
                spans += [(first + own[k][0], first + own[k][1]) for k in kept]
            at += len(part)
        return subwords, spans

    def join(self, text: str) -> str:
        return self.inner.join(text)


def shown(number: int, spans: Sequence[str]) -> str:
    """Return the token for a span in a translation, which `restored` turns into its text.

    It turns into nothing for a number that the source lacks.
    """
    return f"<p{number}={quote(spans[number], safe='') if number < len(spans) else ''}>"


def with_spans(subwords: Sequence[str], spans: Sequence[str]) -> tuple[list[str], Counter[int]]:
    """Return subwords with tokens of spans in the place of their numbers, which are counted."""
    numbers = [PLACES.index(one) if one in PLACES else None for one in subwords]
    tokens = [one if k is None else shown(k, spans) for one, k in zip(subwords, numbers)]
    return tokens, Counter(k for k in numbers if k is not None)


def restored(text: str) -> str:
    """Return a text with the protected texts in place of their tokens."""
    return _SHOWN.sub(lambda one: unquote(one[1] or ""), text)


def report(told: Sequence[str]) -> None:
    """Log misfits, each with its line."""
    if told:
        what = "protected spans are not as in the source"
        logger.warning("%d %s: %s", len(told), what, named(told, between="; "))


def misfits(spans: Sequence[str], found: Counter[int]) -> list[str]:
    """Say which spans of a source are missing in its translation, or stand there too often."""
    named_spans = [f"{place} ({quoted(text)})" for place, text in zip(PLACES, spans)]
    told = [f"{name} is missing" for k, name in enumerate(named_spans) if not found[k]]
    for number, count in sorted(found.items()):
        if number >= len(spans):
            told.append(f"{PLACES[number]} is not in the source, and left out")
        elif count > 1:
            told.append(f"{named_spans[number]} stands there {count} times")
    return told

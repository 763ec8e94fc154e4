"""Where systems differ: items that one system gets right, or better, and another does not.

Sentences, classes, scores, labels of words and answers are all items (`contrast_kinds`): what
systems read, what each says of it, and how good that is. Which items are telling, in which order
they are shown and how far systems agree is decided here, for all of them alike.

The syntax-infused paper's Table 3 marks the words that only one system predicts correctly. Here a
word of an output is a *hit* when it matches a word of the reference that the other output misses,
and a *miss* when it matches neither the reference nor the other output.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path

from ..option_flags import check, option
from .choices import SENTENCE_METRICS, TOKENIZED

HIT, MISS, SAME = "hit", "miss", "same"
FIRST, SECOND = "first", "second"  # of words that one sentence of a pair has alone
SPAN, WRONG = "span", "wrong"  # of an answer in its context, of what is wrong as a whole
Runs = Sequence[tuple[str, str]]  # stretches of a text, each with its mark

_PIECES = re.compile(r"\s+|\w+(?:[-'\u2019]\w+)*|[^\w\s]")


def mark_words(output: str, other: str, gold: str) -> list[tuple[str, str]]:
    """Cut an output into stretches of text, each a hit, a miss or neither.

    Joining the texts gives the output back.

    Returns:
        (text, mark) pairs with mark ``HIT``, ``MISS`` or ``SAME``; neighbours have other marks.
    """
    pieces = _PIECES.findall(output)
    words, other_words, gold_words = (_words(text) for text in (output, other, gold))
    to_gold = _matches(words, gold_words)
    found_by_other = set(_matches(other_words, gold_words).values())
    to_other = _matches(words, other_words)
    marks: list[str] = []
    index = 0
    for piece in pieces:
        if piece.isspace():
            marks.append("")
            continue
        if index in to_gold:
            marks.append(SAME if to_gold[index] in found_by_other else HIT)
        else:
            marks.append(SAME if index in to_other else MISS)
        index += 1
    return _join(pieces, marks)


def _words(text: str) -> list[str]:
    return [piece for piece in _PIECES.findall(text) if not piece.isspace()]


def _matches(words: Sequence[str], others: Sequence[str]) -> dict[int, int]:
    """Align equal words of two sentences in order: position -> position."""
    blocks = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    return {block.a + k: block.b + k for block in blocks for k in range(block.size)}


def _join(pieces: Sequence[str], marks: Sequence[str]) -> list[tuple[str, str]]:
    """Merge neighbours of one mark; white space belongs to its neighbours when they agree."""
    resolved = []
    for i, mark in enumerate(marks):
        if not mark:
            inside = 0 < i < len(marks) - 1 and marks[i - 1] == marks[i + 1]
            mark = marks[i - 1] if inside else SAME
        resolved.append((pieces[i], mark))
    groups = groupby(resolved, key=lambda pair: pair[1])
    return [("".join(text for text, _ in group), mark) for mark, group in groups]


def plain(text: str) -> Runs:
    """Return a text without marks."""
    return [(text, SAME)]


BETTER = ("second", "first", "last", "both", "any")  # "both" and "any": whichever


@dataclass(frozen=True)
class ContrastOptions:
    """What to compare, which items are looked for, and how to show them.

    Args:
        systems: their files: two of translations, two or more of anything else.
        names: what to call them (default: what tells their paths apart).

    Raises:
        ValueError: a value outside choices or limits.
    """

    better: str = option(
        "which system has to be better, or right: {choices} (both and any: no matter which)",
        "last",
        choices=BETTER,
    )
    min_gap: float = option(
        "show only differences of at least this, in points, in % or in the unit of the scores",
        0.0,
        least=0,
    )

    systems: Sequence[str] = ()
    names: Sequence[str] | None = None
    gold: str | None = option(
        "translation: references (default: the T- lines of the log); answers: SQuAD JSON with "
        "answers, or SPLIT.examples.jsonl of a prepared folder",
        None,
    )
    src: str | None = option(
        "translation: source sentences (default: the S- lines of the log, if any); predictions: "
        "the texts, where the files do not hold them: SPLIT.examples.jsonl of a prepared folder, "
        "or one example per line with a TAB between its sentences",
        None,
    )
    lang: str | None = option("translation: target language (default: de)", None)
    tokenized: str | None = option(
        "translation: whether the systems' outputs are Moses tokens (default: auto)",
        None,
        choices=TOKENIZED,
    )
    metric: str | None = option(
        "translation: metric that scores sentences (default: chrf)", None, choices=SENTENCE_METRICS
    )
    positive: str | None = option(
        "classes: class whose probability is shown (default: 1 if the classes are 0 and 1, else "
        "the class answered)",
        None,
    )
    max: int = option("maximum number of items to show", 10, least=0)
    html: str | None = option("file to write as an HTML page that needs no other file", None)

    def __post_init__(self) -> None:
        check(self)

    def sides(self, systems: int) -> Sequence[int]:
        """Return the numbers of the systems of which one has to be better."""
        chosen = {"first": [0], "second": [1], "last": [systems - 1]}
        return chosen.get(self.better, range(systems))


@dataclass(frozen=True)
class View:
    """How an item is shown.

    Args:
        title: what its first line says.
        lines: what is shown of it, by labels.
        said: by each system, and what is shown behind that.
    """

    title: str
    lines: dict[str, Runs]
    said: Sequence[tuple[Runs, str]]


@dataclass(frozen=True)
class Item:
    """Something that systems were asked.

    Args:
        id: its name.
        scores: how good each system is; higher is better.
        right: whether each is right, or where nothing is quite right, the best of all.
        view: makes what is shown of it, once it is.
        gap: how much better the best system that was looked for is than the others on average.
    """

    id: str
    scores: Sequence[float]
    right: Sequence[bool]
    view: Callable[[], View]
    gap: float = 0.0

    def lead(self, side: int) -> float:
        """Return how much better a system is than the others on average."""
        others = [score for number, score in enumerate(self.scores) if number != side]
        return self.scores[side] - math.fsum(others) / len(others)


def best(scores: Sequence[float]) -> list[bool]:
    """Tell which scores are the best; none where all are equal."""
    return [score == max(scores) > min(scores) for score in scores]


def differing(items: Iterable[Item], options: ContrastOptions = ContrastOptions()) -> list[Item]:
    """Return the items that one system gets right and another does not.

    Those that most systems get wrong come first, then those with the widest gap, ties in order.

    Args:
        items: that two systems or more were asked.
        options: which of the systems has to be right, and by how much.
    """
    found = []
    for item in items:
        wrong = len(item.right) - sum(item.right)
        leads = [item.lead(side) for side in options.sides(len(item.right)) if item.right[side]]
        if leads and wrong and (max(leads) >= options.min_gap or not options.min_gap):
            found.append((wrong, replace(item, gap=max(leads))))
    return [item for _, item in sorted(found, key=lambda pair: (-pair[0], -pair[1].gap))]


def agreement(items: Sequence[Item], noun: str) -> str:
    """Say how many items there are, and how many all systems get right, or none."""
    right = sum(all(item.right) for item in items)
    wrong = sum(not any(item.right) for item in items)
    return f"{len(items)} {noun}s: {right} all right, {wrong} all wrong, systems differ on the rest"


def short_names(paths: Sequence[str | Path]) -> tuple[str, ...]:
    """Name systems by the last parts of their paths that tell them apart.

    Two logs of one name (``baseline/generate.log``, ``syntax/generate.log``) go by their folders.
    """
    parts = [Path(path).with_suffix("").parts for path in paths]
    for i in range(1, max(map(len, parts)) + 1):
        names = tuple(part[-i] if len(part) >= i else part[0] for part in parts)
        if len(set(names)) == len(names):
            return names
    return tuple(map(str, paths))

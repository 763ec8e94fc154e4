"""Differences between systems: items that one system gets right, or better, and another does not.

Sentences, classes, scores, labels of words, answers and judged pairs all become items
(`contrast_kinds`): their text, each system's output, and its quality. This file selects, orders and
formats the items.

The syntax-infused paper's Table 3 marks the words that only one system predicts correctly. Here a
word of an output is a *hit* when it matches a word of the reference that the other output misses,
and a *miss* when it matches neither the reference nor the other output. Text shows a hit in
``{+...+}``, a miss in ``[-...-]``, a gold answer in ``>>...<<``; a page shows hits and gold answers
bold and misses struck out.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path

from markupsafe import Markup, escape

from ..files import write_text
from ..option_flags import check, option
from .choices import SENTENCE_METRICS, TOKENIZED
from .shown_text import MARKS, align, straight
from .templates import render

HIT, MISS, SAME = "hit", "miss", "same"
FIRST, SECOND = "first", "second"  # of words in only one sentence of a pair
SPAN, WRONG = "span", "wrong"  # of an answer in its context, of an entirely wrong output
Runs = Sequence[tuple[str, str]]  # parts of a text, each with its mark
BETTER = ("first", "last", "any")

_PIECES = re.compile(r"\s+|\w+(?:[-'\u2019]\w+)*|[^\w\s]")
_SIGNS = {HIT: ("{+", "+}"), MISS: ("[-", "-]"), FIRST: ("[-", "-]"), SECOND: ("{+", "+}")}
_SIGNS |= {SPAN: MARKS}
_TAGS = {mark: ("<b>", "</b>") for mark in (HIT, FIRST, SECOND, SPAN)}
_TAGS |= {mark: ("<s>", "</s>") for mark in (MISS, WRONG)}


@dataclass(frozen=True)
class ContrastOptions:
    """What to compare, which items to select, and how to show them."""

    systems: Sequence[str] = ()  # [NAME=]FILE each
    better: str = option(
        "which system has to be better, or right: {choices} (any: no matter which)",
        "last",
        choices=BETTER,
    )
    min_gap: float = option(
        "show only differences of at least this, in points, in % or in the unit of the scores",
        0.0,
        least=0,
    )
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

    @property
    def named(self) -> tuple[tuple[str, ...], list[str]]:
        """The names of the systems, given or from their paths, and the paths."""
        found = list(map(named_path, self.systems))
        paths = [path for _, path in found]
        return tuple(given or own for (given, _), own in zip(found, short_names(paths))), paths

    def sides(self, systems: int) -> Sequence[int]:
        """Return the numbers of the systems of which one must be better."""
        chosen = {"first": [0], "last": [systems - 1]}
        return chosen.get(self.better, range(systems))


@dataclass(frozen=True)
class View:
    """An item as shown: its title, labelled lines, and each system's output with a note."""

    title: str
    lines: dict[str, Runs]
    said: Sequence[tuple[Runs, str]]


@dataclass(frozen=True)
class Item:
    """One question to all systems."""

    id: str  # its name
    scores: Sequence[float]  # quality of each system; higher is better
    right: Sequence[bool]  # whether each system is right, or without right outputs the best of all
    view: Callable[[], View]  # makes the view when the item is shown
    gap: float = 0.0  # lead of the best selected system over the average of the others

    def lead(self, side: int) -> float:
        """Return a system's lead over the average of the others."""
        others = [score for number, score in enumerate(self.scores) if number != side]
        return self.scores[side] - math.fsum(others) / len(others)


@dataclass(frozen=True)
class Contrast:
    """All items of a comparison."""

    noun: str  # name of one item
    items: Sequence[Item]  # all of them
    is_judged: bool = False  # whether systems are right or wrong, not better or worse
    is_whole: bool = False  # whether to show all items, not only differing ones
    # table, note: counts of all items with a header row, and a note below
    table: Sequence[Sequence[str]] = ()
    note: str = ""


def show(found: Contrast, names: Sequence[str], options: ContrastOptions) -> str:
    """Return a contrast as text; write the page if the options name one."""
    telling = found.items if found.is_whole else differing(found.items, options)
    shown = telling[: options.max]
    if options.html:
        write_text(options.html, format_items(shown, found, names, style="html"))
    text = format_items(shown, found, names)
    text += f"{len(shown)} of {len(telling)} such {found.noun}s shown\n"
    text += f"{agreement(found.items, found.noun)}\n" if found.is_judged else ""
    table = ["", *align(found.table), "", found.note] if found.table else []
    return text + "".join(f"{line}\n" for line in table)


def differing(items: Iterable[Item], options: ContrastOptions = ContrastOptions()) -> list[Item]:
    """Return the items that one system gets right and another does not.

    Items that most systems get wrong come first, then those with the widest gap.
    """
    found = []
    for item in items:
        wrong = len(item.right) - sum(item.right)
        leads = [item.lead(side) for side in options.sides(len(item.right)) if item.right[side]]
        if leads and wrong and (max(leads) >= options.min_gap or not options.min_gap):
            found.append((wrong, replace(item, gap=max(leads))))
    return [item for _, item in sorted(found, key=lambda pair: (-pair[0], -pair[1].gap))]


def agreement(items: Sequence[Item], noun: str) -> str:
    """Return the number of items, and how many all systems get right, or none."""
    right = sum(all(item.right) for item in items)
    wrong = sum(not any(item.right) for item in items)
    return f"{len(items)} {noun}s: {right} all right, {wrong} all wrong, systems differ on the rest"


def format_items(
    items: Sequence[Item], found: Contrast, names: Sequence[str], style: str = "text"
) -> str:
    """Return some items of a contrast as text, or with its table as a page (``html``)."""
    is_page = style == "html"

    def marked(runs: Runs) -> str:
        parts = []
        for text, mark in runs:
            begin, end = (_TAGS if is_page else _SIGNS).get(mark, ("", ""))
            parts.append(f"{begin}{escape(straight(text)) if is_page else straight(text)}{end}")
        return Markup("".join(parts))

    shown = [(item, item.view()) for item in items]
    labels = {label for _, view in shown for label in view.lines}
    return render(
        "contrast.html" if is_page else "contrast.txt",
        found=found,
        shown=shown,
        names=names,
        width=max(map(len, [*labels, *names])),
        marked=marked,
    )


def best(scores: Sequence[float]) -> list[bool]:
    """Return whether each score is the best; none if all are equal."""
    return [score == max(scores) > min(scores) for score in scores]


def plain(text: str) -> Runs:
    return [(text, SAME)]


def mark_words(output: str, other: str, gold: str) -> list[tuple[str, str]]:
    """Cut an output into parts, each a hit, a miss or neither.

    The parts join to the output; neighbours have different marks.
    """
    pieces = _PIECES.findall(output)
    words, others, golds = map(_words, (output, other, gold))
    to_gold, to_other = _matches(words, golds), _matches(words, others)
    found_by_other = set(_matches(others, golds).values())
    own = iter(
        (SAME if to_gold[n] in found_by_other else HIT)
        if n in to_gold
        else (SAME if n in to_other else MISS)
        for n in range(len(words))
    )
    marks = ["" if piece.isspace() else next(own) for piece in pieces]
    for n, mark in enumerate(marks):  # white space takes the mark of both neighbours if they agree
        if not mark:
            inside = 0 < n < len(marks) - 1 and marks[n - 1] == marks[n + 1]
            marks[n] = marks[n - 1] if inside else SAME
    groups = groupby(zip(pieces, marks), key=lambda pair: pair[1])
    return [("".join(text for text, _ in group), mark) for mark, group in groups]


def _words(text: str) -> list[str]:
    return [piece for piece in _PIECES.findall(text) if not piece.isspace()]


def _matches(words: Sequence[str], others: Sequence[str]) -> dict[int, int]:
    """Align equal words of two sentences in order: position -> position."""
    blocks = SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    return {block.a + k: block.b + k for block in blocks for k in range(block.size)}


def named_path(word: str) -> tuple[str, str]:
    """Split ``NAME=PATH``; the name is empty if there is none, or if the whole word is a file."""
    name, sign, path = word.partition("=")
    return ("", word) if not sign or Path(word).exists() else (name, path)


def short_names(paths: Sequence[str | Path]) -> tuple[str, ...]:
    """Name systems by the last distinct part of their paths.

    Two logs of one name (``baseline/generate.log``, ``syntax/generate.log``) are named by their
    folders.
    """
    parts = [(Path(path).parent / Path(path).stem).parts or (str(path),) for path in paths]
    for i in range(1, max(map(len, parts)) + 1):
        names = tuple(part[-i] if len(part) >= i else part[0] for part in parts)
        if len(set(names)) == len(names):
            return names
    return tuple(map(str, paths))

"""What a report on experiments shows, before it is laid out as HTML or as Markdown.

Everything here is plain text; whoever lays it out escapes it.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..results.tables import ResultTable

MARKDOWN, PAGE, PLAIN = "markdown", "page", "plain"  # kinds of a text


@dataclass(frozen=True)
class Text:
    """A text that something else wrote.

    Args:
        title: what it is.
        kind: `MARKDOWN`, `PAGE` (HTML, shown where no script runs) or `PLAIN`.
        text: the text.
    """

    title: str
    kind: str
    text: str


@dataclass(frozen=True)
class Figure:
    """An image.

    Args:
        title: what it shows.
        caption: dataset, split, seeds.
        path: its file.
        is_own: whether the report drew it, and a page may turn its colours round in the dark.
    """

    title: str
    caption: str
    path: Path
    is_own: bool = False


@dataclass(frozen=True)
class Failure:
    """A run that failed, with the last lines of its log."""

    title: str
    folder: str
    updates: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command that can be run again; `is_whole` if it is that of a whole experiment."""

    title: str
    text: str
    is_whole: bool = False


class Counts(NamedTuple):
    """How many runs are how far; those that wait have not begun."""

    finished: int = 0
    failed: int = 0
    unfinished: int = 0
    waiting: int = 0

    @property
    def total(self) -> int:
        """Number of all runs that are known of."""
        return sum(self)


@dataclass(frozen=True)
class Chapter:
    """One experiment.

    Args:
        title: its title.
        answers: what its comparisons tell, a sentence each.
        counts: of its runs.
        facts: name and value of what there is to know about it.
        parts: table of its datasets.
        tables: the papers' tables, those of fractions and of settings.
        figures: its own, and those that later steps left, with their texts.
        failures: failed runs.
        unfinished: how far the others are; None if there are none.
        commands: of the experiment, then of all runs.
        settings: tables of options and versions.
    """

    title: str
    counts: Counts
    facts: list[tuple[str, str]]
    parts: ResultTable
    answers: list[str] = field(default_factory=list)
    tables: list[ResultTable | Text] = field(default_factory=list)
    figures: list[Figure | Text] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    unfinished: ResultTable | None = None
    commands: list[Command] = field(default_factory=list)
    settings: list[ResultTable] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """All of it; `remarks` say what could not be shown."""

    title: str
    chapters: list[Chapter]
    remarks: list[str]

    @property
    def counts(self) -> Counts:
        """The runs of all experiments."""
        sums = (sum(column) for column in zip(*(chapter.counts for chapter in self.chapters)))
        return Counts(*sums)

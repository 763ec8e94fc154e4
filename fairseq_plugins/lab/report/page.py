"""A page about experiments: its content, and its single HTML file.

The file is self-contained: it includes its styles, script and figures. The template escapes all
content of files; images are data, which run no script, and the page allows only its own script.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from ...evaluation.templates import render
from ..results.tables import ResultTable

PAGES = Path(__file__).parent / "page"
IMAGES = {".svg": "image/svg+xml", ".png": "image/png"}


class Figure(NamedTuple):
    """An image with its file's content."""

    title: str
    caption: str  # dataset, split, seeds; or the command that made the image
    data: bytes
    kind: str = ".svg"  # of `IMAGES`
    is_own: bool = True  # drawn by the page, which may invert its colours in dark mode

    @property
    def source(self) -> str:
        """The image as a data URI."""
        return f"data:{IMAGES[self.kind]};base64,{base64.b64encode(self.data).decode('ascii')}"


class File(NamedTuple):
    """A file of a step: its link relative to the page, and its text if it is a text."""

    title: str
    link: str
    text: str


class Failure(NamedTuple):
    """A failed run with the last lines of its log."""

    title: str
    folder: str
    updates: str
    text: str


@dataclass(frozen=True)
class Chapter:
    """One experiment of a page."""

    title: str
    counts: Mapping[str, int]  # finished, failed, unfinished, waiting -> number of runs
    facts: Mapping[str, str]
    parts: ResultTable
    failures: Sequence[Failure] = ()
    command: str = ""  # of the experiment
    commands: Mapping[str, str] = field(default_factory=dict)  # title of a run -> command
    answers: Sequence[str] = ()  # results of comparisons, as sentences
    tables: Sequence[ResultTable] = ()
    figures: Sequence[Figure] = ()
    files: Sequence[File] = ()  # of steps, except figures


def total(chapters: Iterable[Chapter]) -> dict[str, int]:
    """Return the sums of the chapters' counts."""
    found: dict[str, int] = {}
    for kind, count in (one for chapter in chapters for one in chapter.counts.items()):
        found[kind] = found.get(kind, 0) + count
    return found


def to_html(title: str, chapters: Sequence[Chapter], remarks: Sequence[str]) -> str:
    """Return a page as HTML."""
    style, script = (
        Markup((PAGES / name).read_text(encoding="utf-8")) for name in ("page.css", "page.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values = {"chapters": chapters, "remarks": remarks, "counts": total(chapters)}
    values |= {"style": style, "script": script, "digest": f"sha256-{digest}"}
    return render("page.html", PAGES, title=title, **values)

"""A page about experiments: what stands on it, and the one HTML file that it becomes.

The file asks for nothing else: its styles, script and figures lie in it. Whatever comes from files
is escaped by the template; images are data, in which no script runs, and the page lets no script
run but its own.
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
    caption: str  # dataset, split, seeds; or the command that made it
    data: bytes
    kind: str = ".svg"  # of `IMAGES`
    is_own: bool = True  # the page drew it, and may turn its colours round in the dark

    @property
    def source(self) -> str:
        """The image as a URI that holds it."""
        return f"data:{IMAGES[self.kind]};base64,{base64.b64encode(self.data).decode('ascii')}"


class File(NamedTuple):
    """A file that a step left: where it lies as seen from the page, and its text if it is one."""

    title: str
    link: str
    text: str


class Failure(NamedTuple):
    """A run that failed, with the last lines of its log."""

    title: str
    folder: str
    updates: str
    text: str


@dataclass(frozen=True)
class Chapter:
    """One experiment as it is shown."""

    title: str
    counts: Mapping[str, int]  # finished, failed, unfinished, waiting -> number of runs
    facts: Mapping[str, str]
    parts: ResultTable
    failures: Sequence[Failure] = ()
    command: str = ""  # of the experiment
    commands: Mapping[str, str] = field(default_factory=dict)  # title of a run -> its own
    answers: Sequence[str] = ()  # what comparisons tell, a sentence each
    tables: Sequence[ResultTable] = ()
    figures: Sequence[Figure] = ()
    files: Sequence[File] = ()  # that steps left, other than figures


def total(chapters: Iterable[Chapter]) -> dict[str, int]:
    """Return the counts of the runs of all chapters."""
    found: dict[str, int] = {}
    for kind, count in (one for chapter in chapters for one in chapter.counts.items()):
        found[kind] = found.get(kind, 0) + count
    return found


def to_html(title: str, chapters: Sequence[Chapter], remarks: Sequence[str]) -> str:
    """Lay a page out; remarks say what could not be shown."""
    style, script = (
        Markup((PAGES / name).read_text(encoding="utf-8")) for name in ("page.css", "page.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values = {"chapters": chapters, "remarks": remarks, "counts": total(chapters)}
    values |= {"style": style, "script": script, "digest": f"sha256-{digest}"}
    return render("page.html", PAGES, title=title, **values)

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

_FOLDER = Path(__file__).parent / "page"
IMAGES = {".svg": "image/svg+xml", ".png": "image/png"}


class Figure(NamedTuple):
    """An image.

    Args:
        title: what it shows.
        caption: dataset, split, seeds; or the command that made it.
        data: its file's content.
        kind: the suffix of its file, of `IMAGES`.
        is_own: whether the page drew it, and may turn its colours round in the dark.
    """

    title: str
    caption: str
    data: bytes
    kind: str = ".svg"
    is_own: bool = True

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
    """One experiment.

    Args:
        title: its title.
        counts: finished, failed, unfinished, waiting -> number of runs.
        facts: name -> value of what there is to know about it.
        parts: table of its datasets.
        answers: what its comparisons tell, a sentence each.
        figures: its own, and those that later steps left.
        files: what else these steps left.
        tables: the papers' tables, those of shares and of settings.
        failures: failed runs.
        unfinished: how far the runs are that have begun; None if there are none.
        command: of the experiment; may be empty.
        commands: title of a run -> its command.
    """

    title: str
    counts: Mapping[str, int]
    facts: Mapping[str, str]
    parts: ResultTable
    answers: Sequence[str] = ()
    figures: Sequence[Figure] = ()
    files: Sequence[File] = ()
    tables: Sequence[ResultTable] = ()
    failures: Sequence[Failure] = ()
    unfinished: ResultTable | None = None
    command: str = ""
    commands: Mapping[str, str] = field(default_factory=dict)


def total(chapters: Iterable[Chapter]) -> dict[str, int]:
    """Return the counts of the runs of all chapters."""
    found: dict[str, int] = {}
    for kind, count in (one for chapter in chapters for one in chapter.counts.items()):
        found[kind] = found.get(kind, 0) + count
    return found


def to_html(title: str, chapters: Sequence[Chapter], remarks: Sequence[str]) -> str:
    """Lay a page out; remarks say what could not be shown."""
    style, script = (
        Markup((_FOLDER / name).read_text(encoding="utf-8")) for name in ("page.css", "page.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    values = {"chapters": chapters, "remarks": remarks, "counts": total(chapters)}
    values |= {"style": style, "script": script, "digest": f"sha256-{digest}"}
    return render("page.html", _FOLDER, title=title, **values)

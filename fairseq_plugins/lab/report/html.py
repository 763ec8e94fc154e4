"""A report as one page: styles, script and figures lie in it, and it asks for nothing else.

Whatever comes from files is escaped by the template. Images are data, in which no script runs;
pages that steps left stand in frames without scripts; and the page lets no script run but its own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from ..safe_files import read_bytes
from .model import Report

_FOLDER = Path(__file__).parent / "page"
_IMAGES = {".svg": "image/svg+xml", ".png": "image/png"}


@dataclass
class _Section:
    """A section of the page, for the table of contents: items are ids with titles."""

    id: str
    title: str
    count: int = 0
    items: list[tuple[str, str]] = field(default_factory=list)


def to_html(report: Report) -> str:
    """Lay a report out.

    Raises:
        OSError: a figure cannot be read.
    """
    script = (_FOLDER / "page.js").read_text(encoding="utf-8").strip()
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    ids: dict[int, str] = {}
    return _template().render(
        report=report,
        sections=list(_sections(report, ids)),
        ids=ids,
        id_of=id,
        digest=f"sha256-{digest}",
        style=Markup((_FOLDER / "page.css").read_text(encoding="utf-8").strip()),
        script=Markup(script),
        image=image,
        markdown=markdown,
    )


@cache
def _template() -> Any:
    loader = FileSystemLoader(_FOLDER)
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    ).get_template("page.html")


def _sections(report: Report, ids: dict[int, str]) -> Iterator[_Section]:
    """Yield the sections that have something in them, and note the ids of what they list."""
    yield _Section("summary", "Summary")
    for name, title in (("tables", "Tables"), ("figures", "Figures")):
        things = [thing for chapter in report.chapters for thing in getattr(chapter, name)]
        section = _Section(name, title, len(things))
        for number, thing in enumerate(things, start=1):
            ids[id(thing)] = f"{name}-{number}"
            if not getattr(thing, "is_folded", False):
                section.items.append((f"{name}-{number}", thing.title))
        if things:
            yield section
    counted = (
        ("failures", "Failures", report.counts.failed),
        ("unfinished", "Unfinished runs", report.counts.unfinished),
        ("commands", "Commands", 0),
        ("settings", "Versions and settings", 0),
    )
    for name, title, count in counted:
        if any(getattr(chapter, name) for chapter in report.chapters):
            yield _Section(name, title, count)


def image(path: Path) -> str:
    """Return an image as a URI that holds it.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    data = base64.b64encode(read_bytes(path)).decode("ascii")
    return f"data:{_IMAGES[path.suffix]};base64,{data}"


def markdown(text: str) -> Markup:
    """Lay Markdown out; HTML within it is shown as it is written, and of images their names."""
    parser = _parser()
    return Markup(parser.renderer.render(list(_adapted(parser.parse(text))), parser.options, {}))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.add_render_rule(
        "image", lambda _, tokens, place, *__: str(escape(tokens[place].content))
    )
    parser.add_render_rule("table_open", lambda *_: '<div class="scroll" tabindex="0"><table>')
    parser.add_render_rule("table_close", lambda *_: "</table></div>")
    return parser


def _adapted(tokens: list[Token]) -> Iterator[Token]:
    """Yield tokens with headings below those of the page, and first cells as heads of rows."""
    first = False
    for token in tokens:
        if token.type.startswith("heading_"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 4)}"
        if token.type == "tr_open":
            first = True
        elif token.type == "td_open" and first:
            token.tag, token.type = "th", "th_open"
            token.attrSet("scope", "row")
        elif token.type == "td_close" and first:
            token.tag, first = "th", False
        if token.attrGet("style") == "text-align:right":
            token.attrs.pop("style")
            token.attrSet("class", "number")
        yield token

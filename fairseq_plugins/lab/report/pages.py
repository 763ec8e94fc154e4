"""A report as two pages: HTML, which asks for nothing else, and Markdown for other places.

Whatever comes from files is escaped by the templates. In the HTML lie its styles, script and
figures; images are data, in which no script runs; pages that steps left stand in frames without
scripts; and the page lets no script run but its own.
"""

import base64
import hashlib
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from markupsafe import escape as escape_html

from ..results.tables import ResultTable, table_lines
from ..safe_files import read_bytes
from .model import Report

_FOLDER = Path(__file__).parent / "page"
_IMAGES = {".svg": "image/svg+xml", ".png": "image/png"}
_LISTED = ("figures", "tables")  # of a chapter, in the page's contents
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~])")


def to_html(report: Report) -> str:
    """Lay a report out.

    Raises:
        OSError: a figure cannot be read.
    """
    style, script = (
        Markup((_FOLDER / name).read_text(encoding="utf-8").strip())
        for name in ("page.css", "page.js")
    )
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    values: dict[str, Any] = {"style": style, "script": script, "digest": f"sha256-{digest}"}
    listed = [[t for c in report.chapters for t in getattr(c, name)] for name in _LISTED]
    numbers = {id(thing): place for one in listed for place, thing in enumerate(one, start=1)}
    values["number_of"] = lambda thing: numbers[id(thing)]
    return _template("page.html").render(report=report, **values)


def to_markdown(report: Report, folder: Path) -> str:
    """Lay the same out as Markdown.

    Args:
        report: what to show.
        folder: where the text will lie; figures are named from there.
    """

    def path_of(path: Path) -> str:
        return quote(os.fsencode(Path(os.path.relpath(path, folder)).as_posix()))

    return _template("report.md").render(report=report, path_of=path_of)


def _lines(table: ResultTable) -> str:
    return "\n".join(table_lines(table, escape))


@cache
def _template(name: str) -> Template:
    is_html = name.endswith(".html")
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=is_html,
        undefined=StrictUndefined,
        trim_blocks=not is_html,
        lstrip_blocks=not is_html,
        keep_trailing_newline=True,
    )
    environment.filters |= {"md": escape, "fenced": fenced, "without_html": without_html}
    environment.filters |= {"image": image, "markdown": markdown}
    environment.filters |= {"lines": _lines}
    return environment.get_template(name)


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
    for name, rule in {
        "image": lambda _, tokens, place, *__: str(escape_html(tokens[place].content)),
        "table_open": lambda *_: '<div class="scroll" tabindex="0"><table>',
        "table_close": lambda *_: "</table></div>",
    }.items():
        parser.add_render_rule(name, rule)
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


def escape(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def without_html(text: str) -> str:
    """Return a step's Markdown, in which HTML is shown as it is written."""
    text, code = text.rstrip(), ("fence", "code_block")
    # without tables: what stands indented under one is code for some renderers, HTML for others
    tokens = MarkdownIt("commonmark", {"html": False}).parse(text)
    blocks = [token.map for token in tokens if token.type in code and token.map]
    shown = {number for first, end in blocks for number in range(first, end)}
    lines = enumerate(re.split(r"\r\n|\r|\n", text))
    return "\n".join(line if at in shown else line.replace("<", "&lt;") for at, line in lines)


def fenced(text: str) -> str:
    """Return a text as it is, behind a fence longer than any within."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence, text.rstrip("\n"), fence])

"""A report as Markdown: the same tables and figures for places where no page can be opened."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt

from ..results.tables import table_lines
from .model import Report

_PARSER = MarkdownIt("commonmark", {"html": False})
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~])")


def to_markdown(report: Report, folder: Path) -> str:
    """Lay a report out.

    Args:
        report: what to show.
        folder: where the text will lie; figures are named from there.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "page"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"md": escape, "fenced": fenced, "without_html": without_html}

    def path_of(path: Path) -> str:
        return quote(os.fsencode(Path(os.path.relpath(path, folder)).as_posix()))

    def lines_of(table) -> str:
        return "\n".join(table_lines(table, escape))

    template = environment.get_template("report.md")
    return template.render(report=report, path_of=path_of, lines_of=lines_of)


def escape(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def without_html(text: str) -> str:
    """Return a step's Markdown, in which HTML is shown as it is written."""
    text, code = text.rstrip(), ("fence", "code_block")
    blocks = [token.map for token in _PARSER.parse(text) if token.type in code and token.map]
    shown = {number for first, end in blocks for number in range(first, end)}
    lines = enumerate(re.split(r"\r\n|\r|\n", text))
    return "\n".join(line if at in shown else line.replace("<", "&lt;") for at, line in lines)


def fenced(text: str) -> str:
    """Return a text as it is, behind a fence longer than any within."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return "\n".join([fence, text.rstrip("\n"), fence])

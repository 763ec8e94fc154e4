"""A report as Markdown: the same tables and figures for places where no page can be opened."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from markdown_it import MarkdownIt

from ..results.tables import Table, table_lines
from .model import MARKDOWN, Chapter, Figure, Report, Text

_PARSER = MarkdownIt("commonmark", {"html": False})
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~])")


def to_markdown(report: Report, folder: Path) -> str:
    """Lay a report out.

    Args:
        report: what to show.
        folder: where the text will lie; figures are named from there.
    """
    return "\n".join(_lines(report, folder)) + "\n"


def _lines(report: Report, folder: Path) -> Iterator[str]:
    counts = report.counts
    yield f"# {escape(report.title)}"
    yield ""
    yield (
        f"{counts.finished:,} of {counts.total:,} runs finished, {counts.failed:,} failed, "
        f"{counts.unfinished:,} unfinished, {counts.waiting:,} waiting."
    )
    yield ""
    if report.remarks:
        yield from ["Not everything could be shown:", ""]
        yield from (f"- {escape(remark)}" for remark in report.remarks)
        yield ""
    sections = (
        ("Summary", _summary),
        ("Tables", lambda chapter: _things(chapter.tables, folder)),
        ("Figures", lambda chapter: _things(chapter.figures, folder)),
        ("Failures", _failures),
        ("Unfinished runs", lambda c: _table(c.unfinished) if c.unfinished else iter(())),
        ("Commands", _commands),
        ("Versions and settings", lambda chapter: _things(chapter.settings, folder)),
    )
    for title, lay_out in sections:
        found = [(chapter, list(lay_out(chapter))) for chapter in report.chapters]
        if not any(lines for _, lines in found):
            continue
        yield from [f"## {title}", ""]
        for chapter, lines in found:
            if lines and len(report.chapters) > 1:
                yield from [f"### {escape(chapter.title)}", ""]
            yield from lines


def escape(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _summary(chapter: Chapter) -> Iterator[str]:
    yield from (f"- {name}: {escape(value)}" for name, value in chapter.facts)
    yield ""
    yield from _table(chapter.parts)


def _things(things: list, folder: Path) -> Iterator[str]:
    """Yield tables, figures and texts, each under its title."""
    for thing in things:
        yield from [f"#### {escape(thing.title)}", ""]
        if isinstance(thing, Table):
            yield from _table(thing)
        elif isinstance(thing, Figure):
            path = quote(os.fsencode(Path(os.path.relpath(thing.path, folder)).as_posix()))
            yield from [f"![{escape(thing.title)}](<{path}>)", "", escape(thing.caption), ""]
        else:
            yield from _text(thing)


def _text(text: Text) -> Iterator[str]:
    if text.kind == MARKDOWN:
        yield from [*_without_html(text.text.rstrip()), ""]
    else:
        yield from _fenced(text.text)


def _without_html(text: str) -> Iterator[str]:
    """Yield the lines of a step's Markdown, in which HTML is shown as it is written."""
    code = ("fence", "code_block")
    blocks = [token.map for token in _PARSER.parse(text) if token.type in code and token.map]
    shown = {number for first, end in blocks for number in range(first, end)}
    for number, line in enumerate(re.split(r"\r\n|\r|\n", text)):
        yield line if number in shown else line.replace("<", "&lt;")


def _fenced(text: str) -> Iterator[str]:
    """Yield a text as it is, behind a fence longer than any within."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from [fence, text.rstrip("\n"), fence, ""]


def _table(table: Table) -> Iterator[str]:
    yield from [*table_lines(table, escape), ""]
    if table.caption:
        yield from [escape(table.caption), ""]
    yield from (f"- {escape(note)}" for note in table.notes)
    yield from [""] if table.notes else []


def _failures(chapter: Chapter) -> Iterator[str]:
    for failure in chapter.failures:
        yield from [f"#### {escape(failure.title)}", "", escape(failure.folder), ""]
        yield from [failure.updates, ""]
        yield from _fenced(failure.text)


def _commands(chapter: Chapter) -> Iterator[str]:
    for command in chapter.commands:
        yield from [f"{escape(command.title)}:", ""]
        yield from _fenced(command.text)

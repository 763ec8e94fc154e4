"""Links of a page as the site needs them: the repository's places become the site's.

Pages are written for the repository, where every link is relative to the file. What the site has
under another name is found there; what it does not have (folders, programs) is named, not linked.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

FENCE = re.compile(r"^ *(```|~~~)")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
HEADING = re.compile(r"^#+ ")
ELSEWHERE = re.compile(r"^(https?:|mailto:)")


@dataclass(frozen=True)
class Target:
    """What a link leads to: a path from the root of the repository, and a heading's anchor."""

    path: str
    anchor: str = ""


def target_of(link: str, page: str) -> Target | None:
    """Return what a link of a page leads to in the repository; None where it leads out of it.

    Args:
        link: as written, relative to the page.
        page: the page's path from the root.
    """
    if ELSEWHERE.match(link):
        return None
    path, _, anchor = link.partition("#")
    here = posixpath.join(posixpath.dirname(page), path) if path else page
    return Target(posixpath.normpath(here), anchor)


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return a page whose text was changed wherever it is no code."""
    lines, fenced = [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            line = _around_code(line, change)
        lines.append(line)
    return "\n".join(lines)


def _around_code(line: str, change: Callable[[str], str]) -> str:
    """Code keeps its place as a letter of its own meanwhile, so that links may hold code."""
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match.group())
        return chr(0xE000 + len(kept) - 1)

    line = change(CODE.sub(keep, line))
    return re.sub("[\ue000-\uf8ff]", lambda match: kept[ord(match.group()) - 0xE000], line)


def links_of(text: str) -> list[str]:
    """Return all links and pictures of a page, as written."""
    found: list[str] = []
    outside_code(text, lambda line: found.extend(m.group(3) for m in LINK.finditer(line)) or line)
    return found


def for_site(
    text: str, page: str, place: str, known: Mapping[str, str], exists: Callable[[str], bool]
) -> str:
    """Return a page with the links of the site.

    Args:
        text: the page.
        page: its path in the repository.
        place: its path in the site.
        known: path in the repository (of a folder: without its README.md) -> path in the site.
        exists: whether a path is in the repository; links to what is not stay, for mkdocs to see.
    """

    def one(match: re.Match[str]) -> str:
        picture, words, link = match.groups()
        target = target_of(link, page)
        if target is None or not (target.path in known or exists(target.path)):
            return match.group()
        there = known.get(target.path)
        if there is None:
            same = words.strip("`") == target.path or "\ue000" <= words[:1] <= "\uf8ff"
            return words if same else f"{words} (`{target.path}`)"
        path = posixpath.relpath(there, posixpath.dirname(place) or ".")
        anchor = f"#{target.anchor}" if target.anchor else ""
        return f"{picture}[{words}]({path}{anchor})"

    return outside_code(unescape_code(text), lambda line: LINK.sub(one, line))


def unescape_code(text: str) -> str:
    r"""Return a page whose tables have ``|`` in code, which repositories want as ``\|``."""
    lines, fenced = [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.startswith("|"):
            line = CODE.sub(lambda match: match.group().replace("\\|", "|"), line)
        lines.append(line)
    return "\n".join(lines)

"""Texts, tables and pages from templates, in ``pages/`` or in other rooms.

Templates escape all values of a page.
"""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from .shown_text import straight, visible

PAGES = Path(__file__).parent / "pages"


def render(name: str, folder: Path = PAGES, **values: Any) -> str:
    return _environment(folder).get_template(name).render(values)


@cache
def _environment(folder: Path) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"straight": straight, "visible": visible}
    environment.globals["zip"] = zip  # pyrefly: ignore[unsupported-operation]
    return environment

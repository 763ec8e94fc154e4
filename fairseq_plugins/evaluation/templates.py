"""Texts, tables and pages made from the templates in ``pages/``; a page needs no other file.

What a page shows is escaped, whatever stands in it.
"""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .shown_text import escape_markdown, straight, visible


def render(name: str, **values: Any) -> str:
    """Fill in a file of ``pages/``."""
    return _environment().get_template(name).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "pages"),
        autoescape=lambda name: name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"escaped": escape_markdown, "straight": straight, "visible": visible}
    environment.globals["zip"] = zip
    return environment

"""Notebooks as pages of the site: texts, code, and the output that the notebooks hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def page_of(path: Path) -> str:
    """Return a notebook as Markdown."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _parts(cell)) + "\n"


def _parts(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = output.get("data", {"text/plain": output.get("text", [])})
        if html := data.get("text/html"):
            plain = "".join(line.strip() for line in html)
            yield re.sub(r"<table[^>]*>", "<table>", plain)  # laid out as all others
        else:
            yield f"```text\n{''.join(data['text/plain']).rstrip()}\n```"

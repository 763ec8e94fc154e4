"""The house: every file says what it is, OVERVIEW.md is true, functions stay short."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fairseq_plugins"
MODULES = sorted(PACKAGE.rglob("*.py"))
OVERVIEW = (ROOT / "OVERVIEW.md").read_text(encoding="utf-8")
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
LONG, MOST_LONG = 35, 30  # lines of a function; functions that are longer


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_say_in_their_first_sentence_what_they_are(path) -> None:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = text.split("\n\n")[0]
    assert len(first) > 15, path


def test_few_functions_are_long() -> None:
    long = [
        f"{path.relative_to(PACKAGE)}: {node.name}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.end_lineno - node.lineno + 1 > LONG
    ]
    assert len(long) <= MOST_LONG, long


def test_the_overview_is_short_and_names_every_room() -> None:
    assert len(OVERVIEW.splitlines()) <= 150
    assert [room for room in ROOMS if f"{room}/" not in OVERVIEW] == []


def test_files_that_the_overview_names_are_there() -> None:
    named = set(re.findall(r"`([\w/]+\.(?:py|sh|slurm))`", OVERVIEW))
    assert len(named) > 40
    places = (ROOT, PACKAGE, ROOT / "scripts")
    assert [name for name in sorted(named) if not any((at / name).exists() for at in places)] == []

"""The house: every file says what it is, OVERVIEW.md is true, functions stay short."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fairseq_plugins"
MODULES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
}
OVERVIEW = (ROOT / "OVERVIEW.md").read_text(encoding="utf-8")
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
LONG, MOST_LONG = 35, 30  # lines of a function; functions that are longer


def test_files_say_in_their_first_sentence_what_they_are() -> None:
    said = {path: ast.get_docstring(tree) or "" for path, tree in MODULES.items()}
    assert [f"{path}:1" for path, text in said.items() if len(text.split("\n\n")[0]) <= 15] == []


def test_few_functions_are_long() -> None:
    long = [
        f"{path}:{node.lineno}: {node.name}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.end_lineno - node.lineno + 1 > LONG
    ]
    assert len(long) <= MOST_LONG, long


def test_what_a_user_did_wrong_is_no_plain_value_error() -> None:
    plain = [
        f"{path}:{node.lineno}"
        for path, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and node.exc.func.id == "ValueError"
    ]
    assert [place for place in plain if "/nn/" not in place] == []


def test_the_overview_is_short_and_names_every_room() -> None:
    assert len(OVERVIEW.splitlines()) <= 150
    assert [room for room in ROOMS if f"{room}/" not in OVERVIEW] == []


def test_files_that_the_overview_names_are_there() -> None:
    named = set(re.findall(r"`([\w/]+\.(?:py|sh|slurm))`", OVERVIEW))
    assert len(named) > 40
    places = (ROOT, PACKAGE, ROOT / "scripts")
    assert [name for name in sorted(named) if not any((at / name).exists() for at in places)] == []

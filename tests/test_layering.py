"""Imports fall one way: the table of STYLE.md's "pure core, thin edge", read off the sources."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "fairseq_plugins"

# room -> rooms it may import beside itself
MAY_IMPORT = {
    "syntax": set(),
    "nn": set(),
    "evaluation": set(),
    "experiments": {"evaluation", "prep", "checkpoints"},
    "resources": set(),
    "checkpoints": set(),
    "pretrained": {"nn", "checkpoints"},
    "criterions": {"nn", "evaluation"},
    "optim": set(),
    "data": {"syntax"},
    "prep": {"data", "syntax", "resources", "pretrained"},
    "models": {"nn", "pretrained", "syntax", "checkpoints"},
    "tasks": {"data", "prep", "evaluation", "syntax", "checkpoints"},
    "inference": {"checkpoints", "models", "tasks", "prep", "evaluation", "pretrained", "nn"},
    "scripts": {"checkpoints", "inference", "prep", "evaluation", "experiments", "resources"},
}
PACKAGE_FILES = {"__init__.py": {"models", "tasks", "criterions", "optim"}, "__main__.py": set()}
LOOSE = {
    *PACKAGE_FILES,
    "command.py",
    "files.py",
    "installation.py",
    "messages.py",
    "text_reading.py",
}

# library -> where it may be imported
MAY_USE = {
    "fairseq": {
        *("data", "models", "tasks", "criterions", "optim", "inference"),
        "lab/plan/train_options.py",
    },
    "fairseq_cli": {"inference"},
    "safetensors": {"pretrained"},
    "spacy": {
        "text/annotate.py",
        "scripts/train_english_pipeline.py",
        "scripts/english_scores.py",
    },
    "matplotlib": {"experiments"},
    "jinja2": {"lab/report/html.py"},
    "markdown_it": {"lab/report/html.py", "lab/report/markdown.py"},
    "nltk": {"text/wordnet.py"},
    "submitit": {"lab/execution/job.py", "lab/execution/submission.py"},
}


def sources() -> list[Path]:
    """Return all Python files of the package and of scripts, relative to the root."""
    found = [*(ROOT / PACKAGE).rglob("*.py"), *(ROOT / "scripts").glob("*.py")]
    return sorted(path.relative_to(ROOT) for path in found)


def room_of(path: Path) -> str:
    """Return the room of a file: the folder within the package, or ``scripts``."""
    if path.parts[0] != PACKAGE:
        return path.parts[0]
    return path.parts[1] if len(path.parts) > 2 else ""


def imported(path: Path) -> Iterator[str]:
    """Yield the full names of all modules a file imports, wherever the import stands."""
    package = path.parent.parts
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            base += [node.module] if node.module else []
            for alias in node.names:  # "from . import tasks" names a room, too
                yield ".".join([*base, alias.name])


def rooms_imported(path: Path) -> set[str]:
    """Return the rooms of ours that a file imports."""
    names = [name.split(".") for name in imported(path)]
    return {parts[1] for parts in names if parts[0] == PACKAGE and parts[1] in MAY_IMPORT}


def test_every_room_is_in_the_table() -> None:
    rooms = {room_of(path) for path in sources()} - {""}
    assert rooms <= set(MAY_IMPORT)
    loose = {path.name for path in sources() if room_of(path) == ""}
    assert loose == LOOSE


@pytest.mark.parametrize("path", sources(), ids=str)
def test_imports_fall_one_way(path) -> None:
    room = room_of(path)
    allowed = {room, *MAY_IMPORT[room]} if room else PACKAGE_FILES.get(path.name, set())
    assert rooms_imported(path) <= allowed


@pytest.mark.parametrize("library", MAY_USE)
def test_libraries_stay_in_their_rooms(library) -> None:
    users = {path for path in sources() if library in {n.split(".")[0] for n in imported(path)}}
    assert users or library == "fairseq_cli"
    for path in users:
        inner = path.relative_to(PACKAGE) if path.parts[0] == PACKAGE else path
        assert {room_of(path), inner.as_posix()} & MAY_USE[library], path


def test_package_imports_itself_relatively() -> None:
    for path in sources():
        if path.parts[0] == PACKAGE:
            tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
            modules = {
                n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and not n.level
            }
            assert not any((module or "").split(".")[0] == PACKAGE for module in modules), path


def test_the_reader_of_imports_sees_every_kind(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = Path(PACKAGE) / "nn" / "x.py"
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(
        "from .. import prep\nfrom ..data import streams\nfrom .masks import a\n"
        "def f():\n    import spacy.tokens\n    from fairseq_plugins.tasks.x import y\n"
    )
    assert rooms_imported(path) == {"prep", "data", "nn", "tasks"}
    assert "spacy.tokens" in set(imported(path))


def test_pure_rooms_need_no_fairseq() -> None:
    code = (
        "import importlib, pkgutil, sys\n"
        "for name in ('fairseq', 'spacy', 'matplotlib'): sys.modules[name] = None\n"
        f"for room in ('syntax', 'nn', 'evaluation', 'checkpoints', 'pretrained'):\n"
        f"    package = importlib.import_module('{PACKAGE}.' + room)\n"
        "    for part in pkgutil.iter_modules(package.__path__):\n"
        "        importlib.import_module(package.__name__ + '.' + part.name)\n"
        "print('ok')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("ok\n", "")

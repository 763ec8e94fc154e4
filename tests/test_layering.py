"""Imports fall one way: the table of STYLE.md's "pure core, thin edge", read off the sources."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "fairseq_plugins"

# room or sub-room -> those it may import; what a room may import, its sub-rooms may as well.
# A file at a room's top may import all of its sub-rooms, and they what imports none of them.
_TEXT = {"syntax", "targets", "pretrained", "data", "corpora"}
MAY_IMPORT = {
    "syntax": set(),
    "nn": set(),
    "targets": {"syntax", "nn"},
    "evaluation": {"syntax", "targets"},
    "door": set(),
    "bundles": _TEXT | {"text", "architectures", "methods", "nn", "evaluation", "door"},
    "resources": set(),
    "optim": {"registration", "chosen_names", "nn"},
    "pretrained": {"nn", "door"},
    "criterions": {"methods", "nn", "targets", "registration"},
    "data": {"syntax", "targets", "pretrained"},
    "corpora": {"syntax", "targets", "data"},
    "corpora/readers": set(),
    "text": _TEXT | {"resources", "door"},
    "text/pipeline": set(),
    "prep": _TEXT | {"text"},
    "prep/recipes": set(),
    "methods": {"nn", "syntax", "targets", "door"},
    "architectures": {"methods", "nn", "pretrained", "syntax", "targets", "door"},
    "models": {"targets", "methods", "architectures", "bundles", "nn", "pretrained", "syntax"}
    | {"door", "registration"},
    "tasks": {
        "chosen_names",
        "architectures",
        "methods",
        "bundles",
        "data",
        "corpora",
        "text",
        "evaluation",
        "syntax",
        "targets",
        "door",
        "registration",
    },
    "augment": _TEXT | {"text", "prep"},
    "augment/perturbation": set(),
    "inference": _TEXT
    | {"text", "prep", "augment", "tasks", "models", "door", "evaluation", "nn"}
    | {"architectures", "methods", "bundles"},
    "demo": _TEXT | {"text", "evaluation", "bundles", "inference", "service"},
    "service": {"bundles", "corpora", "evaluation", "targets", "inference"},
    "lab": {
        "syntax",
        "targets",
        "evaluation",
        "prep",
        "corpora",
        "data",
        "door",
        "registration",
    },
    "lab/plan": set(),
    "lab/results": {"lab/plan"},
    "lab/figures": {"lab/results"},
    "lab/execution": {"lab/plan", "lab/results"},
    "lab/report": {"lab/plan", "lab/results", "lab/figures", "lab/execution"},
    "python": {"corpora", "data", "evaluation", "inference", "lab", "prep", "targets"},
    "cli": {"bundles", "door", "inference", "prep", "augment", "corpora", "data", "text"}
    | {"demo", "evaluation", "lab", "resources", "registration", "service", "syntax", "targets"},
}
LOOSE = {
    "__init__",
    "__main__",
    "chosen_names",
    "deferred_imports",
    "errors",
    "files",
    "installation",
    "language_codes",
    "messages",
    "option_flags",
    "quiet",
    "registration",
    "text_reading",
}
# what every room may import
FREE = LOOSE - {"__main__", "chosen_names", "registration"}

# library -> where it may be imported
MAY_USE = {
    "fairseq": {
        *("data", "models", "tasks", "criterions", "optim", "inference"),
        "lab/plan/allowed.py",
        "registration.py",
    },
    "fairseq_cli": {"inference"},
    "safetensors": {"pretrained", "prep/chunks.py"},
    "spacy": {
        "demo/sentences.py",
        "text/annotate.py",
        "door/pipeline_files.py",
        "text/pipeline/training.py",
        "text/pipeline/scores.py",
        "text/pipeline/treebank.py",
    },
    "ufal": {"text/udpipe.py", "door/udpipe_trial.py", "text/pipeline/udpipe_training.py"},
    "matplotlib": {"lab/figures"},
    "jinja2": {"evaluation/templates.py"},
    "nltk": {"text/wordnet.py", "language_codes.py"},
    "gradio": {"demo"},
    "ctranslate2": {"bundles/ctranslate2_model.py"},
    "fastapi": {"demo", "service/app.py"},
    "starlette": {"demo", "service/app.py"},
    "uvicorn": {"demo", "service/server.py"},
    "submitit": {"lab/execution/slurm.py"},
}


def sources() -> list[Path]:
    """Return all Python files of the package, relative to the root."""
    return sorted(path.relative_to(ROOT) for path in (ROOT / PACKAGE).rglob("*.py"))


def place_of(module: Path) -> str:
    """Return the room or sub-room of a file, or an empty text at the root."""
    return "/".join(module.parts[1:-1])


@cache
def tree_of(file: Path) -> ast.Module:
    """Return what a file says, read once."""
    return ast.parse(file.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """Yield the full names of all modules a file imports, wherever the import stands."""
    package = path.parent.parts
    for node in ast.walk(tree_of(ROOT / path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*package[: len(package) - node.level + 1]] if node.level else []
            base += [node.module] if node.module else []
            for alias in node.names:  # "from . import tasks" names a room, too
                yield ".".join([*base, alias.name])


@cache
def own_imports(path: Path) -> set[Path]:
    """Return the files of ours that a file imports; of a name in a room, the room's own file."""
    found = set()
    for name in imported(path):
        parts = name.split(".")
        if parts[0] != PACKAGE:
            continue
        module = Path(*parts)
        places = [module.with_suffix(".py"), module / "__init__.py"]
        places += [module.parent.with_suffix(".py"), module.parent / "__init__.py"]
        found |= {next(place for place in places if (ROOT / place).is_file())}
    return found - {path}


def is_allowed(user: Path, used: Path) -> bool:
    """Whether a file may import another."""
    mine, other = place_of(user), place_of(used)
    if not other:
        allowed = FREE | (MAY_IMPORT[mine] if mine else LOOSE)
        return used.stem in allowed or used.stem in MAY_IMPORT.get(mine.split("/")[0], set())
    room = mine.split("/")[0]
    if other.split("/")[0] == room:
        return other in (mine, room) or mine == room or other in MAY_IMPORT[mine]
    if not mine:
        return (user.stem, other) in {("__main__", "cli"), ("__init__", "python")}
    return other.split("/")[0] in MAY_IMPORT[room]


def test_every_room_is_in_the_table() -> None:
    assert {place_of(path) for path in sources()} - {""} == set(MAY_IMPORT)
    assert {path.stem for path in sources() if not place_of(path)} == LOOSE


def test_imports_fall_one_way() -> None:
    pairs = ((path, used) for path in sources() for used in sorted(own_imports(path)))
    assert [f"{path} imports {used}" for path, used in pairs if not is_allowed(path, used)] == []


def test_the_table_itself_falls_one_way() -> None:
    assert list(TopologicalSorter(MAY_IMPORT).static_order())


def test_private_files_stay_in_their_rooms():
    """Files and names that begin with an underscore are for their own room alone."""
    wrong = [
        f"{path} imports {name}"
        for path in sources()
        for name in imported(path)
        if name.startswith(f"{PACKAGE}.")
        and any(part.startswith("_") and part[1] != "_" for part in name.split("."))
        and name.split(".")[1] != path.parts[1]
    ]
    assert wrong == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {str(path): {str(used) for used in own_imports(path)} for path in sources()}
    graph[f"{PACKAGE}/__init__.py"] = set()  # imports `python/` for types, and at its first use
    assert list(TopologicalSorter(graph).static_order())


def test_libraries_stay_in_their_rooms() -> None:
    used = {path: {name.split(".")[0] for name in imported(path)} for path in sources()}
    assert MAY_USE.keys() - {"fairseq_cli"} <= set().union(*used.values())
    wrong = [
        f"{path} imports {library}"
        for path, libraries in used.items()
        for library in MAY_USE.keys() & libraries
        if not {place_of(path), path.relative_to(PACKAGE).as_posix(), *path.parts}
        & MAY_USE[library]
    ]
    assert wrong == []


def test_package_imports_itself_relatively() -> None:
    for path in sources():
        nodes = ast.walk(tree_of(ROOT / path))
        modules = {n.module for n in nodes if isinstance(n, ast.ImportFrom) and not n.level}
        assert not any((module or "").split(".")[0] == PACKAGE for module in modules), path


def test_the_reader_of_imports_sees_every_kind(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    path = Path(PACKAGE) / "nn" / "x.py"
    for name in ("nn/x", "nn/masks", "data/streams", "prep/__init__", "tasks/x"):
        (tmp_path / PACKAGE / f"{name}.py").parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / PACKAGE / f"{name}.py").touch()
    (tmp_path / path).write_text(
        "from .. import prep\nfrom ..data import streams\nfrom .masks import a\n"
        "def f():\n    import spacy.tokens\n    from fairseq_plugins.tasks.x import y\n"
    )
    assert {place_of(used) for used in own_imports(path)} == {"prep", "data", "nn", "tasks"}
    assert "spacy.tokens" in set(imported(path))


# what is not there -> rooms of which every file can be imported all the same
PURE = {
    ("fairseq", "hydra", "omegaconf", "spacy", "pandas", "matplotlib"): (
        *("nn", "door", "pretrained", "architectures", "bundles", "service"),
    ),
    ("fairseq", "torch", "spacy", "pandas", "matplotlib"): (
        "syntax",
        "evaluation",
        "corpora",
        "text",
    ),
}
ABSENT = """
import sys

class Absent:  # None in sys.modules would not do: SciPy looks there for torch
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {absent!r}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Absent())
"""
_IMPORT_ALL = """
import importlib, pkgutil
for room in {rooms!r}:
    package = importlib.import_module("{package}." + room)
    for part in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if part.name not in {spared!r}:
            importlib.import_module(part.name)
print("ok")
"""


@pytest.mark.parametrize("absent", PURE)
def test_pure_rooms_need_no_fairseq(absent) -> None:
    spared = {".".join((PACKAGE, *Path(file).with_suffix("").parts)) for file in MAY_USE["spacy"]}
    code = (ABSENT + _IMPORT_ALL).format(
        absent=absent, rooms=PURE[absent], package=PACKAGE, spared=spared
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("ok\n", "")

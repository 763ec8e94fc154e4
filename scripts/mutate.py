"""Changes the package in one place at random, many times, and says which tests notice.

    python scripts/mutate.py --seed 7 --count 60 fairseq_plugins/nn fairseq_plugins/data
    python scripts/mutate.py --seed 7 --only lines.txt --tests "tests/{room}" --tests "--slow tests"

A mutant is the package with another operator or constant, a condition negated, or a call or one of
its keywords left out; it is made in a copy, never in the working tree. The tests near its module
run first, in a process forked from one that has imported the libraries; those of each ``--tests``
run for what has survived all before. In the end those that have failed run without a mutant.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy
import multiprocessing
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "fairseq_plugins"
LIBRARIES = (
    "torch fairseq_cli.train pytest hypothesis spacy sacrebleu pandas matplotlib.figure uvicorn"
)
SWAPPED = "Lt LtE Gt GtE Eq NotEq Is IsNot In NotIn And Or Add Sub BitOr BitAnd"  # pairs
SWAPS = {getattr(ast, name): ast.Mult for name in ("Div", "FloorDiv", "Pow", "Mod", "MatMult")}
SWAPS[ast.Mult] = ast.Add
for _one, _other in zip(*[iter(getattr(ast, name) for name in SWAPPED.split())] * 2):
    SWAPS |= {_one: _other, _other: _one}
SKIPPED = ("annotation", "returns", "decorator_list")  # parts without behaviour to test
SHOWN = ("help", "metavar")  # keywords that are told to people
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+(?: \S+)*?)(?: - .*)?$", re.MULTILINE)
LATE, CRASH = "the time limit", "a crash"


class Mutant(NamedTuple):
    """A change of one place: the bytes from ``begin`` to ``end`` of a module become ``text``."""

    path: str
    line: int
    begin: int
    end: int
    old: str
    text: str

    def __str__(self) -> str:
        old, new = (s if len(s) <= 60 else f"{s[:57]}..." for s in (self.old, self.text))
        return f"{self.path}:{self.line}  {old} -> {new}"

    @property
    def room(self) -> str:
        """The room of its module, or the module itself."""
        return self.path.split("/")[1].removesuffix(".py")

    def changed(self, source: bytes) -> bytes:
        """Return the module with the change."""
        return source[: self.begin] + self.text.encode() + source[self.end :]


def mutants(path: str, source: bytes) -> Iterator[Mutant]:
    """Yield every mutant of a module that this script knows."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, others in _changes(ast.parse(source)):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        for new in map(ast.unparse, others):
            text = new if isinstance(node, ast.stmt) else f"({new})"
            yield Mutant(path, node.lineno, begin, end, ast.unparse(node), text)


def _changes(node: ast.AST) -> Iterator[tuple[ast.AST, list[ast.AST]]]:
    """Yield what can be changed of a tree, annotations and formatted text apart, and into what."""
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if name in SKIPPED or not isinstance(child, ast.AST) or type(child) is ast.JoinedStr:
                continue
            others = [*_others(child)]
            if name in ("test", "ifs"):
                others.append(ast.UnaryOp(ast.Not(), child))
            if others:
                yield child, others
            yield from _changes(child)


def _others(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node may become, wherever it stands."""
    if isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            yield _with(node, ops=[*node.ops[:place], SWAPS[type(op)](), *node.ops[place + 1 :]])
    elif isinstance(node, (ast.BoolOp, ast.BinOp, ast.AugAssign)) and type(node.op) in SWAPS:
        yield _with(node, op=SWAPS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        yield _with(node, value=not node.value if type(node.value) is bool else node.value + 1)
    elif isinstance(node, ast.Call):
        for one in (one for one in node.keywords if one.arg not in SHOWN):
            yield _with(node, keywords=[other for other in node.keywords if other is not one])
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    other = copy.copy(node)
    vars(other).update(fields)
    return other


def chosen(root: Path, names: Sequence[str], only: str, seed: int, count: int) -> list[Mutant]:
    """Choose lines by chance, no line twice, and one mutant of each."""
    paths = sorted({p for name in names for p in (root / name, *(root / name).rglob("*.py"))})
    wanted = {*Path(only).read_text("utf-8").split()} if only else ()
    lines: dict[str, list[Mutant]] = defaultdict(list)
    for path in (path for path in paths if path.suffix == ".py"):
        for one in mutants(path.relative_to(root).as_posix(), path.read_bytes()):
            if not only or f"{one.path}:{one.line}" in wanted:
                lines[f"{one.path}:{one.line}"].append(one)
    rng = random.Random(seed)
    return [rng.choice(lines[at]) for at in rng.sample([*lines], min(count, len(lines)))]


def near(root: Path, path: str) -> list[list[str]]:
    """Return the test files in a module's room: those of a like name, and others that import it."""
    parent, _, name = path.removesuffix(".py").replace("/", ".").rpartition(".")
    dotted = re.escape(f"{parent}.{name}")
    imports = re.compile(rf"^from ({dotted} import|{re.escape(parent)} import .*\b{name}\b)", re.M)
    room = root / "tests" / "/".join(path.split("/")[1:-1][:1])
    tests = sorted(room.glob("test_*.py"))
    stem = name.strip("_")
    named = [p for p in tests if stem in p.stem or p.stem.removeprefix("test_") in stem]
    others = [p for p in tests if p not in named and imports.search(p.read_text("utf-8"))]
    return [[str(p.relative_to(root)) for p in part] for part in (named, others) if part]


class Laboratory:
    """A copy of the working tree in which mutants are tried, each in a process of its own.

    Args:
        root: where the copy lies.
        seconds: how long the tests of one mutant may take.
    """

    def __init__(self, root: Path, seconds: float | None) -> None:
        self.root, self.seconds, self.log = root, seconds, root.with_name("log")
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        for name in subprocess.check_output(listed, cwd=ROOT, text=True).split("\0"):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, root / name)
        # bytecode goes by the source's hash: of one mutant and the next, time and size may agree
        how = PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(root / PACKAGE, quiet=2, invalidation_mode=how)
        os.environ["PYTHONPATH"] = str(root)
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        sys.dont_write_bytecode = False  # of the tests, which nothing changes
        for name in LIBRARIES.split():
            with suppress(ImportError):
                __import__(name)

    def killer(self, mutant: Mutant, tests: Sequence[str]) -> str:
        """Return the first of some tests that fails with a mutant; empty if they pass."""
        path = self.root / mutant.path
        source = path.read_bytes()
        path.write_bytes(mutant.changed(source))
        try:
            return next(iter(self.failures([*tests, "-x"])), "")
        finally:
            path.write_bytes(source)

    def failures(self, words: Sequence[str]) -> list[str]:
        """Run tests; return those that fail, or why they are not known."""
        fork = multiprocessing.get_context("fork").Process(target=self._run, args=(words,))
        fork.start()
        try:
            fork.join(self.seconds)
            if fork.is_alive():
                return [LATE]
        finally:
            with suppress(ProcessLookupError):
                os.killpg(fork.pid, signal.SIGKILL)  # and whatever the tests have started
            fork.join()
        found = FAILED.findall(self.log.read_text("utf-8", "replace"))
        return [] if fork.exitcode in (0, 5) else found or [CRASH]  # 5: there are no tests

    def _run(self, words: Sequence[str]) -> None:
        os.setsid()
        os.dup2(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(1, 2)
        os.chdir(self.root)
        sys.path.insert(0, str(self.root))
        import pytest

        fixed = ["-q", "-pno:cacheprovider", "-pno:xdist", "--tb=no", "-rfE"]
        code = pytest.main([*fixed, f"--basetemp={self.root.with_name('tmp')}", *words])
        sys.stdout.flush()
        os._exit(int(code))


def fate(laboratory: Laboratory, mutant: Mutant, further: Sequence[str]) -> tuple[str, str]:
    """Try a mutant on the tests near it, then on further ones; return what kills it, of which."""
    place = {"room": mutant.room, "module": Path(mutant.path).stem}
    stages = [("near", tests) for tests in near(ROOT, mutant.path)]
    stages += [(words, shlex.split(words.format(**place))) for words in further]
    for stage, tests in stages:
        killer = laboratory.killer(mutant, tests)
        if killer and (killer not in (LATE, CRASH) or killer not in laboratory.failures(tests)):
            return killer, stage
    return "", ""


def main() -> None:
    """Read the options, try the mutants, print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", default=[PACKAGE], help="modules or folders to change")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--only", default="", help="file of lines to change, PATH:LINE each")
    parser.add_argument("--tests", action="append", default=[], help="words of pytest")
    parser.add_argument("--seconds", type=float, default=120, help="longest run of some tests")
    args = parser.parse_args()
    found = chosen(ROOT, args.paths, args.only, args.seed, args.count)
    fates: list[tuple[Mutant, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        laboratory = Laboratory(Path(folder, "copy"), args.seconds)
        with suppress(KeyboardInterrupt):
            for number, mutant in enumerate(found, 1):
                began = time.monotonic()
                killer, stage = fate(laboratory, mutant, args.tests)
                fates.append((mutant, killer))
                end = f"killed by {killer} ({stage})" if killer else "survived"
                spent = time.monotonic() - began
                print(f"{number}/{len(found)} {mutant}: {end}, {spent:.0f} s", flush=True)
        laboratory.seconds = None
        killers = {killer for _, killer in fates} - {"", LATE, CRASH}
        unsound = {*laboratory.failures(["--all", *sorted(killers)])} if killers else set()
    for killer in unsound:
        print(f"{killer} fails without a mutant as well: what it killed counts as alive")
    for room in [*sorted({mutant.room for mutant, _ in fates}), ""]:
        ends = [bool({killer} - {"", *unsound}) for one, killer in fates if room in ("", one.room)]
        print(f"{room or 'all'}: {sum(ends)} of {len(ends)} killed")


if __name__ == "__main__":
    main()

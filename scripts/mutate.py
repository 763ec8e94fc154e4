"""Changes the package in one place at random, many times, and says which tests notice.

    python scripts/mutate.py --seed 7 --count 60 fairseq_plugins/nn fairseq_plugins/data
    python scripts/mutate.py --seed 7 --only lines.txt --tests "--slow tests/{room}"

A mutant is a function with another operator or constant, a condition negated, or a call or one of
its keywords left out. Tests are collected once, in a copy of the tree; for every mutant the process
forks, and the fork changes the file in the copy and the code of the function, and runs the fast
tests near the module, then those of ``--tests``. What fails without a mutant as well is named.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import multiprocessing
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "fairseq_plugins"
SWAPPED = "Lt LtE Gt GtE Eq NotEq Is IsNot In NotIn And Or Add Sub BitOr BitAnd"  # pairs
SWAPS = {getattr(ast, name): ast.Mult for name in ("Div", "FloorDiv", "Pow", "Mod", "MatMult")}
SWAPS[ast.Mult] = ast.Add
for _one, _other in zip(*[iter(getattr(ast, name) for name in SWAPPED.split())] * 2):
    SWAPS |= {_one: _other, _other: _one}
SKIPPED = ("annotation", "returns", "decorator_list", "args")  # of functions and assignments
SHOWN = ("help", "metavar")  # keywords that are told to people
CRASH = "a crash"
PYTEST = "-pno:terminal -pno:cacheprovider -pno:xdist -oaddopts=--import-mode=importlib".split()


class Mutant(NamedTuple):
    """A change of one place: the bytes from ``begin`` to ``end`` of a module become ``text``."""

    path: str
    line: int
    begin: int
    end: int
    old: str
    text: str

    def __str__(self) -> str:
        old, new = (" ".join(text.split()) for text in (self.old, self.text))
        old, new = (s if len(s) <= 60 else f"{s[:57]}..." for s in (old, new))
        return f"{self.path}:{self.line}  {old} -> {new}"

    @property
    def room(self) -> str:
        """The room of its module, or the module itself."""
        return self.path.split("/")[1].removesuffix(".py")

    def changed(self, source: bytes) -> bytes:
        """Return the module with the change."""
        return source[: self.begin] + self.text.encode() + source[self.end :]


def mutants(path: str, source: bytes) -> Iterator[Mutant]:
    """Yield every mutant of a module's functions that this script knows."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node, others in _changes(ast.parse(source), inside=False):
        begin = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        lines = "\n" * (node.end_lineno - node.lineno)  # so that what follows keeps its place
        for new in map(ast.unparse, others):
            text = f"{new}{lines}" if isinstance(node, ast.stmt) else f"({new}{lines})"
            yield Mutant(path, node.lineno, begin, end, ast.unparse(node), text)


def _changes(node: ast.AST, *, inside: bool) -> Iterator[tuple[ast.AST, list[ast.AST]]]:
    """Yield what can be changed inside functions, formatted text apart, and into what."""
    inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                continue
            if name in SKIPPED and not isinstance(node, ast.Call):
                continue
            others = [*_others(child)] if inside else []
            if inside and name in ("test", "ifs"):
                others.append(ast.UnaryOp(ast.Not(), child))
            if others:
                yield child, others
            yield from _changes(child, inside=inside)


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
        yield _with(node, value=ast.BoolOp(ast.And(), [ast.Constant(False), node.value]))


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


def copied(root: Path) -> None:
    """Copy the working tree without what git ignores."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(listed, cwd=ROOT, text=True).split("\0"):
        if (ROOT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / name)


def swap(functions: Sequence[FunctionType], old: bytes, new: bytes) -> None:
    """Give the functions of a module the code of another text of the module."""
    path = functions[0].__code__.co_filename if functions else ""
    before, after = ({_key(c): c for c in _codes(compile(s, path, "exec"))} for s in (old, new))
    for found in functions:
        key = _key(found.__code__)
        if before.get(key) != after.get(key):
            with suppress(ValueError):  # without a variable of an outer function: survives
                found.__code__ = after[key]


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


class Trials:
    """A plug-in of pytest that tries mutants on collected tests instead of running these once.

    Args:
        found: the mutants.
        further: words of pytest for those that survive the tests near them.
        seconds: of a processor that the tests of one mutant may take.
    """

    def __init__(self, found: Sequence[Mutant], further: Sequence[str], seconds: int) -> None:
        self.found, self.further, self.seconds = found, further, seconds
        self.fates: list[tuple[Mutant, str]] = []
        self.out = os.fdopen(os.dup(1), "w")  # pytest captures the other
        self.functions: dict[str, list[FunctionType]] = defaultdict(list)  # file -> those loaded
        self.told: Any = None

    def pytest_runtestloop(self, session: Any) -> bool:
        """Try each mutant; print what became of it, and the rates at the end."""
        for one in gc.get_objects():
            if type(one) is FunctionType:
                self.functions[one.__code__.co_filename].append(one)
        gc.freeze()  # looking for garbage in all this would cost a fork more than its tests
        with suppress(KeyboardInterrupt):
            for number, mutant in enumerate(self.found, 1):
                began = time.monotonic()
                killer, stage = self.fate(session.items, mutant)
                self.fates.append((mutant, killer))
                end = f"killed by {killer} ({stage})" if killer else "survived"
                spent = time.monotonic() - began
                self.say(f"{number}/{len(self.found)} {mutant}: {end}, {spent:.0f} s")
        killers = {killer for _, killer in self.fates} - {"", CRASH}
        unsound: set[str] = set()
        self.seconds = 3600
        while again := self.failure(_named(session.items, ["--all", *killers - unsound]), int):
            unsound |= {again} if again in killers else killers
        self.rate(unsound)
        return True

    def fate(self, items: Sequence[Any], mutant: Mutant) -> tuple[str, str]:
        """Return what kills a mutant, and of which tests it is; nothing where it survives."""
        stages = [("near", tests) for tests in near(ROOT, mutant.path)]
        stages += [(one, shlex.split(one.format(room=mutant.room))) for one in self.further]
        path = Path(mutant.path).resolve()
        old, loaded = path.read_bytes(), self.functions[str(path)]
        for stage, words in stages:
            tests = _named(items, words)
            path.write_bytes(mutant.changed(old))
            try:
                killer = self.failure(tests, lambda: swap(loaded, old, mutant.changed(old)))
            finally:
                path.write_bytes(old)
            if killer:
                return killer, stage
        return "", ""

    def failure(self, tests: Sequence[Any], change: Callable[[], object]) -> str:
        """Run tests in a fork, after a change; return the first that fails, or what stopped it."""
        told, self.told = multiprocessing.Pipe(duplex=False)
        fork = multiprocessing.get_context("fork").Process(target=self._run, args=(tests, change))
        fork.start()
        self.told.close()
        self.told = None
        try:
            fork.join(20 * self.seconds)
            late = fork.is_alive() or fork.exitcode == -signal.SIGXCPU
        finally:
            with suppress(ProcessLookupError):
                os.killpg(fork.pid, signal.SIGKILL)  # and whatever the tests have started
            fork.join()
        if told.poll():
            with suppress(EOFError):
                return told.recv()
        return CRASH if fork.exitcode and not late else ""  # out of time, nothing is known

    def _run(self, tests: Sequence[Any], change: Callable[[], object]) -> None:
        os.setsid()
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        resource.setrlimit(resource.RLIMIT_CPU, (self.seconds, self.seconds + 1))
        change()
        for test, behind in zip(tests, [*tests[1:], None]):
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=behind)
        os._exit(0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """End a fork with the first test that fails."""
        if report.failed and self.told:
            self.told.send(report.nodeid)
            os._exit(1)

    def rate(self, unsound: set[str]) -> None:
        """Print how many mutants of each room were killed."""
        for killer in unsound:
            self.say(f"{killer} fails without a mutant as well: what it killed counts as alive")
        for room in [*sorted({mutant.room for mutant, _ in self.fates}), ""]:
            ends = [killer for one, killer in self.fates if room in ("", one.room)]
            dead = sum(bool(killer) and killer not in unsound for killer in ends)
            self.say(f"{room or 'all'}: {dead} of {len(ends)} killed")

    def say(self, line: str) -> None:
        """Print a line at once, whatever pytest captures."""
        print(line, file=self.out, flush=True)


def _named(items: Sequence[Any], words: Sequence[str]) -> list[Any]:
    """Return the tests that words of pytest name, of the fast tier where no flag names another."""
    names = tuple(word for word in words if not word.startswith("-"))
    apart = set() if "--all" in words else {"long"} if "--slow" in words else {"slow", "long"}
    tests = [item for item in items if item.nodeid.startswith(names)]
    return [item for item in tests if not apart & {*item.keywords}]


def main() -> None:
    """Read the options, collect the tests, try the mutants."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", default=[PACKAGE], help="modules or folders to change")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--only", default="", help="file of lines to change, PATH:LINE each")
    parser.add_argument("--tests", action="append", default=[], help="words of pytest")
    parser.add_argument("--seconds", type=int, default=60, help="longest run of some tests")
    args = parser.parse_args()
    found = chosen(ROOT, args.paths, args.only, args.seed, args.count)
    words = {file for one in found for files in near(ROOT, one.path) for file in files}
    words |= {w for o in args.tests for one in found for w in shlex.split(o.format(room=one.room))}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "copy").resolve()
        copied(root)
        os.chdir(root)
        os.environ["PYTHONPATH"] = str(root)
        sys.path.insert(0, str(root))
        import pytest

        more = [f"--basetemp={folder}/tests", *sorted(words)]
        trials = Trials(found, args.tests, args.seconds)
        if (code := pytest.main([*PYTEST, *more], plugins=[trials])) > 1:
            sys.exit(f"the tests could not be collected: {code!r}")


if __name__ == "__main__":
    main()

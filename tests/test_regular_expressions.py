"""Every regular expression of the package, tried on lines of 100,000 characters made to be hard.

Patterns are found in the source, so that a new one is tried without being named here. The lines
follow from each pattern: characters that its parts take, repeated, alone and behind what leads to
each part, with and without an end that does not fit.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import signal
from collections.abc import Iterable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import pytest

try:
    from re import _parser as sre_parse
except ImportError:  # Python 3.10
    import sre_parse

PACKAGE = Path(__file__).parents[1] / "fairseq_plugins"
LENGTH = 100_000
SECONDS = 1.0  # of processor time: a linear pattern needs milliseconds
USERS = "fairseq_plugins.text.protected_patterns"  # its patterns of users have a time limit
METHODS = ("match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn")
PROBES = " \t\n01aAxs_-.,;:!?\"'()[]{}<>|/@#$%&*`~+=^\\…é中\u2019\x85"
MISFITS = ("", "x\x01")
MOST_CHARACTERS, MOST_PAIRED, MOST_LEADS = 5, 3, 4


class Case(NamedTuple):
    """A pattern, where it stands, and how it is used."""

    place: str
    pattern: re.Pattern
    methods: tuple[str, ...]


def sources() -> Iterator[tuple[str, ast.Module]]:
    """Yield every module with its syntax tree."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        yield name.removesuffix(".__init__"), ast.parse(path.read_text(encoding="utf-8"))


def calls_of_re(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """Yield calls of ``re.something`` that take a pattern, by whatever name ``re`` is imported."""
    named = {"re", "regex"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in named:
            raise AssertionError(f"line {node.lineno}: write re.{node.names[0].name}")
        if isinstance(node, ast.Import):
            named |= {a.asname for a in node.names if a.name in named and a.asname}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, method = node.func.value, node.func.attr
            if (
                isinstance(owner, ast.Name)
                and owner.id in named
                and method in ("compile", *METHODS)
            ):
                yield node, method


def used_methods(trees: Iterable[ast.Module]) -> dict[str, set[str]]:
    """Return what is called on every name: ``{"ENDING": {"search"}}``; imports keep names."""
    found: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                owner = node.value
                name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", None)
                if name:
                    found.setdefault(name, set()).add(node.attr)
    return found


def collect() -> list[Case]:
    """Find all patterns: constants of modules, and those that are written in a call."""
    modules = list(sources())
    uses, cases = used_methods(tree for _, tree in modules), []
    for module, tree in modules:
        named = {
            id(node.value): node.targets[0].id
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for call, method in calls_of_re(tree):
            place = f"{module}:{call.lineno}"
            if name := named.get(id(call)):
                pattern = getattr(importlib.import_module(module), name)
                methods = tuple(sorted(uses.get(name, METHODS[:3])))
            elif module == USERS and method == "compile":
                continue
            else:
                first = call.args[0]
                assert isinstance(first, ast.Constant), f"{place}: make the pattern a constant"
                assert method != "compile", f"{place}: give the pattern a name in its module"
                assert not {"flags"} & {k.arg for k in call.keywords}, f"{place}: likewise"
                pattern, methods = re.compile(first.value), (method,)
            cases.append(Case(place, pattern, methods))
    return cases


def atoms(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the parts of a parsed pattern that take one character."""
    for op, value in tree:
        if str(op) in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            yield op, value
        for part in parts(value):
            yield from atoms(part)


def parts(value: Any) -> Iterator[Any]:
    """Yield the patterns within a part."""
    if isinstance(value, sre_parse.SubPattern):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from parts(item)


def takes(op: Any, value: Any, char: str) -> bool:
    """Whether a part of one character takes ``char``."""
    name = str(op)
    if name in ("LITERAL", "NOT_LITERAL"):
        return (ord(char) == value) == (name == "LITERAL")
    if name == "IN":
        negated = any(str(kind) == "NEGATE" for kind, _ in value)
        return negated != any(takes(*item, char) for item in value)
    if name == "RANGE":
        return value[0] <= ord(char) <= value[1]
    if name == "CATEGORY":
        letter = {"DIGIT": "d", "SPACE": "s", "WORD": "w"}[str(value).rsplit("_", 1)[1]]
        found = re.match(rf"\{letter}", char) is not None
        return found != ("_NOT_" in str(value))
    return name == "ANY" and char != "\n"


def taken(op: Any, value: Any) -> str:
    """Return a character that a part takes."""
    own = [chr(value)] if str(op) == "LITERAL" else []
    if str(op) == "IN":
        own = [
            chr(item if str(kind) == "LITERAL" else item[0])
            for kind, item in value
            if str(kind) in ("LITERAL", "RANGE")
        ]
    return next((char for char in [*own, *PROBES] if takes(op, value, char)), "")


def example(tree: Any) -> str:
    """Return a text that a pattern (without its assertions) takes, repetitions once at least."""
    found = ""
    for op, value in tree:
        name = str(op)
        if name in ("LITERAL", "NOT_LITERAL", "IN", "ANY"):
            found += taken(op, value)
        elif name == "BRANCH":
            found += example(value[1][0])
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            found += example(value[2]) * max(1, value[0])
        elif name in ("SUBPATTERN", "ATOMIC_GROUP"):
            found += "".join(example(part) for part in parts(value))
    return found


def hard_lines(pattern: re.Pattern) -> list[str | bytes]:
    """Make lines of `LENGTH` characters of what a pattern takes."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode()
    tree = sre_parse.parse(text, pattern.flags & ~re.UNICODE)
    found = list(atoms(tree))
    rank = {c: sum(takes(op, value, c) for op, value in found) for c in PROBES}
    shared = sorted((c for c in PROBES if rank[c]), key=lambda c: -rank[c])[:MOST_CHARACTERS]
    characters = list(dict.fromkeys([*shared, *(taken(*atom) for atom in found)]))
    leads = [example(tree[:i]) for i in range(1, len(tree) + 1)]
    leads = list(dict.fromkeys(lead for lead in leads if lead))
    leads = leads[:: max(1, len(leads) // MOST_LEADS)]
    runs = [*characters[: 2 * MOST_CHARACTERS], *leads]
    runs += ["".join(pair) for pair in permutations(shared[:MOST_PAIRED], 2)]
    lines = [run * (LENGTH // len(run)) + misfit for run in runs if run for misfit in MISFITS]
    for lead in leads:
        lines += [lead + c * LENGTH + "\x01" for c in shared[:MOST_PAIRED]]
        lines += [(lead + c) * (LENGTH // (len(lead) + 1)) for c in shared[:MOST_PAIRED]]
    lines = list(dict.fromkeys(lines))
    return lines if isinstance(pattern.pattern, str) else [line.encode() for line in lines]


def apply(pattern: re.Pattern, method: str, line: str | bytes) -> None:
    """Use a pattern as the package does."""
    if method in ("sub", "subn"):
        getattr(pattern, method)(line[:0], line)
    elif method == "finditer":
        for _ in pattern.finditer(line):
            pass
    else:
        getattr(pattern, method)(line)


def too_slow(cases: list[Case], seconds: float = SECONDS) -> list[str]:
    """Try cases in a process of their own; name those that a timer ended, with their line."""
    slow, done = [], 0
    while done < len(cases):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                _try_all(cases[done:], seconds, writer)
            finally:
                os._exit(1)
        os.close(writer)
        with os.fdopen(reader, encoding="utf-8", errors="replace") as stream:
            tried = stream.read().splitlines()
        status = os.waitpid(child, 0)[1]
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, tried[-1:]
            return slow
        assert os.WTERMSIG(status) == signal.SIGVTALRM
        number, _, line = tried[-1].partition(" ")
        slow.append(f"{cases[done + int(number)].place} on {line}")
        done += int(number) + 1
    return slow


def _try_all(cases: list[Case], seconds: float, writer: int) -> None:
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)  # ends the process, whatever re is doing
    for number, case in enumerate(cases):
        for line in hard_lines(case.pattern):
            for method in case.methods:
                os.write(writer, f"{number} {method} {line[:20]!r}…{line[-5:]!r}\n".encode())
                signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
                apply(case.pattern, method, line)
    os._exit(0)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that share what is imported")
def test_every_pattern_is_fast_on_every_line():
    cases = collect()
    assert len(cases) > 50
    assert {"sub", "findall", "fullmatch"} <= {method for case in cases for method in case.methods}
    assert not too_slow(cases)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that share what is imported")
@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s*[.,;:!?…]*\s*$", "search"),  # cubic
        (r"\s+$", "search"),
        (r"<a\b[^>]*\bid=(\w+)>", "finditer"),
        (r"(\w+\s?)*=", "match"),
        (r"^[^\t]*%\|[^\t]*\] *(?=[HD]-\d+\t)", "sub"),
    ],
)
def test_slow_patterns_are_found(pattern, method):
    assert too_slow([Case("here", re.compile(pattern), (method,))], seconds=0.5)

"""The pages of equations: every function, option, architecture and test that they name is there.

Pages and sources are read, nothing is imported or run.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "fairseq_plugins"
PAGES = sorted((ROOT / "docs" / "equations").glob("*.md"))
ROOMS = "|".join(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
NAME = re.compile(rf"(?:fairseq_plugins\.)?((?:{ROOMS})(?:\.\w+)+)")
TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")
FILE = re.compile(r"(?:fairseq_plugins|tests|examples)/[\w./]+")
FLAG = re.compile(r"--[a-z]\w*(?:-\w+)*")


def spans(text: str) -> list[str]:
    """Return what stands between backticks, blocks of code apart, in one line each."""
    bare = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", bare)]


def sections(text: str) -> dict[str, str]:
    """Return the equations and rules of a page: what stands below each heading of third rank."""
    parts = re.split(r"^(#+ .*)$", text, flags=re.MULTILINE)[1:]
    found = zip(parts[::2], parts[1::2])
    return {head.lstrip("# "): body for head, body in found if head.startswith("### ")}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def defined(body: list[ast.stmt]) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Yield the names that statements define, and the statements of classes among them."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name, node.body if isinstance(node, ast.ClassDef) else []
        for target in (*getattr(node, "targets", ()), getattr(node, "target", None)):
            for name in ast.walk(target) if target else ():
                if isinstance(name, ast.Name):
                    yield name.id, []


def is_there(name: str) -> bool:
    """Whether a dotted name is a module of the package, or of what such a module defines."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        path = PACKAGE.joinpath(*parts[:count]).with_suffix(".py")
        if not path.is_file():
            continue
        body = tree_of(path).body
        for part in parts[count:]:
            members = dict(defined(body))
            if part not in members:
                return False
            body = members[part]
        return True
    return False


def has_test(file: str, name: str) -> bool:
    """Whether a file of tests has a test of that name."""
    path = ROOT / file
    return path.is_file() and name in dict(defined(tree_of(path).body))


@cache
def known_flags() -> frozenset[str]:
    """Return all options that the package's sources name, as fields, as texts or as flags."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    fields = re.findall(r"^    (\w+): |\"(\w+)\"", text, flags=re.MULTILINE)
    names = {name.replace("_", "-") for pair in fields for name in pair}
    return frozenset(FLAG.findall(text)) | {f"--{name}" for name in names}


def unknown(text: str) -> set[str]:
    """Return what a page names and is not there."""
    registered = json.loads((ROOT / "tests" / "registry.json").read_text())["architectures"]
    found = set()
    for span in spans(text):
        if name := NAME.fullmatch(span):
            found |= set() if is_there(name[1]) else {span}
        elif test := TEST.fullmatch(span):
            found |= set() if has_test(*test.groups()) else {span}
        elif FILE.fullmatch(span):
            found |= set() if (ROOT / span).exists() else {span}
        found |= {*FLAG.findall(span)} - known_flags()
        found |= {*re.findall(r"--arch (\w+)", span)} - {*registered}
    return found


def test_what_pages_name_is_there() -> None:
    found = {page.name: unknown(page.read_text(encoding="utf-8")) for page in PAGES}
    assert {page: names for page, names in found.items() if names} == {}


def test_every_equation_has_its_function_and_its_test() -> None:
    for page in PAGES:
        found = sections(page.read_text(encoding="utf-8"))
        assert len(found) > 10 or page.stem == "index", page
        for head, body in found.items():
            named = spans(body)
            assert any(map(NAME.fullmatch, named)), (page, head)
            assert any(map(TEST.fullmatch, named)), (page, head)


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "equations" / "index.md").read_text(encoding="utf-8")
    assert {*re.findall(r"\((\w+\.md)\)", index)} == {page.name for page in PAGES} - {"index.md"}


def test_what_is_not_there_is_noticed() -> None:
    there = """`nn.tree_masks.TreeRule` `nn.fusion.Guide.forward` `nn.fusion.GUIDES` `nn.bit_sets`
    `fairseq_plugins.nn.tree_masks` `tests/nn/test_fusion.py::test_ablated_parts_have_no_parameters`
    `examples/dabert` `--arch dabert --dual-layers 0` `--share-all-embeddings` `given.srl1`
"""
    assert unknown(there) == set()
    for wrong in ("nn.tree_masks.TreeRul", "nn.fusion.Guide.back", "nn.gone.Guide", "nn.fusion.a.b",
                  "tests/nn/test_fusion.py::test_gone", "tests/nn/gone.py::test_a", "examples/gone",
                  "--dual-layer", "--arch dabertt"):  # fmt: skip
        assert unknown(f"{there} `{wrong}`") == {wrong.removeprefix("--arch ")}, wrong
    assert unknown("```\n`nn.gone`\n```\n") == set()
    assert sections("# a\n### b\nc\n## d\ne\n") == {"b": "\nc\n"}

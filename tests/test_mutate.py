"""Mutants as `scripts/mutate.py` makes them: in one place, the same for a seed; the tests near."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = '''"""A module: 1 < 2."""
SIZE: int = 3


def size(word: int | None = None, *, é: bool = True) -> str:
    """Return 1 < 2."""
    if not word or word < SIZE:
        print(
            word,
            end="",
        )
    return f"{word + 1} is {not é}" if word in (1, 2) else str(word * 2)
'''
NEW = """\
(not word and word < SIZE)
(not (not word or word < SIZE))
(word)
(word <= SIZE)
False and print(word, end='')
(print(word))
(word not in (1, 2))
(not word in (1, 2))
(2)
(3)
(word + 2)
(3)"""


@pytest.fixture(scope="module")
def mutate():
    spec = importlib.util.spec_from_file_location("mutate", ROOT / "scripts" / "mutate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    """A package of one module, and its test."""
    path = tmp_path / "fairseq_plugins" / "room" / "module.py"
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE, encoding="utf-8")
    return tmp_path


def test_every_mutant_differs_in_one_place(mutate):
    source = SOURCE.encode()
    found = [*mutate.mutants("fairseq_plugins/room/module.py", source)]
    assert "\n".join(one.text.replace("\n", "") for one in found) == NEW
    trees = {ast.dump(ast.parse(one.changed(source))) for one in found}
    assert len(trees | {ast.dump(ast.parse(source))}) == len(found) + 1
    for one in found:
        old = source[one.begin : one.end].decode()
        assert ast.unparse(ast.parse(old)) == one.old
        changed = one.changed(source)
        assert changed.count(b"\n") == source.count(b"\n")  # functions keep their lines
        assert changed[: one.begin] == source[: one.begin]
        assert changed.endswith(source[one.end :])
        assert old.splitlines()[0] in SOURCE.splitlines()[one.line - 1]


def test_a_seed_chooses_the_same_mutants_of_different_lines(mutate, tree):
    def chosen(seed, count=9, only=""):
        return mutate.chosen(tree, ["fairseq_plugins"], only, seed, count)

    assert chosen(1) == chosen(1)
    assert len({tuple(chosen(seed, 2)) for seed in range(9)}) > 1
    assert sorted(one.line for one in chosen(1)) == [7, 8, 12]
    assert len(chosen(1, 2)) == 2
    (tree / "lines").write_text("fairseq_plugins/room/module.py:8\nelsewhere.py:7\n")
    assert [one.line for one in chosen(1, only=str(tree / "lines"))] == [8]


def test_functions_of_a_loaded_module_get_the_code_of_a_mutant(mutate, tree, monkeypatch):
    monkeypatch.syspath_prepend(tree / "fairseq_plugins" / "room")
    module = importlib.import_module("module")
    source = SOURCE.encode()
    *_, one = mutate.mutants("", source)
    assert module.size(5) == "10"
    mutate.swap([module.size], source, one.changed(source))
    assert module.size(5) == "15"
    mutate.swap([module.size], one.changed(source), source)
    assert module.size(5) == "10"


def test_near_tests_lie_in_the_room_and_have_a_like_name_or_import_the_module(mutate, tree):
    tests = {
        "room/test_a_module.py": "",
        "room/test_mod.py": "",
        "room/test_first.py": "from fairseq_plugins.room import part, module\n",
        "room/test_other.py": "from fairseq_plugins.room.module import size\n",
        "room/test_last.py": "from fairseq_plugins.room.module_parts import size\n",
        "test_module.py": "from fairseq_plugins.room.module import size\n",
    }
    for name, text in tests.items():
        (tree / "tests" / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / "tests" / name).write_text(text)
    named, others = mutate.near(tree, "fairseq_plugins/room/module.py")
    assert named == ["tests/room/test_a_module.py", "tests/room/test_mod.py"]
    assert others == ["tests/room/test_first.py", "tests/room/test_other.py"]
    assert mutate.near(tree, "fairseq_plugins/other/module.py") == []


def test_words_name_tests_of_a_file_and_a_tier(mutate):
    fast, slow, long = (
        SimpleNamespace(nodeid=f"tests/room/test_one.py::test_{mark}", keywords={mark: True})
        for mark in ("fast", "slow", "long")
    )
    tests = [fast, slow, long, SimpleNamespace(nodeid="tests/other/test_one.py", keywords={})]
    assert mutate._named(tests, ["tests/room"]) == [fast]
    assert mutate._named(tests, ["--slow", "tests/room"]) == [fast, slow]
    assert mutate._named(tests, ["--all", "tests/room"]) == [fast, slow, long]

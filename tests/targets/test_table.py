"""Kinds of targets: single values, which nobody asks for their names."""

from __future__ import annotations

import ast
import copy
import pickle
from pathlib import Path

import pytest

import fairseq_plugins
from fairseq_plugins.errors import InputError
from fairseq_plugins.targets.table import TARGETS, target_of

PACKAGE = Path(fairseq_plugins.__file__).parent
VALUES = {name.upper() for name in TARGETS}


def asked(path: Path) -> list[str]:
    """Return where a file compares something with a kind of target, or its name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    taken = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and "targets" in (node.module or "").split(".")
        for alias in node.names
        if alias.name in VALUES
    }
    return [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
        for one in getattr(side, "elts", [side])
        if (isinstance(one, ast.Constant) and one.value in TARGETS)
        or (isinstance(one, ast.Name) and one.id in taken)
    ]


def test_only_the_room_of_targets_tells_them_apart():
    files = [path for path in PACKAGE.rglob("*.py") if "targets" not in path.parts]
    assert [place for path in files for place in asked(path)] == []


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_target_stays_itself_in_copies_and_other_processes(target):
    assert copy.deepcopy(target) is pickle.loads(pickle.dumps(target)) is type(target)() is target
    assert target_of(str(target)) is target
    assert target.head in ("labels", "spans", "pairs")
    assert target.metrics
    assert {kind.name for kind in target.kinds}


@pytest.mark.parametrize("name", ["", "Score", None, ["score"], 3])
def test_other_names_are_refused_with_the_choices(name):
    with pytest.raises(InputError, match="is not one of classes, score, word_labels, spans, enti"):
        target_of(name)

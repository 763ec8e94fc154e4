"""Kinds of layers: values with one protocol, which nobody asks for their kind or name."""

from __future__ import annotations

import ast
from pathlib import Path

import fairseq_plugins
from fairseq_plugins.syntax.layers import LAYERS

PACKAGE = Path(fairseq_plugins.__file__).parent
KINDS = {"columns", "tags", "trees", "tables"}
# files that spell a word that is also the name of a layer, and why
OTHER_WORDS = {
    "a number of attention heads": (
        *("pretrained/configuration.py", "pretrained/forms.py", "pretrained/huggingface.py"),
        "architectures/bert_plan.py",
    ),
    "a field of the manifest": ("data/translation_folders.py", "inference/translation_export.py"),
    "relations of Universal Dependencies": (
        *("augment/error_rules.py", "augment/carried_trees.py"),
    ),
    "a preset's option": ("methods/features.py",),
    "what components of spaCy learn": (
        *("text/pipeline/training.py", "text/pipeline/treebank.py", "text/pipeline/scores.py"),
    ),
    "what a bundled pipeline gives": ("resources/__init__.py",),
    "other things": ("nn/context.py", "door/yaml_text.py", "demo/sentences.py"),
}
EXCEPTED = {name for names in OTHER_WORDS.values() for name in names}


def outside() -> dict[Path, ast.Module]:
    files = [path for path in PACKAGE.rglob("*.py") if "syntax" not in path.parts]
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def test_only_the_room_of_layers_tells_kinds_apart():
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path, tree in outside().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for module in (node.module or "", *(f"{node.module}.{one.name}" for one in node.names))
        if module.rpartition("syntax.")[2] in KINDS and "syntax" in module
    ]
    assert found == []


def test_no_other_file_knows_a_layer_by_name():
    spelt = {
        path.relative_to(PACKAGE).as_posix(): [
            f"{path.relative_to(PACKAGE)}:{node.lineno} {node.value}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and node.value in LAYERS
        ]
        for path, tree in outside().items()
    }
    places = [one for path in {*spelt} - EXCEPTED for one in spelt[path]]
    assert places == []
    assert all(spelt[path] for path in EXCEPTED)

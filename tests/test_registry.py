"""The names that users type: adding or losing one must be meant."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fairseq.criterions import CRITERION_REGISTRY
from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_REGISTRY
from fairseq.optim import OPTIMIZER_REGISTRY
from fairseq.optim.lr_scheduler import LR_SCHEDULER_REGISTRY
from fairseq.tasks import TASK_REGISTRY

import fairseq_plugins.tasks  # noqa: F401  registers everything

pytestmark = pytest.mark.slow

REGISTRIES = {
    "tasks": TASK_REGISTRY,
    "models": MODEL_REGISTRY,
    "architectures": ARCH_MODEL_REGISTRY,
    "criterions": CRITERION_REGISTRY,
    "optimizers": OPTIMIZER_REGISTRY,
    "schedulers": LR_SCHEDULER_REGISTRY,
}


def ours(registry):
    return {k: v for k, v in registry.items() if v.__module__.startswith("fairseq_plugins.")}


def test_registered_names_are_those_on_record():
    recorded = json.loads((Path(__file__).parent / "registry.json").read_text())
    assert {key: sorted(ours(registry)) for key, registry in REGISTRIES.items()} == recorded


OPEN = {  # to other rooms
    "models.checkpoints",
    "tasks.folder_warnings",
    "tasks.protected_spans",
    "tasks.unanswered_rows",
}


@pytest.mark.parametrize("room", ["models", "tasks", "criterions", "optim"])
def test_modules_of_registered_rooms_register_something(room):
    folder = Path(fairseq_plugins.__file__).parent / room
    modules = {
        f"fairseq_plugins.{room}.{path.stem}"
        for path in folder.glob("*.py")
        if not path.name.startswith("_")
    }
    registered = [value for registry in REGISTRIES.values() for value in ours(registry).values()]
    modules -= {f"fairseq_plugins.{name}" for name in OPEN}
    assert modules <= {value.__module__ for value in registered}


REGISTERED = """
import argparse, logging, sys
sys.path.insert(0, {root!r})
import fairseq_plugins
assert not {{"torch", "fairseq", "spacy"}} & {{*sys.modules}}
{first}
from fairseq import tasks, utils
logging.basicConfig(level=logging.INFO)
utils.import_user_module(argparse.Namespace(user_dir=fairseq_plugins.__path__[0]))
assert not {{"sacremoses", "spacy"}} & {{*sys.modules}}  # each takes longer than all of ours
print("syntax_translation" in tasks.TASK_REGISTRY)
"""
OURS_FIRST = """
from fairseq_plugins.registration import register; register(); register()
assert not {"sklearn", "scipy.stats", "pandas"} & {*sys.modules}
"""
FAIRSEQ_FIRST = "del sys.modules['fairseq_plugins']"


@pytest.mark.parametrize(("first", "told"), [(OURS_FIRST, True), (FAIRSEQ_FIRST, False)])
def test_everything_is_registered_whoever_comes_first(first, told):
    """Our command before fairseq's ``--user-dir``, or that alone; importing registers nothing."""
    root = str(Path(fairseq_plugins.__file__).parents[1])
    code = REGISTERED.format(root=root, first=first)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert ("has already been imported" in done.stderr) == told

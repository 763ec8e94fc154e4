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


@pytest.mark.parametrize("room", ["models", "tasks", "criterions", "optim"])
def test_modules_of_registered_rooms_register_something(room):
    folder = Path(fairseq_plugins.__file__).parent / room
    modules = {
        f"fairseq_plugins.{room}.{path.stem}"
        for path in folder.glob("*.py")
        if not path.name.startswith("_")
    }
    registered = [value for registry in REGISTRIES.values() for value in ours(registry).values()]
    assert modules <= {value.__module__ for value in registered}


def test_import_prints_nothing_and_loads_no_annotator():
    code = "import sys, fairseq_plugins; sys.exit('spacy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")

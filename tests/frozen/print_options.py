"""Run as a script: prints the options of all that we register with fairseq, as JSON."""

from __future__ import annotations

import argparse
import json
from typing import Any

from fairseq import criterions, models, optim, tasks, utils
from fairseq.dataclass.utils import gen_parser_from_dataclass
from fairseq.optim import lr_scheduler
from frozen import actions, commands

ROOM = f"{commands.USER_DIR.name}."
REGISTRIES = {
    "tasks": tasks.TASK_REGISTRY,
    "models": models.MODEL_REGISTRY,
    "architectures": models.ARCH_MODEL_REGISTRY,
    "criterions": criterions.CRITERION_REGISTRY,
    "optimizers": optim.OPTIMIZER_REGISTRY,
    "schedulers": lr_scheduler.LR_SCHEDULER_REGISTRY,
}


def ours(registry: dict[str, Any]) -> dict[str, Any]:
    """Return what we have registered, by name."""
    return {k: v for k, v in sorted(registry.items()) if v.__module__.startswith(ROOM)}


def parser_of(name: str, found: Any) -> argparse.ArgumentParser:
    """Make a parser with the options of a registered class; fairseq's own leaves out defaults."""
    parser = argparse.ArgumentParser()
    dataclass = models.MODEL_DATACLASS_REGISTRY.get(name) or getattr(found, "__dataclass", None)
    if dataclass is None:
        found.add_args(parser)
    else:
        gen_parser_from_dataclass(parser, dataclass())
    return parser


def preset_of(name: str, model: Any) -> dict[str, Any]:
    """Return what an architecture presets where no option is given."""
    parser = argparse.ArgumentParser(argument_default=argparse.SUPPRESS)
    model.add_args(parser)
    args = parser.parse_args([])
    args.arch = args._name = name
    models.ARCH_CONFIG_REGISTRY[name](args)
    del args.arch, args._name
    return {key: actions._plain(value) for key, value in sorted(vars(args).items())}


utils.import_user_module(argparse.Namespace(user_dir=str(commands.USER_DIR)))
made: dict[str, Any] = {}
for kind, registry in REGISTRIES.items():
    for name, found in ours(registry).items():
        about = preset_of(name, found) if kind == "architectures" else None
        about = actions.described(parser_of(name, found)) if about is None else about
        made.setdefault(kind, {})[name] = about
print(json.dumps(made))

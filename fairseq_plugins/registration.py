"""Registers every task, architecture, criterion, optimiser and schedule with fairseq, once.

Importing a registered room (`tasks`, `models`, `criterions`, `optim`) registers all rooms: fairseq
imports ``tasks/`` and ``models/`` of a ``--user-dir`` by itself, our commands and `from_pretrained`
import them before fairseq does. Importing the package alone registers nothing and loads neither
torch nor fairseq. This module also looks up registered names.
"""

import importlib
import importlib.util
import logging
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache

from .deferred_imports import deferred
from .installation import FAIRSEQ_MISSING
from .quiet import quieten_fairseq

ROOMS = ("criterions", "models", "optim", "tasks")

_done = False


def register() -> None:
    """Register everything with fairseq; a second call does nothing.

    Raises:
        ModuleNotFoundError: fairseq is not installed; says how to install it.
    """
    global _done
    if _done:
        return
    if importlib.util.find_spec("fairseq") is None:
        raise ModuleNotFoundError(FAIRSEQ_MISSING, name="fairseq")
    quieten_fairseq()
    _done = True  # the imported rooms call this function as well
    try:
        # lets torch load fairseq's options, a Namespace, with ``weights_only=True``
        importlib.import_module("torch").serialization.add_safe_globals([Namespace])
        # imported by fairseq's criterions and tasks for sentence prediction and sounds
        measures = deferred("sklearn", "sklearn.metrics", "scipy.stats")
        with _logging_unchanged(), measures:
            for room in ROOMS:
                importlib.import_module(f"{__package__}.{room}")
    except BaseException:
        _done = False
        raise


@contextmanager
def _logging_unchanged() -> Iterator[None]:
    """Undo changes to logging by importing fairseq, which turns on debug messages everywhere."""
    root = logging.getLogger()
    level, handlers, disabled = root.level, root.handlers[:], root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(disabled)
        root.setLevel(level)
        root.handlers[:] = handlers


@cache
def registries() -> dict[str, Mapping[str, type]]:
    """Return fairseq's registries of each kind, with our classes."""
    register()  # first: importing fairseq by itself turns debug messages on
    from fairseq.criterions import CRITERION_REGISTRY
    from fairseq.models import MODEL_REGISTRY
    from fairseq.optim import OPTIMIZER_REGISTRY
    from fairseq.optim.lr_scheduler import LR_SCHEDULER_REGISTRY
    from fairseq.tasks import TASK_REGISTRY

    return {
        "tasks": TASK_REGISTRY,
        "models": MODEL_REGISTRY,
        "criterions": CRITERION_REGISTRY,
        "optimizers": OPTIMIZER_REGISTRY,
        "schedules": LR_SCHEDULER_REGISTRY,
    }


def ours(kind: str) -> dict[str, type]:
    """Return our registered classes of a kind: name -> class, sorted."""
    known = registries()[kind].items()
    return dict(sorted((k, v) for k, v in known if v.__module__.startswith(f"{__package__}.")))


def architectures_of_ours() -> dict[str, str]:
    """Return our architectures -> the model of each."""
    models = ours("models")
    from fairseq.models import ARCH_MODEL_NAME_REGISTRY

    return {name: model for name, model in ARCH_MODEL_NAME_REGISTRY.items() if model in models}


def presets(arch: str) -> dict[str, object]:
    """Return the presets of an architecture.

    One function presets all architectures of a model, including the one with the model's name.
    """
    known = architectures_of_ours()
    from fairseq.models import ARCH_CONFIG_REGISTRY

    model = known[arch]
    fill = next(ARCH_CONFIG_REGISTRY[name] for name, of in known.items() if of == model != name)
    options = Namespace(arch=arch)
    fill(options)
    return {k: v for k, v in vars(options).items() if k != "arch" and v is not None}


def parser_of_class(cls: type) -> ArgumentParser:
    """Return a parser of the options that a registered class declares, as fairseq makes it."""
    declared = getattr(cls, "__dataclass", None)
    parser = parser_of_records(*[declared] if declared else [])
    if declared is None:
        cls.add_args(parser)
    return parser


def parser_of_records(*records: type) -> ArgumentParser:
    """Return a parser of the fields of fairseq's dataclasses."""
    from fairseq.dataclass.utils import gen_parser_from_dataclass

    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    for record in records:
        gen_parser_from_dataclass(parser, record(), with_prefix="")
    return parser

"""What this package has registered with fairseq, and the options that come with each.

Every option comes from the parser that reads it: what fairseq makes of a registered dataclass. The
command ``options`` and the reference of the manual show them.
"""

from argparse import SUPPRESS, Action, ArgumentParser, Namespace
from collections.abc import Mapping
from contextlib import suppress
from functools import cache

from ...registration import register

PACKAGE = f"{__name__.partition('.')[0]}."


@cache
def registries() -> dict[str, Mapping[str, type]]:
    """Return what fairseq knows of each kind, ours with it."""
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
    """Return what we registered of a kind: name -> class, sorted."""
    known = registries()[kind].items()
    return dict(sorted((k, v) for k, v in known if v.__module__.startswith(PACKAGE)))


def registered_parser(cls: type) -> ArgumentParser:
    """Return a parser of the options that a registered class declares, as fairseq makes it."""
    from fairseq.dataclass.utils import gen_parser_from_dataclass

    parser = ArgumentParser(add_help=False, allow_abbrev=False)
    declared = getattr(cls, "__dataclass", None)
    if declared is None:
        cls.add_args(parser)
    else:
        gen_parser_from_dataclass(parser, declared(), with_prefix="")
    return parser


def split_options(cls: type) -> tuple[list[Action], list[Action]]:
    """Return a class's options: ours, and those that a class of fairseq above it has as well."""
    above = [one for one in cls.__mro__[1:] if one.__module__.startswith("fairseq.")]
    inherited: set[str] = set()
    for one in above:
        with suppress(TypeError, AttributeError, NotImplementedError):
            inherited |= {*registered_parser(one)._option_string_actions}
    actions = registered_parser(cls)._actions
    others = [one for one in actions if {*one.option_strings} & inherited]
    return [one for one in actions if one not in others and is_public(one)], others


def architectures_of_ours() -> dict[str, str]:
    """Return our architectures -> the model of each."""
    models = ours("models")
    from fairseq.models import ARCH_MODEL_NAME_REGISTRY

    return {name: model for name, model in ARCH_MODEL_NAME_REGISTRY.items() if model in models}


def presets(arch: str) -> dict[str, object]:
    """Return the options that an architecture fills in where they are not given.

    A model's own name is filled in as its other architectures are: one function for all.
    """
    known = architectures_of_ours()
    from fairseq.models import ARCH_CONFIG_REGISTRY

    model = known[arch]
    fill = next(ARCH_CONFIG_REGISTRY[name] for name, of in known.items() if of == model != name)
    options = Namespace(arch=arch)
    fill(options)
    return {k: v for k, v in vars(options).items() if k != "arch" and v is not None}


def is_public(action: Action) -> bool:
    """Whether an option is shown to users."""
    return action.help != SUPPRESS

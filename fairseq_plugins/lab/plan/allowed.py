"""The options that a file may give to a command, and the kind of their values.

argparse knows whether an option is a flag, a number or a choice. A text is allowed only for options
that a table lists by name, because other texts are paths, hosts, code, or are evaluated as Python
by fairseq. All other options belong on the command line.
"""

from argparse import Action
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NoReturn

from ... import registration as registered
from ...errors import InputError
from ...messages import like, named, quoted
from .values import FLAG, NUMBER, NUMBERS, PATH, WHOLE, WORD, Kind, one_of

Options = dict[str, Any]  # name without -- -> value
Kinds = Mapping[str, Kind]  # options that a file may give
Names = Mapping[str, Kind | None]  # listed options; None for refused ones

QUESTIONS = "label-questions"  # a file; for systems that find entities by questions
# options of a system that the grid reads: its learning rates and its training data
OWN_RATE, OWN_DATA = "lr", "data"


def listed(table: Mapping[Kind | None, str]) -> Names:
    """Return name -> kind; the table maps a kind to names separated by blanks."""
    return {name: kind for kind, names in table.items() for name in names.split()}


# options that start processes, load or trace more, or describe machines
_REFUSED = (
    "tpu profile use-plasma-view azureml-logging model-parallel-size reset-logging num-workers "
    "write-checkpoints-asynchronously suppress-crashes no-save"
)
_TRAINING = listed(
    {
        WORD: "features target-features feature-embed-dims local-attention local-layers "
        "dual-layers similarity-layers encoder-attention encoder-attention-layers "
        "encoder-layers-to-keep decoder-layers-to-keep pretrained positive-label train-subset "
        "class-weights valid-subset ablate-features",
        NUMBERS: "adam-betas adaptive-softmax-cutoff phase-ratio update-freq",
        WHOLE: "batch-size-valid max-tokens-valid",  # fairseq's parser has no type for them
        NUMBER: "total-num-update",
        PATH: QUESTIONS,
        None: _REFUSED,
    }
)
_CRITERIONS = ("cross_entropy", "label_smoothed_cross_entropy")  # fairseq's, in addition to ours
_OPTIMIZERS = "adam nag bert_adamw".split()
_GENERATION = (  # search options; none that translates part of a split or reads references
    "beam nbest max-len-a max-len-b min-len match-source-len unnormalized no-early-stop "
    "no-beamable-mm lenpen unkpen no-repeat-ngram-size sampling sampling-topk sampling-topp "
    "temperature diverse-beam-groups diverse-beam-strength diversity-rate seed cpu fp16 bf16 "
    "batch-size max-tokens required-batch-size-multiple"
).split()


def kinds_of(actions: Iterable[Action], names: Names) -> Kinds:
    """Return name -> kind of allowed options; an option of several parsers accepts either kind."""
    found: dict[str, Kind] = {}
    for action in actions:
        if kind := kind_of(action, names):
            name = name_of(action)
            found[name] = found.get(name, kind) | kind
    return found


def name_of(action: Action) -> str:
    """Return the name of an option: its flag without ``--``, or its positional name."""
    flags = [one for one in action.option_strings if one.startswith("--")]
    return flags[0].removeprefix("--") if flags else action.dest


def kind_of(action: Action, names: Names) -> Kind | None:
    """Return the kind of an option's values; None if a file may not give the option."""
    name = name_of(action)
    if names.get(name, FLAG) is None:
        return None
    if action.nargs == 0:
        return FLAG
    if action.choices:
        return one_of(map(str, action.choices))
    return WHOLE if action.type is int else NUMBER if action.type is float else names.get(name)


@cache
def of_training() -> Kinds:
    """Return name -> kind of the options of training, mostly of our registered classes.

    argparse accepts an abbreviated option; no name here abbreviates another training option.
    """
    known, ours = registered.registries(), registered.ours
    from fairseq.dataclass import configs

    schedules = [k for k, v in known["schedules"].items() if getattr(v, "__dataclass", None)]
    criterions = [*_CRITERIONS, *ours("criterions")]
    chosen = {"criterions": criterions, "optimizers": _OPTIMIZERS, "schedules": schedules}
    chosen |= {"tasks": [*ours("tasks")], "models": [*ours("models")]}
    classes = [known[kind][one] for kind in chosen for one in chosen[kind]]
    groups = (configs.CommonConfig, configs.DatasetConfig, configs.OptimizationConfig)
    parsers = [registered.parser_of_records(*groups, configs.CheckpointConfig)]
    parsers += map(registered.parser_of_class, classes)
    return {
        **kinds_of([action for parser in parsers for action in parser._actions], _TRAINING),
        "criterion": one_of(criterions),
        "optimizer": one_of(_OPTIMIZERS),
        "lr-scheduler": one_of(schedules),
        "arch": one_of(registered.architectures_of_ours()),
        OWN_RATE: Kind("a number from 0 on", lambda v: NUMBER.fits(v) and float(v) >= 0),
        OWN_DATA: Kind(PATH.said, lambda value: PATH.fits(str(value))),
    }


@cache
def of_generation() -> Kinds:
    """Return name -> kind of the options of generation."""
    registered.register()
    from fairseq.dataclass import configs

    groups = (configs.CommonConfig, configs.DatasetConfig, configs.GenerationConfig)
    found = kinds_of(registered.parser_of_records(*groups)._actions, {})
    return {name: found[name] for name in _GENERATION}


def check_options(options: Options, kinds: Kinds, *, is_open: bool = False) -> Options:
    """Return the options of a file; refuse unknown options and wrong values.

    Args:
        options: as in the file.
        is_open: whether a list is a choice of values to check, and None removes an option.
    """
    for key, given in options.items():
        if key not in kinds:
            near = like(key, kinds)
            hint = f"like it: {near}" if near else f"choices: {named(kinds)}"
            hint += "; a value with commas wants quotes" if given is None else ""
            name = f"option {quoted(str(key), 100)}"
            raise InputError(f"{name}: not among those that a file may give ({hint})")
        try:
            for value in given if is_open and isinstance(given, list) else [given]:
                if value is not None or not is_open:
                    kinds[key].check(value)
        except InputError as error:
            raise InputError(f"option {key!r}: {error}") from None
    return options


def check_training(options: Options) -> None:
    """Refuse training options that fairseq-train's parser or the model refuses.

    Options of an unregistered architecture are not checked.
    """
    registered.register()
    from fairseq.models import ARCH_MODEL_REGISTRY
    from fairseq.options import get_training_parser, parse_args_and_arch

    if (model := ARCH_MODEL_REGISTRY.get(options.get("arch"))) is None:
        return
    parser: Any = get_training_parser()
    parser.error = _refuse
    words = [".", *command_line(options)]
    found: Any = parse_args_and_arch(parser, words, parse_known=True)  # with unknown options
    for flag in (word for word in found[1] if word.startswith("--")):
        near = like(flag, parser._option_string_actions)
        hint = f" (like it: {near})" if near else ""
        raise InputError(f"{flag}: fairseq-train has no such option here{hint}")
    if check := getattr(model, "check_options", None):  # text models of this project
        check({key.replace("-", "_"): value for key, value in options.items()})


def _refuse(message: str) -> NoReturn:
    raise InputError(f"fairseq-train: {message}")


def command_line(options: Options) -> list[str]:
    """Return options as words; True is a bare flag, False and None are left out."""
    words = []
    for name, value in options.items():
        if value is not None and value is not False:
            words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
    return words

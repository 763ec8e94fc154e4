"""What the file of an experiment may give to ``fairseq-train`` and ``fairseq-generate``.

The names and the types of values are those of fairseq's parsers and ours. Texts are given where a
list here says so, since others are paths, hosts, names of code, or what fairseq evaluates as
Python.
"""

from argparse import ArgumentParser
from collections.abc import Mapping
from functools import cache
from typing import Any

from ...messages import like
from ...registration import register
from .allowed import Kinds, kinds_of, listed
from .plain_values import NUMBER, NUMBERS, PATH, WHOLE, WORD, ValueKind, one_of
from .registered_options import architectures_of_ours, ours, registered_parser, registries

QUESTIONS = "label-questions"  # a file, of those that find entities by questions
OWN_DATA = "data"  # option of a system that says what it is trained on; grids read it themselves
_TRAINING = listed(
    {
        WORD: "features target-features feature-embed-dims local-attention local-layers "
        "dual-layers similarity-layers encoder-attention encoder-attention-layers "
        "encoder-layers-to-keep decoder-layers-to-keep pretrained positive-label train-subset "
        "valid-subset ablate-features",
        NUMBERS: "adam-betas adaptive-softmax-cutoff lr phase-ratio update-freq",
        WHOLE: "batch-size-valid max-tokens-valid",  # of which fairseq's parser says nothing
        NUMBER: "total-num-update",
        PATH: QUESTIONS,
        # what starts processes, traces or loads more, or is about machines
        None: "tpu profile use-plasma-view azureml-logging model-parallel-size reset-logging "
        "num-workers write-checkpoints-asynchronously suppress-crashes no-save",
    }
)
_DISTRIBUTED = "ddp-backend find-unused-parameters bucket-cap-mb broadcast-buffers".split()
_CRITERIONS = ("cross_entropy", "label_smoothed_cross_entropy")  # fairseq's, in addition to ours
_OPTIMIZERS = "adam nag bert_adamw".split()
_GENERATION = (
    "beam nbest max-len-a max-len-b min-len match-source-len unnormalized no-early-stop "
    "no-beamable-mm lenpen unkpen prefix-size no-repeat-ngram-size sampling sampling-topk "
    "sampling-topp temperature diverse-beam-groups diverse-beam-strength diversity-rate "
    "print-alignment print-step seed cpu fp16 bf16 batch-size max-tokens "
    "skip-invalid-size-inputs-valid-test required-batch-size-multiple"
).split()


@cache
def of_training() -> Kinds:
    """Return name -> kind of the options of training; of registered things, those of ours mostly.

    argparse takes the beginning of an option for the option: none of these names begins another
    option of a training with one of these architectures.
    """
    known = registries()
    from fairseq.dataclass import configs

    schedules = [k for k, v in known["schedules"].items() if getattr(v, "__dataclass", None)]
    criterions = [*_CRITERIONS, *ours("criterions")]
    chosen = {"criterions": criterions, "optimizers": _OPTIMIZERS, "schedules": schedules}
    chosen |= {"tasks": ours("tasks"), "models": ours("models")}
    parsers = [registered_parser(known[kind][one]) for kind in chosen for one in chosen[kind]]
    groups = (configs.CommonConfig, configs.DatasetConfig, configs.OptimizationConfig)
    parsers += [_parser_of(*groups, configs.CheckpointConfig)]
    actions = [action for parser in parsers for action in parser._actions]
    for action in _parser_of(configs.DistributedTrainingConfig)._actions:
        actions += [action] if action.option_strings[0][2:] in _DISTRIBUTED else []
    arches = tuple(architectures_of_ours())
    return {
        **kinds_of(actions, _TRAINING),
        "criterion": one_of(criterions),
        "optimizer": one_of(_OPTIMIZERS),
        "lr-scheduler": one_of(schedules),
        "arch": ValueKind("an architecture of this project", arches.__contains__, arches),
        OWN_DATA: ValueKind(PATH.said, lambda value: PATH.fits(str(value))),
    }


@cache
def of_generation() -> Kinds:
    """Return name -> kind of the options of generation."""
    register()
    from fairseq.dataclass import configs

    groups = (configs.CommonConfig, configs.DatasetConfig, configs.GenerationConfig)
    found = kinds_of(_parser_of(*groups)._actions, {})
    return {name: found[name] for name in _GENERATION}


def _parser_of(*records: type) -> ArgumentParser:
    """Return a parser of fairseq's own options."""
    from fairseq.dataclass.utils import gen_parser_from_dataclass

    parser = ArgumentParser(add_help=False)
    for record in records:
        gen_parser_from_dataclass(parser, record())
    return parser


def check_training(options: Mapping[str, Any]) -> None:
    """Refuse options of a training that ``fairseq-train`` does not have, or whose model cannot be.

    Args:
        options: name without ``--`` -> value; they say which architecture and so on is trained.
            Those of an architecture that nothing registered are not looked at.
    """
    register()
    from fairseq.models import ARCH_MODEL_REGISTRY
    from fairseq.options import get_training_parser
    from fairseq.registry import REGISTRIES
    from fairseq.tasks import TASK_REGISTRY

    if (arch := ARCH_MODEL_REGISTRY.get(options.get("arch"))) is None:
        return
    chosen: list[Any] = [arch, TASK_REGISTRY.get(options.get("task", ""))]
    for name, group in REGISTRIES.items():
        registry: Any = group["registry"]
        chosen.append(registry.get(options.get(name.replace("_", "-"), group["default"])))
    parsers = [get_training_parser(), *(registered_parser(one) for one in chosen if one)]
    known = {name for parser in parsers for name in parser._option_string_actions}
    for name in options:
        if f"--{name}" not in known:
            near = like(f"--{name}", known)
            hint = f" (like it: {near})" if near else ""
            raise ValueError(f"--{name}: fairseq-train has no such option here{hint}")
    check_model(options)


def check_model(options: Mapping[str, Any]) -> None:
    """Refuse options of a training whose model they do not make; ValueError says why.

    Models of text are asked, of those of this project; the others when they are built.
    """
    register()
    from fairseq.models import ARCH_MODEL_REGISTRY

    if check := getattr(ARCH_MODEL_REGISTRY.get(options.get("arch")), "check_options", None):
        check({key.replace("-", "_"): value for key, value in options.items()})

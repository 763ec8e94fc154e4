"""What the file of an experiment may give to ``fairseq-train`` and ``fairseq-generate``.

The names and the types of values are those of the configurations of fairseq and of ours: numbers,
yes or no, choices. Texts are given where `_WORDS` says so, since others are paths, hosts, names of
code, or what fairseq evaluates as Python. Whoever wants more gives it on the command line.
"""

import enum
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import Field, fields
from functools import cache
from typing import Any

from ...registration import register
from .option_values import check_option
from .plain_values import FLAG, NUMBER, NUMBERS, PATH, WHOLE, WORD, ValueKind, either, one_of

QUESTIONS = "label-questions"  # a file, of those that find entities by questions
OWN_DATA = "data"  # option of a system that says what it is trained on; grids read it themselves
_WORDS = (  # options with a text that is a word, or several with commas
    "features target_features feature_embed_dims local_attention local_layers dual_layers "
    "similarity_layers encoder_attention encoder_attention_layers encoder_layers_to_keep "
    "decoder_layers_to_keep pretrained positive_label train_subset valid_subset ablate_features"
).split()
_DISTRIBUTED = "ddp_backend find_unused_parameters bucket_cap_mb broadcast_buffers".split()
_REFUSED = (  # what starts processes, traces or loads more, or is about machines
    "tpu profile use_plasma_view azureml_logging model_parallel_size reset_logging num_workers "
    "write_checkpoints_asynchronously suppress_crashes no_save"
).split()
_CRITERIONS = ("cross_entropy", "label_smoothed_cross_entropy")  # fairseq's, in addition to ours
_OPTIMIZERS = "adam nag bert_adamw".split()
_GENERATION = (
    "beam nbest max_len_a max_len_b min_len match_source_len unnormalized no_early_stop "
    "no_beamable_mm lenpen unkpen prefix_size no_repeat_ngram_size sampling sampling_topk "
    "sampling_topp temperature diverse_beam_groups diverse_beam_strength diversity_rate "
    "print_alignment print_step seed cpu fp16 bf16 batch_size max_tokens "
    "skip_invalid_size_inputs_valid_test required_batch_size_multiple"
).split()


def check_options(options: Mapping[Any, Any], kinds: Mapping[str, ValueKind], flag: str) -> None:
    """Refuse options that are none of those that a file may give.

    Args:
        options: a list is a choice, all of whose values are looked at; None takes an option away.
        kinds: `of_training` or `of_generation`.
        flag: that gives them on the command line, for the message.

    Raises:
        ValueError: another name, or a value of another kind; names it and what would do.
    """
    taken_away = {key: ValueKind("", lambda value: True) for key in kinds}
    for key, given in options.items():
        for value in given if isinstance(given, list) else [given]:
            known = taken_away if value is None else kinds
            check_option(key, value, known, f"on the command line: {flag}")


@cache
def of_training() -> dict[str, ValueKind]:
    """Return name -> kind of the options of training; of registered things, those of ours mostly.

    argparse takes the beginning of an option for the option: none of these names begins another
    option of a training with one of these architectures.
    """
    register()
    from fairseq.criterions import CRITERION_DATACLASS_REGISTRY, CRITERION_REGISTRY
    from fairseq.dataclass import configs
    from fairseq.models import ARCH_MODEL_REGISTRY, MODEL_DATACLASS_REGISTRY
    from fairseq.registry import REGISTRIES
    from fairseq.tasks import TASK_DATACLASS_REGISTRY

    schedules: Any = REGISTRIES["lr_scheduler"]["dataclass_registry"]
    optimizers: Any = REGISTRIES["optimizer"]["dataclass_registry"]
    criterions = [*_CRITERIONS, *_of_ours(CRITERION_REGISTRY)]
    groups = (configs.CommonConfig, configs.DatasetConfig, configs.OptimizationConfig)
    registered = (
        *(TASK_DATACLASS_REGISTRY[name] for name in _of_ours(TASK_DATACLASS_REGISTRY)),
        *(MODEL_DATACLASS_REGISTRY[name] for name in _of_ours(MODEL_DATACLASS_REGISTRY)),
        *(CRITERION_DATACLASS_REGISTRY[name] for name in criterions),
        *(optimizers[name] for name in _OPTIMIZERS),
        *schedules.values(),
    )
    arches = tuple(_of_ours(ARCH_MODEL_REGISTRY))
    return {
        **_kinds_of([configs.DistributedTrainingConfig], _DISTRIBUTED),
        **_kinds_of([*groups, configs.CheckpointConfig, *registered]),
        "criterion": one_of(criterions),
        "optimizer": one_of(_OPTIMIZERS),
        "lr-scheduler": one_of(schedules),
        "arch": ValueKind("an architecture of this project", arches.__contains__, arches),
        QUESTIONS: PATH,
        OWN_DATA: ValueKind(PATH.said, lambda value: PATH.fits(str(value))),
    }


def check_model(options: Mapping[str, Any]) -> None:
    """Refuse options of a training whose model they do not make; ValueError says why.

    Models of text are asked, of those of this project; the others when they are built.
    """
    register()
    from fairseq.models import ARCH_MODEL_REGISTRY

    kind = ARCH_MODEL_REGISTRY.get(options.get("arch"))
    if check := getattr(kind, "check_options", None):
        check({key.replace("-", "_"): value for key, value in options.items()})


@cache
def of_generation() -> dict[str, ValueKind]:
    """Return name -> kind of the options of generation."""
    from fairseq.dataclass import configs

    groups = (configs.CommonConfig, configs.DatasetConfig, configs.GenerationConfig)
    return _kinds_of(groups, _GENERATION)


def _of_ours(registry: Mapping[Any, Any]) -> Iterator[str]:
    """Yield the names that this package has put into a registry."""
    package = __name__.partition(".")[0]
    yield from (name for name, one in registry.items() if one.__module__.startswith(f"{package}."))


def _kinds_of(records: Iterable[type], names: Iterable[str] = ()) -> dict[str, ValueKind]:
    """Return name -> kind of the fields of records, all or those named, that have a plain one."""
    found: dict[str, ValueKind] = {}
    for spec in (spec for record in records for spec in fields(record)):
        kind, name = _kind_of(spec), spec.name.replace("_", "-")
        if kind and spec.name in (names or [spec.name]) and spec.name not in _REFUSED:
            found[name] = either(found[name], kind) if name in found else kind
    return found


def _kind_of(spec: Field) -> ValueKind | None:
    """Return the kind of a field; None where it takes a text that is no word, or anything."""
    if spec.name in _WORDS:
        return WORD
    given = [one for one in typing.get_args(spec.type) if one is not type(None)]
    is_optional = type(None) in typing.get_args(spec.type)
    wanted: Any = given[0] if is_optional else spec.type
    if isinstance(wanted, type) and issubclass(wanted, enum.Enum):
        return one_of((one.value for one in wanted), alone="argparse_const" in spec.metadata)
    if typing.get_origin(wanted) in (list, tuple):
        return NUMBERS if set(typing.get_args(wanted)) <= {int, float} else None
    if wanted is Any and isinstance(spec.default, tuple):
        return NUMBERS
    return {bool: FLAG, int: WHOLE, float: NUMBER}.get(wanted)

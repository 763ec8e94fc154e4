"""Options of a model from any source: parsed, from a checkpoint, or from Hydra."""

from argparse import SUPPRESS
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Optional

from ..errors import InputError
from ..option_flags import check, option
from ..syntax.layers import parse_features, parse_targets
from ..targets.classes import CLASSES
from ..targets.table import target_of
from ..targets.target import Target

ALL_LAYERS = "all"
NONE = "none"  # value of options for no features, attentions or layers


@dataclass
class Options:
    """Options of a model, or a part of them; ``_name`` is its architecture."""

    _name: Optional[str] = None


def preset(text: str, **limits: Any) -> Any:
    """Return an option that an architecture presets: None until it is resolved."""
    return option(f"{text} (default: as the architecture says)", None, **limits)


def learnt(args: Any) -> Target:
    """Return the target of a model; classes for options without a folder."""
    return target_of(args.target or CLASSES.name)


def written(**metadata: Any) -> Any:
    """Return an option that the task sets, hidden from help."""
    return field(default=None, metadata={"help": SUPPRESS, **metadata})


@dataclass
class Trained(Options):
    """Training conditions of a model, set by its task."""

    target: Optional[str] = written()
    labels: Optional[str] = written(longest=10_000_000)
    annotator: Optional[str] = written()
    inventories: Optional[str] = written(longest=100_000)  # see `syntax.layers.digests`
    vocabulary: Optional[str] = written()  # see `agreement.vocabulary_digest`
    text_settings: Optional[str] = written()  # see `agreement.settings_text`
    cutting: Optional[str] = written()  # see `data.text_manifest.TextManifest.cutting`


def merged(cfg: Any, config_class: type) -> Any:
    """Return the options of ``config_class`` with the values of ``cfg`` or defaults.

    Unknown options are left out, missing ones (of older checkpoints) get their defaults. ``_name``
    holds the architecture.
    """
    given = vars(cfg)
    if not _is_plain(cfg):
        from omegaconf import OmegaConf

        given = OmegaConf.to_container(cfg, resolve=True)
    known = {spec.name: given.get(spec.name, spec.default) for spec in fields(config_class)}
    known = {key: str(value) if isinstance(value, Enum) else value for key, value in known.items()}
    found = config_class(**{**known, "_name": architecture(cfg)})
    check(found)
    return found


def architecture(cfg: Any) -> str:
    """Return the architecture of options."""
    return getattr(cfg, "_name", None) or getattr(cfg, "arch", None) or ""


def write(cfg: Any, **values: Any) -> None:
    """Set fields of a config, structured or not."""
    with opened(cfg):
        for key, value in values.items():
            setattr(cfg, key, value)


def _is_plain(cfg: Any) -> bool:
    """Return whether options are not OmegaConf's, which fairseq has and bundles lack."""
    return not type(cfg).__module__.startswith("omegaconf")


def opened(cfg: Any) -> AbstractContextManager:
    """Return a context in which fields of a config can be set, structured or not."""
    if _is_plain(cfg):
        return nullcontext()
    from omegaconf import open_dict

    return open_dict(cfg)


def read_features(text: str | None) -> tuple[str, ...]:
    """Return the feature names of ``--features``; ``none`` gives none."""
    return () if text in (None, NONE) else parse_features(text)


def read_targets(text: str | None) -> tuple[str, ...]:
    """Return the names of ``--target-features``; ``none`` gives none."""
    return () if text in (None, NONE) else parse_targets(text)


def read_names(
    text: str | None,
    choices: Sequence[str],
    flag: str,
    *,
    plain: str,
    unknown: str = "{!r}: choices are",
) -> tuple[str, ...]:
    """Return the comma-separated names of an option; ``none`` gives none.

    Args:
        text: the option.
        choices: allowed names.
        flag: the option's name, for messages.
        plain: meaning of ``none``, for messages.
        unknown: message about an unknown name.
    """
    if text is None or text.strip() == NONE:
        return ()
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise InputError(f"{flag} is empty; say '{flag} {NONE}' for {plain}")
    for name in names:
        if name not in choices:
            raise InputError(f"{flag} {unknown.format(name)} {', '.join([*choices, NONE])}")
        if names.count(name) > 1:
            raise InputError(f"{flag} names {name!r} twice")
    return names


def read_layers(text: str | None, layers: int, flag: str) -> tuple[int, ...]:
    """Return the layer numbers (from 0) of an option, in order; ``all`` gives every one."""
    if text is None or text.strip() == ALL_LAYERS:
        return tuple(range(layers))
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and len(part) < 10 for part in parts):
        raise InputError(f"{flag} {text!r}: say {ALL_LAYERS!r}, or numbers from 0 such as 0,2,5")
    numbers = sorted(int(part) for part in parts)
    if numbers[-1] >= layers:
        raise InputError(
            f"{flag} {text!r}: there is no layer {numbers[-1]}; the {layers} layers are numbered "
            f"from 0 to {layers - 1}"
        )
    if len(set(numbers)) != len(numbers):
        raise InputError(f"{flag} {text!r} names a layer twice")
    return tuple(numbers)


def read_some_layers(text: str | None, layers: int, flag: str) -> tuple[int, ...]:
    """Return the layer numbers of an option; ``none``, or no text, gives none."""
    return () if text is None or text.strip() == NONE else read_layers(text, layers, flag)

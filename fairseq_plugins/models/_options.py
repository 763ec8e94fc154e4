"""Options of a model, however they come: parsed, out of a checkpoint, or from Hydra."""

from argparse import Namespace
from contextlib import nullcontext
from dataclasses import field, fields
from typing import Any, Optional

from omegaconf import DictConfig, OmegaConf, open_dict

from ..syntax.layers import parse_features

NO_FEATURES = "none"  # what --features says for a model that reads none


def read_features(text: Optional[str]) -> tuple[str, ...]:
    """Return the feature names of ``--features``; ``none`` gives none.

    Raises:
        ValueError: an unknown or repeated name.
    """
    return () if text in (None, NO_FEATURES) else parse_features(text)


def preset(text: str) -> Any:
    """Make an option that an architecture presets: None until it is resolved."""
    return field(default=None, metadata={"help": f"{text} (default: as the architecture says)"})


def merged(cfg: Any, config_class: type) -> Namespace:
    """Return the options of ``config_class`` as ``cfg`` gives them, defaults elsewhere.

    Options this release does not know are left out, missing ones (of older checkpoints) get their
    defaults. ``_name`` holds the architecture.
    """
    if OmegaConf.is_config(cfg):
        given = OmegaConf.to_container(cfg, resolve=True, enum_to_str=True)
    else:
        given = dict(vars(cfg))
    known = {spec.name: spec.default for spec in fields(config_class)}
    known.update({key: value for key, value in given.items() if key in known})
    known["_name"] = architecture(cfg)
    return Namespace(**known)


def architecture(cfg: Any) -> str:
    """Return the name of the architecture that options are for."""
    return getattr(cfg, "_name", None) or getattr(cfg, "arch", None) or ""


def write(cfg: Any, **values: Any) -> None:
    """Set fields of a config, structured or not."""
    with open_dict(cfg) if isinstance(cfg, DictConfig) else nullcontext():
        for key, value in values.items():
            setattr(cfg, key, value)

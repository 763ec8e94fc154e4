"""The parts of a checkpoint that fairseq hands to a task, closed before use.

fairseq's own commands read a checkpoint's options themselves and give them to the task: the model's
options (``fairseq-generate``, ``-interactive``), and also the task's and criterion's
(``fairseq-validate``). The options come unresolved, as parts of all options of the checkpoint. The
task keeps a closed record of each (`door.records`), with fairseq's defaults for all others.
"""

import json
from argparse import Namespace
from dataclasses import is_dataclass
from typing import Any

from fairseq.criterions import CRITERION_DATACLASS_REGISTRY
from fairseq.dataclass.configs import FairseqConfig, GenerationConfig
from fairseq.dataclass.utils import merge_with_parent
from fairseq.models import ARCH_MODEL_NAME_REGISTRY, MODEL_DATACLASS_REGISTRY
from omegaconf import DictConfig, OmegaConf, open_dict

from ..door.records import BY_USERS, close
from ..errors import InputError

WHERE = "the checkpoint"
FACTORED = "label_smoothed_cross_entropy_with_factors"  # of words and target factors
DETOKENIZERS = (None, "moses", "nltk", "space")  # fairseq's own, which open no file
# possible criterions of a translation checkpoint
CRITERIONS = (
    "cross_entropy",
    "label_smoothed_cross_entropy",
    "label_smoothed_cross_entropy_with_alignment",
    FACTORED,
)


def unresolved(cfg: Any) -> dict[str, Any]:
    """Return options unchanged, references among them as text."""
    found = cfg
    if OmegaConf.is_config(cfg):
        found = OmegaConf.to_container(cfg, resolve=False, enum_to_str=True)
    elif isinstance(cfg, Namespace) or is_dataclass(cfg):
        found = vars(cfg)
    if not isinstance(found, dict):
        raise InputError(f"{WHERE}: options are no options by name")
    return found


def run_of(cfg: Any) -> DictConfig | None:
    """Return all options of the run or checkpoint that a part belongs to, if any."""
    whole = cfg._get_root() if OmegaConf.is_config(cfg) else None  # there is no public access
    return whole if isinstance(whole, DictConfig) else None


def training_of(cfg: Any) -> DictConfig | None:
    """Return all options of the training that a part belongs to; None outside training."""
    whole = run_of(cfg)
    trains = whole is not None and whole.get("optimizer") and "checkpoint" in whole
    return whole if trains else None


def architecture_of(options: dict[str, Any]) -> str:
    """Return the name of the architecture, task or criterion of options."""
    return str(options.get("_name") or options.get("arch"))


def _closed(part: str, cfg: Any, config_class: type, **how: Any) -> DictConfig:
    """Return a part of a checkpoint's options as a closed record, beside fairseq's defaults."""
    given = unresolved(cfg)
    whole = OmegaConf.structured(FairseqConfig())
    with open_dict(whole):
        whole[part] = {**close(given, config_class, WHERE, **how), "_name": architecture_of(given)}
    return whole[part]


def closed_task(cfg: Any, config_class: type) -> Any:
    """Return a task's options from a checkpoint as a closed record; see `_closed`."""
    record = _closed("task", cfg, config_class, without=BY_USERS)
    return merge_with_parent(config_class(), record)


def closed_model(cfg: Any, model_class: Any) -> DictConfig:
    """Return a model's options from a checkpoint as a closed record; see `_closed`.

    All other options of the checkpoint are replaced by fairseq's defaults, in place: fairseq's hub
    interface, for instance, reads them later.
    """
    arch = architecture_of(unresolved(cfg))
    config_class = MODEL_DATACLASS_REGISTRY[ARCH_MODEL_NAME_REGISTRY[arch]]
    how = {"without": model_class.opened, "before": model_class.before}
    closed = _closed("model", cfg, config_class, **how)
    whole = run_of(cfg)
    if whole is not None and whole is not cfg:
        root: Any = closed._get_root()
        _replace(whole, root)
    return closed


def closed_criterion(cfg: Any, known: tuple[str, ...]) -> DictConfig:
    """Return a criterion's options from a checkpoint as a closed record; see `_closed`."""
    name = architecture_of(unresolved(cfg))
    if name not in known:
        raise InputError(f"{WHERE}: criterion {name!r} is none of {', '.join(known)}")
    return _closed("criterion", cfg, CRITERION_DATACLASS_REGISTRY[name])


def check_bleu(cfg: Any) -> None:
    """Refuse options of ``--eval-bleu`` beyond search and detokenisation."""
    for name in ("eval_bleu_args", "eval_bleu_detok_args"):
        try:
            found = json.loads(cfg[name] or "{}")
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or (name == "eval_bleu_detok_args" and found):
            raise InputError(f"{WHERE}: option {name!r} is refused: it says more than {{}}")
        unknown = found.keys() - close(found, GenerationConfig, WHERE).keys()
        if unknown:
            raise InputError(f"{WHERE}: option {name!r} holds {sorted(unknown)[0]!r}")
    if cfg["eval_bleu_detok"] not in DETOKENIZERS:
        raise InputError(f"{WHERE}: option 'eval_bleu_detok' is {cfg['eval_bleu_detok']!r}")


def _replace(whole: DictConfig, defaults: DictConfig) -> None:
    """Replace all parts by defaults, except task and criterion, which are closed later."""
    with open_dict(whole):
        for name in list(whole):
            if name in ("task", "criterion"):
                continue
            if name in defaults:
                whole[name] = defaults[name]
            else:
                del whole[name]

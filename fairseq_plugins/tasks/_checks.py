"""Checks of a task's options and models, before any long work."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from fairseq.dataclass.configs import CommonConfig
from fairseq.models import ARCH_MODEL_REGISTRY
from omegaconf.errors import InterpolationResolutionError

from ..data.text_manifest import TextManifest
from ..errors import InputError
from ..evaluation.metrics import LOWER_IS_BETTER
from ..messages import named, plain
from ._checkpoint_options import architecture_of, run_of, unresolved

NO_AUTOCAST = "none"


class Refused(SystemExit, InputError):
    """An InputError that ends a fairseq command with one sentence and no traceback."""

    def __init__(self, sentence: str) -> None:
        super().__init__(plain(sentence))


def model_class_of(cfg: Any, task: str, mark: str, cure: str = "") -> Any:
    """Return the model class that options name.

    Args:
        mark: attribute of the accepted models.
        cure: advice for the message.
    """
    name = architecture_of(unresolved(cfg))
    ours: list[Any] = [k for k, v in ARCH_MODEL_REGISTRY.items() if getattr(v, mark, False)]
    if name not in ours:
        choices = ", ".join(sorted(ours))
        raise InputError(f"--task {task} does not take --arch {name}; choices: {choices}{cure}")
    return ARCH_MODEL_REGISTRY[name]


def check_precision(cfg: Any) -> None:
    """Refuse half precision that would fail in training; generation supports it.

    fairseq would fail inside its trainer, after loading model and data, with an unrelated message.
    """
    whole = run_of(cfg)
    common = None if whole is None else whole.get("common")
    if whole is None or common is None or not whole.get("optimizer"):  # only a training has one
        return
    if common.get("tpu") and find_spec("torch_xla") is None:
        raise Refused(
            "--bf16 and --memory-efficient-bf16 on the command line mean a TPU to fairseq, and "
            "torch_xla is not installed; choices: --autocast bfloat16 (understanding tasks), "
            "--amp, --fp16, or common.bf16=true of fairseq-hydra-train"
        )
    on_cpu = common.get("cpu") or not torch.cuda.is_available()
    helped = common.get("memory_efficient_fp16") or common.get("fp16_no_flatten_grads")
    if common.get("fp16") and on_cpu and not helped:
        raise Refused(
            "--fp16 on a CPU needs --fp16-no-flatten-grads or --memory-efficient-fp16 as well "
            "(--optimizer bert_adamw: the former)"
        )


def seed_of(cfg: Any) -> int:
    """Return the seed of a task's run; fairseq's default without a run."""
    whole = run_of(cfg)
    common = None if whole is None else whole.get("common")
    return int(CommonConfig.seed if common is None else common.seed)


def positive_label(given: str | None, manifest: TextManifest, folder: Path) -> str:
    """Return the label of F1; empty if there is none."""
    if given is not None and given not in manifest.labels:
        raise InputError(
            f"--positive-label {given!r} is no label of {folder}; "
            f"choices: {named(manifest.labels, none='none, it holds scores')}"
        )
    return given or manifest.positive


def check_autocast(cfg: Any) -> None:
    """Refuse ``--autocast`` together with fairseq's own half precision."""
    for name in ("fp16", "bf16", "amp"):
        try:
            given = getattr(cfg, name)
        except InterpolationResolutionError:  # set up in Python, without fairseq's other options
            return
        if given is True and str(cfg.autocast) != NO_AUTOCAST:
            raise InputError(
                f"--autocast {cfg.autocast} and --{name} exclude each other: leave out one of them"
            )


def check_best_metric(cfg: Any, known: Sequence[str]) -> None:
    """Refuse a ``--best-checkpoint-metric`` that is not logged, or has a wrong direction."""
    best = str(cfg.best_checkpoint_metric)
    if best.startswith("${"):  # set up in Python, without fairseq's other options
        return
    if best not in known:
        hint = "; f1 is that of --positive-label" if best == "f1" else ""
        raise InputError(
            f"--best-checkpoint-metric {best} is not computed for {cfg.data}; "
            f"choices: {', '.join(known)}{hint}"
        )
    if (best in LOWER_IS_BETTER) == bool(cfg.maximize_best_checkpoint_metric):
        cure = "without" if best in LOWER_IS_BETTER else "with"
        raise InputError(
            f"--best-checkpoint-metric {best} goes {cure} --maximize-best-checkpoint-metric: "
            "fairseq would take the WORST checkpoint for the best"
        )

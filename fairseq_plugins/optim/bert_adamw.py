"""``--optimizer bert_adamw``: AdamW for fine-tuning BERT (Loshchilov and Hutter, 2019).

Weight decay shrinks matrices and embedding tables only, not biases and LayerNorm; moments are
corrected for their bias. fairseq's own ``adam`` decays everything. The step is torch's fused step,
on a CPU as well.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, List

import torch
from fairseq.dataclass import FairseqDataclass
from fairseq.optim import FairseqOptimizer, register_optimizer
from omegaconf import II

from ..errors import InputError
from ..nn.layer_depths import ABOVE
from ..option_flags import check, option

OWN = {"fused", "foreach", "rate"}  # values of groups that a checkpoint does not decide
_FUSED_DEVICES = ("cpu", "cuda")


@dataclass
class BertAdamWConfig(FairseqDataclass):
    """Options, named as in fairseq's ``adam``."""

    adam_betas: Any = field(
        default=(0.9, 0.999), metadata={"help": "Adam's two betas, e.g. '(0.9, 0.999)'"}
    )
    adam_eps: float = field(
        default=1e-8, metadata={"help": "Adam's epsilon, added to the denominator"}
    )
    weight_decay: float = field(
        default=0.01,
        metadata={"help": "decoupled weight decay of matrices (not of biases and LayerNorm)"},
    )
    layer_lr_decay: float = option(
        "factor of the learning rate from each encoder layer to the one below: with X and L "
        "layers, layer l (from 1) has the rate X^(L + 1 - l) lr, the embeddings X^(L + 1) lr; the "
        "head and new parts, such as features and gates, have the whole rate",
        1.0,
        least=0,
        most=1,
    )
    lr: List[float] = II("optimization.lr")


@register_optimizer("bert_adamw", dataclass=BertAdamWConfig)
class BertAdamW(FairseqOptimizer):
    """torch's AdamW with two groups of parameters for each rate: with and without weight decay."""

    def __init__(self, cfg: BertAdamWConfig, params: Iterable[torch.nn.Parameter]) -> None:
        super().__init__(cfg)
        params = list(params)
        if len(params) == 1 and params[0].ndim == 1:
            raise InputError(
                "--optimizer bert_adamw got all parameters as one vector, in which biases cannot "
                "be told from matrices: add --fp16-no-flatten-grads"
            )
        groups = [group for one in self._by_layer(params) for group in _with_and_without_decay(one)]
        # None lets torch choose its foreach or plain step
        fused = all(p.device.type in _FUSED_DEVICES for p in params) or None
        self._optimizer = torch.optim.AdamW(groups, fused=fused, **self.optimizer_config)

    def _by_layer(self, params: list[torch.nn.Parameter]) -> list[dict[str, Any]]:
        """Return parameters of one rate each, with it; the whole rate is the first."""
        check(self.cfg, BertAdamWConfig)
        decay = self.cfg.layer_lr_decay
        if decay == 1:
            return [{"params": params}]
        above = sorted({getattr(one, ABOVE, 0) for one in params})
        if above == [0]:
            raise InputError(
                f"--layer-lr-decay {decay} finds no encoder layers: it is for models of BERT's "
                "kind, not with --fp16 or --bf16 (choices: --amp, --autocast bfloat16), and for "
                "layers that are trained (--freeze-layers)"
            )
        of_layer = {k: [one for one in params if getattr(one, ABOVE, 0) == k] for k in above}
        return [{"params": own, "rate": decay**k} for k, own in of_layer.items()]

    def set_lr(self, lr: float) -> None:
        """Set the learning rate, smaller in lower layers."""
        for group in self.param_groups:
            group["lr"] = lr * group.get("rate", 1)

    @property
    def supports_memory_efficient_fp16(self) -> bool:
        """Refused: half-precision moments would lose small gradients."""
        raise InputError(
            "--optimizer bert_adamw needs moments in full precision, which "
            "--memory-efficient-fp16 (or bf16) does not keep: give --fp16 "
            "--fp16-no-flatten-grads (or bf16) instead"
        )

    @property
    def optimizer_config(self) -> dict[str, Any]:
        """Return the options of torch's AdamW."""
        return {
            "lr": self.cfg.lr[0],
            "betas": _betas(self.cfg.adam_betas),
            "eps": self.cfg.adam_eps,
            "weight_decay": self.cfg.weight_decay,
        }

    def load_state_dict(self, state_dict: dict, optimizer_overrides: dict | None = None) -> None:
        """Load moments and steps; the fused or plain step remains this machine's.

        Args:
            state_dict: of a checkpoint, perhaps from a machine without a fused step.
            optimizer_overrides: as ``--optimizer-overrides``; a weight decay is for matrices only.
        """
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise InputError(
                f"--layer-lr-decay {self.cfg.layer_lr_decay}: the checkpoint was trained with "
                "other groups of layers; give the value of then, or --reset-optimizer"
            )
        own = [{key: group[key] for key in OWN & group.keys()} for group in self.param_groups]
        groups = [{**there, **here} for there, here in zip(saved, own)]
        super().load_state_dict({**state_dict, "param_groups": groups}, optimizer_overrides)
        for group in self.param_groups[1::2]:
            group["weight_decay"] = 0.0


def _with_and_without_decay(group: dict[str, Any]) -> list[dict[str, Any]]:
    matrices, others = (
        [p for p in group["params"] if (p.ndim >= 2) is two] for two in (True, False)
    )
    return [{**group, "params": matrices}, {**group, "params": others, "weight_decay": 0.0}]


def _betas(given: Any) -> tuple[float, float]:
    """Read two betas, or a text such as ``(0.9, 0.999)`` from the command line."""
    try:
        first, second = map(float, ast.literal_eval(given) if isinstance(given, str) else given)
    except (ValueError, SyntaxError, TypeError):
        first = second = -1.0
    if not (0 <= first < 1 and 0 <= second < 1):
        raise InputError(f"--adam-betas {given} is not two numbers from 0 to below 1")
    return first, second

"""The usual training of an architecture: keys of a grid, as an experiment of examples/ has them.

The defaults of `Grid`, which are the usual training of a BERT, count for all other keys.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .grid import SIZES

Keys = dict[str, Any]


class Usual(NamedTuple):
    """A usual training."""

    example: str  # its grid in examples/
    keys: Keys


_TRANSLATION = Usual(
    "multi30k_en_de/configs/multi30k_small.yaml",
    {
        "learning_rates": 2e-3,
        "updates": 4000,
        "validate_every": 1000,
        "generate": {"beam": 4, "lenpen": 0.6, "max-tokens": 4000, "max-len-a": 2, "max-len-b": 20},
        "options": {
            "share-decoder-input-output-embed": True,
            "dropout": 0.1,
            "clip-norm": 1.0,
            "adam-betas": "(0.9, 0.98)",
            "lr-scheduler": "linear_warmup",
            "warmup-ratio": 0.15,
            "max-tokens": 512,
        },
    },
)
_SPANS = Usual(
    "bertqa_squad/configs/minilm.yaml",
    {
        "learning_rates": 1e-4,
        "epochs": 2,
        "batch_size": 12,
        "options": {"max-positions": 384, "dropout": 0.1},
    },
)
_DUAL = Usual(
    "dabert/configs/rte.yaml",
    {
        "learning_rates": 2e-5,
        "epochs": 5,
        "options": {
            "clip-norm": 10.0,
            "dropout": 0.1,
            "max-positions": 128,
            "long-examples": "truncate",
        },
    },
)
_SCRATCH = Usual(
    "matching/configs/rte.yaml", {"learning_rates": 1e-3, "epochs": 5, "clip_norm": 10.0}
)
_OTHERS = Usual("glue/configs/rte.yaml", {"learning_rates": 5e-5})
USUAL = {  # target, or architecture without its size
    "translation": _TRANSLATION,
    "spans": _SPANS,
    **dict.fromkeys(("dabert", "dabert_literal", "bert_uer"), _DUAL),
    **dict.fromkeys(("esim", "bimpm", "cafe", "pair_transformer"), _SCRATCH),
}


def usual(arch: str, target: str) -> Keys:
    """Return the keys of a grid in the usual training of an architecture for a target."""
    kind, _, size = arch.rpartition("_")
    kind = kind if size in SIZES else arch
    return USUAL.get(kind, USUAL.get(target, _OTHERS)).keys

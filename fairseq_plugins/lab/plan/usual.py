"""The usual training of an architecture: keys of a grid, as an experiment of examples/ has them.

The defaults of `Grid`, which are the usual training of a BERT, count for all other keys.
"""

from typing import Any

from .grid import SIZES

Keys = dict[str, Any]
Usual = tuple[str, Keys]  # grid in examples/, and its keys

_PAIRS = {"clip-norm": 10.0, "dropout": 0.1, "max-positions": 128, "long-examples": "truncate"}
_SEARCH = {"beam": 4, "lenpen": 0.6, "max-tokens": 4000, "max-len-a": 2, "max-len-b": 20}
_FIRST = {"share-decoder-input-output-embed": True, "dropout": 0.1, "clip-norm": 1.0}
_FIRST |= {"adam-betas": "(0.9, 0.98)", "lr-scheduler": "linear_warmup", "warmup-ratio": 0.15}
_FIRST |= {"max-tokens": 512}
_TRANSLATION = {"learning_rates": 2e-3, "updates": 4000, "validate_every": 1000}
_SPANS = {"learning_rates": 1e-4, "epochs": 2, "batch_size": 12}
_SCRATCH = {"learning_rates": 1e-3, "epochs": 5, "clip_norm": 10.0}
_DUAL: Usual = (
    "dabert/configs/rte.yaml",
    {"learning_rates": 2e-5, "epochs": 5, "options": _PAIRS},
)
USUAL: dict[str, Usual] = {  # of a target, or an architecture without its size
    "translation": (
        "multi30k_en_de/configs/multi30k_small.yaml",
        {**_TRANSLATION, "generate": _SEARCH, "options": _FIRST},
    ),
    "spans": (
        "bertqa_squad/configs/minilm.yaml",
        {**_SPANS, "options": {"max-positions": 384, "dropout": 0.1}},
    ),
    **dict.fromkeys(("dabert", "dabert_literal", "bert_uer"), _DUAL),
    **dict.fromkeys(
        ("esim", "bimpm", "cafe", "pair_transformer"), ("matching/configs/rte.yaml", _SCRATCH)
    ),
}
_OTHERS: Usual = ("glue/configs/rte.yaml", {"learning_rates": 5e-5})


def usual(arch: str, target: str) -> Keys:
    """Return the keys of a grid in the usual training of an architecture for a target."""
    kind, _, size = arch.rpartition("_")
    return USUAL.get(kind if size in SIZES else arch, USUAL.get(target, _OTHERS))[1]

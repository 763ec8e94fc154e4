"""The table of cases: what is compared, on which batches, and what the figure should be."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from fairseq_plugins.data.manifests import read_manifest

from . import text, translation
from .turns import Setting

Bar = Callable[[Setting], str]


@dataclass(frozen=True)
class Kind:
    """Work that cases are about."""

    about: str
    sizes: tuple[str, ...]  # of the models, the usual one first
    batches: tuple[str, ...]  # the usual ones
    form: str  # pattern of random batches
    task: str | None  # ``Manifest.task`` of prepared folders
    module: ModuleType = text  # makes systems (``build``) and batches
    of_speeds: bool = False  # whether ratios are of speeds, not of times

    def takes(self, batches: str) -> bool:
        """Whether these batches are for such work."""
        if Path(batches).is_dir():
            return read_manifest(Path(batches)).task == self.task
        return re.fullmatch(self.form, batches) is not None


CLASSES = "text_classification"
SIZES = ("minilm", "tiny", "base", "large")
STEP = Kind("training step", SIZES, ("32x32", "8x128"), r"\d+x(\d+|cola|rte)", CLASSES)
ANSWER = replace(STEP, about="forward, no gradients")
MASKS = replace(STEP, about="masks of a batch")
EQUAL = replace(MASKS, batches=("32x128",), form=r"\d+x\d+", task=None, of_speeds=True)
READER = replace(STEP, batches=("8x16+112",), form=r"\d+x\d+\+\d+", task="extractive_qa")
PAIRS = replace(READER, sizes=("paper",), batches=("32x14+8",), task=CLASSES, of_speeds=True)
UPDATE = Kind(
    "training",
    (*translation.SIZES,),
    ("random",),
    "random",
    "syntax_translation",
    translation,
    True,
)
SEARCH = replace(UPDATE, about="beam search")


def always(bar: str = "") -> Bar:
    """Ask for the same in every setting."""
    return lambda setting: bar


def at_base(cpu: str, cuda: str = "") -> Bar:
    """Ask for something at base size alone, on a GPU perhaps for less."""
    bars = {"cpu": cpu, "cuda": cuda or cpu}
    return lambda setting: bars[setting.device] if setting.size == "base" else ""


def _plain(setting: Setting) -> str:
    return "<= 0.70" if Path(setting.batches).is_dir() else "<= 1.00"


@dataclass(frozen=True)
class Case:
    """A comparison of a ``system`` with its ``rival``, and what its ratios should be."""

    kind: Kind
    system: str
    rival: str
    bar: Bar = always()
    memory: Bar = always()


ALIKE = always(">= 0.97")
DABERT = at_base("<= 1.15", "<= 1.25"), at_base("<= 1.25")
CASES = {
    "plain": Case(STEP, "bert_plain", "Hugging Face", _plain),
    "sla": Case(STEP, "bert_sla", "bert_plain", at_base("<= 1.10", "<= 1.15")),
    "wla": Case(STEP, "bert_wla", "bert_plain", at_base("<= 1.10")),
    "lisa": Case(STEP, "bert_lisa", "bert_plain"),
    "sgnet": Case(STEP, "bert_sgnet", "bert_plain"),
    "dabert": Case(STEP, "dabert", "bert_plain", *DABERT),
    "dabert-literal": Case(STEP, "dabert_literal", "bert_plain"),
    "second-affinity": Case(STEP, "dabert second-affinity", "bert_plain"),
    "masks": Case(MASKS, "masks", "bert_sla", always("<= 0.02")),
    "masks-numpy": Case(EQUAL, "truth values of masks", "NumPy's masks", always(">= 10")),
    "inference": Case(ANSWER, "bert_plain answering", "Hugging Face answering"),
    "compiled": Case(ANSWER, "bert_plain answering compiled", "bert_plain answering"),
    "coattention": Case(READER, "bertqa", "bertqa plain-layers"),
    "coattention-literal": Case(READER, "bertqa_literal", "bertqa plain-layers"),
    "esim": Case(PAIRS, "esim", "torch's esim", always(">= 1.0")),
    "translation": Case(UPDATE, "syntax_transformer", "transformer", ALIKE),
    "generation": Case(SEARCH, "syntax_transformer generating", "transformer generating", ALIKE),
}

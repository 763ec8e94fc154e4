"""Models of texts, Hugging Face's and torch's ESIM beside ours, and the masks of trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from fairseq.utils import apply_to_sample
from torch import Tensor, nn

from benchmarks.gpu import cases
from benchmarks.gpu.batches import CLASSES
from fairseq_plugins.nn.context import AttentionContext
from fairseq_plugins.nn.packing import BatchLayout
from fairseq_plugins.nn.tree_masks import TreeRule
from fairseq_plugins.pretrained.configuration import config_of
from fairseq_plugins.pretrained.families import FAMILIES
from fairseq_plugins.pretrained.names import to_theirs
from fairseq_plugins.pretrained.task_heads import SENTENCES, TaskHead, join_head, names_beneath

from .batches import batches as batches
from .matching import Twin
from .turns import Batch, Setting, System, system

PLAIN, HUGGING_FACE, ESIM, TWIN = "bert_plain", "Hugging Face", "esim", "torch's esim"
ANSWERING, COMPILED = " answering", " compiled"  # behind the name of a model
EQUALS = {PLAIN: HUGGING_FACE, ESIM: TWIN}  # have the same weights and give the same numbers
TOLERANCE = 1e-4
RULE, MASK_TURNS = TreeRule(), 5


class Ours(nn.Module):
    """A model of ours by the name of its kind, perhaps with a control behind it."""

    def __init__(self, name: str, setting: Setting, vocabulary: int) -> None:
        super().__init__()
        kind, _, control = name.removesuffix(COMPILED).removesuffix(ANSWERING).partition(" ")
        options = {"dual_control": control} if control else {}
        how: dict[str, Any] = {"texts": 2} if kind == ESIM else {}
        if kind.startswith("bertqa"):
            options = {"coattention_control": control} if control else {}
            how = {"target": "spans", "texts": 2}
        arch = kind if kind == ESIM else f"{kind}_{setting.size}"
        sizes = cases.Sizes(1, 8, 8, vocabulary, *[None] * 4)
        dropout = 0.5 if kind == ESIM else setting.dropout  # as published
        case = cases.Case(name, arch, options, family=setting.family, **how)
        self.model = case.trial(sizes, dropout=dropout).model

    def forward(self, batch: Batch) -> Tensor:
        """Return logits; further losses join them so that their gradients are computed."""
        logits, extra = self.model(**batch["net_input"])
        return logits + sum(extra["losses"].values())


class HuggingFace(nn.Module):
    """Their model for classes of texts, of the family, sizes and weights of a plain one of ours."""

    def __init__(self, ours: Any, setting: Setting) -> None:
        super().__init__()
        import transformers

        family, shape = FAMILIES[setting.family], ours.encoder.shape
        config = config_of(shape, family) | {"num_labels": len(CLASSES)}
        made = transformers.AutoConfig.for_model(**config)
        self.model = transformers.AutoModelForSequenceClassification.from_config(made)
        head = TaskHead(SENTENCES, ours.head.out.state_dict())
        encoder = to_theirs(ours.encoder.state_dict(), shape, names_beneath(family))
        self.model.load_state_dict(join_head(encoder, head, family))
        self.inputs = ["input_ids", "attention_mask", *["token_type_ids"] * shape.sides]

    def forward(self, batch: Batch) -> Tensor:
        """Return logits."""
        return self.model(**{name: batch["padded"][name] for name in self.inputs}).logits


def models(names: Sequence[str], setting: Setting, batch: Batch) -> dict[str, nn.Module]:
    """Make models, with the same weights where they share parts."""
    torch.manual_seed(1)
    theirs = [name for name in names if name.startswith(HUGGING_FACE)]
    made: dict[str, Any] = {}
    for name in [name for name in names if name not in (*theirs, TWIN)]:
        made[name] = Ours(name, setting, batch["vocabulary"])
    for name in made.keys() - {PLAIN} if PLAIN in made else ():
        made[name].load_state_dict(made[PLAIN].state_dict(), strict=False)
    for name in theirs:
        plain = made.get(PLAIN) or Ours(PLAIN, setting, batch["vocabulary"])
        made[name] = HuggingFace(plain.model, setting)
    return {**made, TWIN: Twin(made[ESIM].model)} if ESIM in made else made


@torch.no_grad()
def check_equal(made: dict[str, nn.Module], batch: Batch) -> None:
    """Fail if models (on the CPU) that should compute the same do not."""
    batch = apply_to_sample(torch.Tensor.cpu, batch)
    for pair in [pair for pair in EQUALS.items() if {*pair} <= made.keys()]:
        ours, theirs = (made[name].eval()(batch) for name in pair)
        if (gap := float((ours - theirs).abs().max())) > TOLERANCE:
            raise RuntimeError(f"{' and '.join(pair)}: logits differ by {gap:.2g}")


def build(names: Sequence[str], setting: Setting, batch: Batch) -> Iterator[System]:
    """Yield the systems; each moves to its device only when it is reached."""
    made = models([name for name in names if name not in MASKS], setting, batch)
    check_equal(made, batch)
    for name in names:
        if name in MASKS:
            yield System(name, MASKS[name], MASK_TURNS)
        else:
            how = {"trains": ANSWERING not in name, "fuses": setting.compile or COMPILED in name}
            yield system(name, made[name], setting, **how)


def masks(batch: Batch, *, added: bool) -> int:
    """Make SLA's masks of one training step, as truth values or as what is added to scores."""
    inputs = batch["net_input"]
    layout = BatchLayout.of(inputs["src_tokens"].eq(0), inputs["token_positions"])
    context = AttentionContext(layout, inputs["segments"], inputs["word_of"], inputs["heads"])
    for block in layout.blocks:
        context.additive_mask(RULE, block) if added else context.allowed(RULE, block)
    return batch["ntokens"]


def tree_allowed(parents: np.ndarray) -> np.ndarray:
    """Return where `RULE` lets words of one tree look, in NumPy, (W, W); roots are their own."""
    words = np.arange(len(parents))
    above, ancestors = parents, np.eye(len(parents), dtype=bool)  # (W, W)
    while not ancestors[words, above].all():
        ancestors[words, above] = True
        above = parents[above]
    shared = ancestors.astype(np.float32)
    depth, common = shared.sum(axis=1), shared @ shared.T  # of the lowest common ancestor
    near = (common > 0) & (depth[:, None] + depth - 2 * common <= RULE.threshold)
    allowed = near.copy()
    allowed[1:] |= near[:-1]
    allowed[:-1] |= near[1:]
    return allowed


def twin(batch: Batch) -> np.ndarray:
    """Make the masks of sentences of equal length in NumPy, (B, S, S)."""
    found = []
    for parents, word_of in batch["trees"]:
        allowed = tree_allowed(parents[: word_of.max() + 1])[word_of[:, None], word_of]
        found.append(allowed | (word_of < 0) | (word_of < 0)[:, None])
    return np.stack(found)


MASKS: dict[str, Any] = {
    "masks": lambda batch: masks(batch, added=True),
    "truth values of masks": lambda batch: masks(batch, added=False),
    "NumPy's masks": lambda batch: twin(batch) is not None and batch["ntokens"],
}

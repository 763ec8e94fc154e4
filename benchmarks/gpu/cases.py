"""The kinds of models that the accelerator's benchmarks compare, as values: how each is built, what
its batches hold, what trains it.
"""

from __future__ import annotations

import copy
import json
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
from fairseq.utils import apply_to_sample
from torch import Tensor, nn

from fairseq_plugins import criterions
from fairseq_plugins.architectures import bert_plan
from fairseq_plugins.architectures.bert_options import BertOptions
from fairseq_plugins.architectures.text_kinds import TEXT_KINDS
from fairseq_plugins.methods.options import merged, write
from fairseq_plugins.models import SyntaxTransformerModel
from fairseq_plugins.pretrained.families import FAMILIES
from fairseq_plugins.targets.table import target_of

from .batches import CLASSES, ENTITIES, KNOWN, Draw, Sample, Subwords, dictionary, parallel_sample

SOURCE, TARGET = ("pos", "case", "subword", "heads"), ("truecase",)


@dataclass(frozen=True)
class Sizes:
    """How large models and batches are.

    Args:
        batch, shortest, longest: examples of a batch, bounds of the tokens of a row.
        vocabulary: number of subwords.
        width, inner, layers, heads: of models; None: those of the architecture.
    """

    batch: int = 8
    shortest: int = 8
    longest: int = 64
    vocabulary: int = 500
    width: int | None = 64
    inner: int | None = 128
    layers: int | None = 2
    heads: int | None = 4

    def given(self, **names: str) -> dict[str, Any]:
        """Return options by their names, of the sizes that are said."""
        found = {option: getattr(self, name) for option, name in names.items()}
        return {option: value for option, value in found.items() if value is not None}


TINY = Sizes(batch=4, longest=20, vocabulary=60, width=32, inner=48, heads=2)
SMALL = Sizes()
BASE = Sizes(32, 128, 128, 30522, None, None, None, None)


@dataclass(frozen=True)
class Trial:
    """A model, a batch for it and its criterion."""

    model: nn.Module
    sample: Sample
    criterion: Any

    def to(self, device: str, dtype: torch.dtype = torch.float32) -> Trial:
        """Return a copy elsewhere, its numbers of another type, as fairseq's trainer has them."""

        def moved(values: Tensor) -> Tensor:
            return values.to(device, dtype if values.dtype == torch.float32 else values.dtype)

        model = copy.deepcopy(self.model).to(device, dtype)
        return Trial(model, apply_to_sample(moved, self.sample), self.criterion)

    def loss(self) -> tuple[Tensor, Tensor]:
        """Return the loss of the batch, a sum, and the logits that the model made on the way."""
        found: list[Any] = []
        handle = self.model.register_forward_hook(lambda _, __, output: found.append(output[0]))
        try:
            return self.criterion(self.model, self.sample)[0], found[0]
        finally:
            handle.remove()


@dataclass(frozen=True)
class Case:
    """A kind of model.

    Args:
        name: in words.
        arch: name of its architecture, without a size.
        options: those that differ from the architecture's.
        target: what is learnt, as in the manifest of a folder; ``translation`` for pairs of
            sentences.
        texts: texts of an example.
        family: of the encoder.
    """

    name: str
    arch: str
    options: Mapping[str, Any] = field(default_factory=dict)
    target: str = "classes"
    texts: int = 1
    family: str = "bert"

    def trial(self, sizes: Sizes, *, dropout: float = 0.0, seed: int = 1) -> Trial:
        """Build the model, ready to be trained, and draw a batch."""
        torch.manual_seed(seed)
        make = _translation if self.target == "translation" else _understanding
        found = make(self, sizes, dropout, seed)
        found.model.train()
        return found


PAIR, SPANS, TRANSLATION = {"texts": 2}, {"texts": 2, "target": "spans"}, {"target": "translation"}
FEATURES, NEAR = {"features": "pos,case,subword"}, {"tree_threshold": 2}
LOCAL_ENCODER = {**FEATURES, **NEAR, "encoder_attention": "sla"}
FACTORS = {"features": "none", "target_features": "truecase"}
JUDGED = {"answerability_loss_weight": 1.0}
_CASES = (
    Case("translation, features", "syntax_transformer", FEATURES, **TRANSLATION),
    Case("translation, SLA in the encoder", "syntax_transformer", LOCAL_ENCODER, **TRANSLATION),
    Case("translation, target factors", "syntax_transformer", FACTORS, **TRANSLATION),
    Case("plain", "bert_plain"),
    Case("plain, scores of pairs", "bert_plain", target="score", **PAIR),
    Case("plain, word labels", "bert_plain", target="word_labels"),
    Case("POS, sum", "bert_pos"),
    Case("POS, concat", "bert_pos", {"feature_merge": "affine"}),
    Case("SLA, dropout separate", "bert_sla", {**NEAR, "local_dropout": "separate"}),
    Case("SLA, dropout mixture", "bert_sla", {**NEAR, "local_dropout": "mixture"}),
    Case("SLA as released", "bert_sla_released", {"tree_threshold": 1}, **PAIR),
    Case("WLA", "bert_wla", {"window": 2}),
    Case("parent, child, sibling", "bert_syntax_masks", target="word_labels"),
    Case("LISA", "bert_lisa"),
    Case("SGNet, tree", "bert_sgnet", **PAIR),
    Case("SGNet, span", "bert_sgnet", {"ancestor_mask": "span"}),
    Case("DABERT", "dabert", **PAIR),
    Case("DABERT, literal", "dabert_literal", **PAIR),
    Case("DABERT, across sentences", "dabert", {"difference_scope": "cross"}, **PAIR),
    Case("second affinity", "dabert", {"dual_control": "second-affinity"}, **PAIR),
    Case("similarity", "bert_uer", **PAIR),
    Case("questions, joint head", "bert_plain", **SPANS),
    Case("coattention, query", "bertqa", {"span_lstm": "none"}, **SPANS),
    Case("coattention, query, LSTM", "bertqa", {"local_convolutions": "shared"}, **SPANS),
    Case("coattention, literal, LSTM", "bertqa_literal", JUDGED, **SPANS),
    Case("SemBERT", "bert_sembert"),
    Case("BERT-MRC", "bert_mrc", target="entities"),
    Case("ESIM", "esim", **PAIR),
    Case("BiMPM", "bimpm", **PAIR),
    Case("CAFE", "cafe", **PAIR),
    Case("pair transformer", "pair_transformer", **PAIR),
    Case("pair transformer, siamese", "pair_transformer", {"pair_encoding": "siamese"}, **PAIR),
    Case("RoBERTa, SLA", "bert_sla", NEAR, family="roberta", **PAIR),
    Case("ALBERT, SLA", "bert_sla", NEAR, "word_labels", family="albert"),
    Case("DeBERTa, SLA", "bert_sla", NEAR, family="deberta-v2", **PAIR),
    Case("DeBERTa, DABERT", "dabert", family="deberta-v2", **PAIR),
    Case("ModernBERT, SLA", "bert_sla", NEAR, family="modernbert", **PAIR),
    Case("MPNet, SLA", "bert_sla", NEAR, family="mpnet"),
)
CASES = {case.name: case for case in _CASES}
# option -> attribute of `Sizes`
OF_TEXTS = {
    "hidden_size": "width",
    "num_hidden_layers": "layers",
    "num_attention_heads": "heads",
    "intermediate_size": "inner",
}
OF_MATCHING = {"embedding_size": "width"}
OF_TRANSLATION = {
    f"{side}_{option}": attribute
    for side in ("encoder", "decoder")
    for option, attribute in (
        ("embed_dim", "width"),
        ("ffn_embed_dim", "inner"),
        ("layers", "layers"),
        ("attention_heads", "heads"),
    )
}
CRITERIONS = {
    "word_labels": criterions.SequenceLabelingCriterion,
    "spans": criterions.ExtractiveQACriterion,
    "entities": criterions.MrcNerCriterion,
}


def _understanding(case: Case, sizes: Sizes, dropout: float, seed: int) -> Trial:
    """Build a model of texts as `TextKind` does, without a folder."""
    family, kind = (
        FAMILIES[case.family],
        next(k for k in TEXT_KINDS if case.arch in k.architectures),
    )
    vocabulary: Any = Subwords(family, sizes.vocabulary)
    labels = () if case.target == "score" else CLASSES
    cfg = Namespace(_name=case.arch, target=case.target, labels=json.dumps(labels))
    own = OF_TEXTS if kind.options is BertOptions else OF_TEXTS | OF_MATCHING
    write(cfg, pretrained="none", dropout=dropout, **sizes.given(**own), **case.options)
    write(cfg, max_position_embeddings=max(512, sizes.longest + 2))
    kind.resolve(cfg)
    if kind.options is BertOptions:
        write(cfg, family=family.name, attention_dropout=dropout)
        write(cfg, **bert_plan.constants(merged(cfg, kind.options), None, family))
    plan = kind.plan(cfg)
    needs = plan.needs
    drawn = Draw(
        vocabulary,
        *(sizes.batch, sizes.shortest, sizes.longest),
        layers=needs.reads(training=True),
        words=needs.words,
        texts=case.texts,
        target=case.target,
    )
    model = kind.make(plan, vocabulary, [*KNOWN.values()])
    return Trial(model, drawn.sample(seed), _criterion(case.target))


def _criterion(target: str) -> Any:
    cls = CRITERIONS.get(target, criterions.TextClassificationCriterion)
    named = ENTITIES if target == "entities" else CLASSES
    task = SimpleNamespace(
        NAME=cls.NAME,
        manifest=SimpleNamespace(target=target, labels=[*named]),
        target=target_of(target),
        scoring={"positive": "1"},
        cfg=SimpleNamespace(autocast="none"),
    )
    return cls(task)


def _translation(case: Case, sizes: Sizes, dropout: float, seed: int) -> Trial:
    """Build a model of translation as its task does, without a folder."""
    words = dictionary(sizes.vocabulary)
    factored = "target_features" in case.options
    task = SimpleNamespace(
        source_dictionary=words,
        target_dictionary=words,
        source_layers=[KNOWN[name] for name in SOURCE],
        target_layers=[KNOWN[name] for name in TARGET] if factored else [],
    )
    cfg = Namespace(_name=case.arch, dropout=dropout, attention_dropout=dropout)
    write(cfg, **sizes.given(**OF_TRANSLATION), **case.options)
    layers = task.source_layers, "", task.target_layers
    SyntaxTransformerModel.complete_config(cfg, *layers)
    model = SyntaxTransformerModel.build_model(cfg, task)
    sample = parallel_sample(task, sizes.batch, sizes.shortest, sizes.longest, seed)
    return Trial(model, sample, criterions.FactoredCrossEntropy(task, False, 0.1))

"""Small BERT models, built as fairseq builds them."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from types import SimpleNamespace
from typing import Any

import torch
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY
from trees import context_of

from fairseq_plugins.data.text_inputs import check_needs
from fairseq_plugins.models.bert import BertModel
from fairseq_plugins.pretrained.families import FAMILIES, Family
from fairseq_plugins.pretrained.vocabulary import Vocabulary
from fairseq_plugins.syntax.layers import LAYERS
from fairseq_plugins.targets.table import TARGETS

VOCABULARY = "".join(f"{w}\n" for w in ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh"]).encode()
QUIET = {"dropout": 0.0, "attention_dropout": 0.0}
SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 24,
}


class FewSubwords:
    """A vocabulary of ids alone, padded as a family pads."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.pad = int(family.row.separators == 2)

    def __len__(self) -> int:
        return 12


def manifest(**changes):
    values = {
        "target": "classes",
        "labels": ["0", "1"],
        "annotations": ["pos", "heads", "similarity"],
        "annotator_id": "en_small 1 abc",
        "options": {"pretrained": "none"},
        "sentences": 1,
        "family": FAMILIES["bert"],
    }
    values |= changes
    values["target_kind"] = TARGETS[values["target"]]
    return SimpleNamespace(**values, layers=["case", "subword", *values["annotations"]])


def options(arch="bert_plain", **given) -> Namespace:
    """Options as fairseq's command line leaves them."""
    parser = ArgumentParser(argument_default=SUPPRESS)
    ARCH_MODEL_REGISTRY[arch].add_args(parser)
    line = [f"--{k.replace('_', '-')}={v}" for k, v in given.items()]
    args = parser.parse_args(line)
    args.arch = args._name = arch
    ARCH_CONFIG_REGISTRY[arch](args)
    return args


def text_task(known: Any) -> SimpleNamespace:
    """Stand in for a task: what a model asks it; of a vocabulary, its bytes or a dictionary."""
    if isinstance(known, bytes):
        known = Vocabulary(known)
    dictionary = known if hasattr(known, "vocabulary") else SimpleNamespace(vocabulary=known)
    layers = [layer for layer in LAYERS.values() if not layer.is_open]
    return SimpleNamespace(source_dictionary=dictionary, layers=layers)


def build(
    arch="bert_plain", about=None, vocabulary=VOCABULARY, seed: int = 1, **given
) -> BertModel:
    cfg = options(arch, **{**SMALL, **given})
    about = about or manifest()
    needs = BertModel.complete_config(cfg, about).needs
    check_needs(needs, about, "the data folder", training=True)
    torch.manual_seed(seed)
    is_bert = about.family.name == "bert"
    known = Vocabulary(vocabulary) if is_bert else FewSubwords(about.family)
    return BertModel.build_model(cfg, text_task(known)).eval()


def net_input(rows, *, factors=False, pad=0) -> dict[str, torch.Tensor]:
    """Make a batch of random tokens with all that a model may read."""
    context = context_of(rows)
    padding = context.layout.padding_mask
    generator = torch.Generator().manual_seed(3)
    tokens = torch.randint(4, 12, padding.shape, generator=generator).masked_fill(padding, pad)
    sample = {"src_tokens": tokens, "segments": context.segments}
    sample |= {"word_of": context.words, "heads": context.heads}
    if factors:
        ids = torch.randint(1, 7, (*padding.shape, 1), generator=generator)
        sample["src_factors"] = ids.masked_fill(padding[..., None], 0)
    words = context.heads.shape[1]
    sample["similarity"] = torch.rand(len(rows), words, words, generator=generator)
    return sample


def loud(model: BertModel, gate_bias: float | None = None) -> BertModel:
    """Give a model weights that matter, the same to parts of one name."""
    for name, parameter in model.named_parameters():
        if gate_bias is not None and name.endswith("gate.bias"):
            parameter.data.fill_(gate_bias)
            continue
        generator = torch.Generator().manual_seed(sum(name.encode()))
        parameter.data.normal_(std=0.5, generator=generator)
    return model


def added(arch: str, about=None, **given) -> int:
    """Parameters beside those of plain BERT, counted without memory for them."""
    size = arch.rpartition("_")[2]
    counts = []
    for name, own in ((arch, given), (f"bert_plain_{size}", {})):
        cfg = options(name, **own)
        BertModel.complete_config(cfg, about or manifest())
        with torch.device("meta"):
            task = text_task(VOCABULARY)
            counts.append(BertModel.build_model(cfg, task).parameter_counts())
    assert counts[0]["attention"] == counts[0]["model"] - counts[1]["model"]
    return counts[0]["attention"]

"""Small BERT models, built as fairseq builds them."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, Namespace
from types import SimpleNamespace

import torch
from fairseq.models import ARCH_CONFIG_REGISTRY, ARCH_MODEL_REGISTRY

from fairseq_plugins.data.bert_dictionary import BertDictionary
from fairseq_plugins.models.bert import BertModel

VOCABULARY = "".join(f"{w}\n" for w in ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh"]).encode()
SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 24,
}


def manifest(**changes):
    values = {
        "target": "classes",
        "labels": ["0", "1"],
        "annotations": ["pos", "heads", "similarity"],
        "annotator_id": "en_small 1 abc",
        "options": {"pretrained": "none"},
        "sentences": 1,
    }
    return SimpleNamespace(**{**values, **changes})


def options(arch="bert_plain", **given) -> Namespace:
    """Options as fairseq's command line leaves them."""
    parser = ArgumentParser(argument_default=SUPPRESS)
    ARCH_MODEL_REGISTRY[arch].add_args(parser)
    line = [f"--{k.replace('_', '-')}={v}" for k, v in given.items()]
    args = parser.parse_args(line)
    args.arch = args._name = arch
    ARCH_CONFIG_REGISTRY[arch](args)
    return args


def build(arch="bert_plain", about=None, vocabulary=VOCABULARY, **given) -> BertModel:
    cfg = options(arch, **{**SMALL, **given})
    BertModel.complete_config(cfg, about or manifest())
    torch.manual_seed(1)
    return BertModel.build_model(
        cfg, SimpleNamespace(source_dictionary=BertDictionary(vocabulary))
    ).eval()

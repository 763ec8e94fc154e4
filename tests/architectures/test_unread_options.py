"""What no part of a new model reads is refused, for every option that a part alone reads."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace

import pytest
from bert_models import build, options
from fairseq_plugins.architectures.options import merged
from fairseq_plugins.architectures.unread_options import OF_BERT, OF_MATCHING, check_read

from fairseq_plugins.architectures.bert_options import ARCHITECTURES, BEFORE, BertOptions
from fairseq_plugins.architectures.matching_options import KINDS, MatchingOptions
from fairseq_plugins.errors import InputError
from fairseq_plugins.models import matching
from fairseq_plugins.models.bert import BertModel

OTHERS = {  # a value that is no default and no preset
    "tree_neighbours": "none", "tree_open": "punctuation", "window_unit": "words",
    "local_layers": "0", "ancestor_mask": "span", "ancestor_mix": "fixed",
    "feature_merge": "affine",
    "feature_init": "zero", "difference": "l2", "difference_scope": "cross", "guide": "concat",
    "fusion_output": "replace", "fusion_init": "zero", "semantic_pooling": "first",
    "coattention": "literal", "coattention_skip": "highway", "coattention_control": "plain-layers",
    "local_convolutions": "shared", "merge_activation": "gelu", "pair_encoding": "siamese",
}  # fmt: skip
# of two a value of older releases is the only other one, and is let pass: it may stand anywhere
BERT_NAMES = [name for part in OF_BERT for name in part.reads if name not in BEFORE]
HAVING = {  # part -> an architecture that has it
    "sla": "bert_sla_tiny",
    "wla": "bert_wla_tiny",
    "local attention": "bert_sla_tiny",
    "feature": "bert_pos_tiny",
    "SGNet layer": "bert_sgnet_tiny",
    "dual attention": "dabert_tiny",
    "SemBERT layer": "bert_sembert_tiny",
    "coattention": "bertqa_tiny",
}


def other(name, kind):
    """Return a value of an option that is not its default."""
    default = {one.name: one.default for one in fields(kind)}[name]
    return OTHERS[name] if name in OTHERS else (default or 0) + 3


@pytest.mark.parametrize("name", BERT_NAMES)
def test_a_plain_bert_refuses_what_only_an_added_part_reads(name):
    flag = f"--{name.replace('_', '-')}"
    with pytest.raises(InputError, match=f"{flag} .*: this model has no .* nothing would read it"):
        build("bert_plain_tiny", **{name: other(name, BertOptions)})


@pytest.mark.parametrize("part", OF_BERT, ids=lambda part: part.name)
def test_a_model_that_has_the_part_takes_its_options(part):
    for name in (name for name in part.reads if name not in BEFORE):
        cfg = options(HAVING[part.name], **{name: other(name, BertOptions)})
        BertModel.resolve(cfg)
        check_read(merged(cfg, BertOptions), [part], {})


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_what_an_architecture_says_itself_is_no_fault(arch):
    cfg = options(arch)
    BertModel.resolve(cfg)
    check_read(merged(cfg, BertOptions), OF_BERT, ARCHITECTURES[arch])


@pytest.mark.parametrize("arch", KINDS)
def test_a_matcher_takes_its_own_options_alone(arch):
    cfg = SimpleNamespace(_name=arch)
    matching.resolve(cfg)
    check_read(merged(cfg, MatchingOptions), OF_MATCHING, matching.presets_of(cfg))
    refused = 0
    for name in (name for part in OF_MATCHING for name in part.reads):
        given = SimpleNamespace(**{**vars(cfg), name: other(name, MatchingOptions)})
        try:
            check_read(merged(given, MatchingOptions), OF_MATCHING, matching.presets_of(cfg))
        except ValueError:
            refused += 1
    own = {"esim": 0, "bimpm": 1, "cafe": 1, "pair_transformer": 4}[arch]
    assert refused == sum(len(part.reads) for part in OF_MATCHING) - own

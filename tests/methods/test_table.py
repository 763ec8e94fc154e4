"""Methods: each is read, checked and refused by itself, and a start reads each of them once."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from dataclasses import fields, replace
from functools import wraps
from typing import Any

import pytest
from bert_models import SMALL, VOCABULARY, build, manifest, options, text_task
from fairseq import models
from omegaconf import OmegaConf

from fairseq_plugins.architectures import matching_options, text_kinds
from fairseq_plugins.architectures.text_kinds import BERT, MATCHING
from fairseq_plugins.errors import InputError
from fairseq_plugins.methods import plan
from fairseq_plugins.methods.method import Method
from fairseq_plugins.methods.table import METHODS
from fairseq_plugins.models import _texts as texts
from fairseq_plugins.models._bert_config import BertConfig
from fairseq_plugins.models.bert import BertModel
from fairseq_plugins.nn.bert import BertShape
from fairseq_plugins.option_flags import flag_of
from fairseq_plugins.syntax.controls import CONTROLS

OTHERS = {  # a value that is no default and no preset
    "tree_neighbours": "none", "tree_open": "punctuation", "window_unit": "words",
    "local_layers": "0", "ancestor_mask": "span", "ancestor_mix": "fixed",
    "feature_merge": "affine", "ablate": "guide", "dual_control": "second-affinity",
    "feature_init": "zero", "difference": "l2", "difference_scope": "cross", "guide": "concat",
    "fusion_output": "replace", "fusion_init": "zero", "semantic_pooling": "first",
    "coattention": "literal", "coattention_skip": "highway", "coattention_control": "plain-layers",
    "local_convolutions": "shared", "merge_activation": "gelu", "pair_encoding": "siamese",
}  # fmt: skip
# of two values that of older releases is the only other one, and is let pass: it stands anywhere
BEFORE = {name for method in METHODS for name in method.before}
UNREAD = [
    (name, called)
    for method in BERT.plan(Namespace(_name="bert_plain_tiny")).methods
    for called, names in method.unread()
    for name in names
    if name not in BEFORE
]
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


def other(name: str, kind: Any) -> Any:
    """Return a value of an option that is not its default."""
    default = {one.name: one.default for one in fields(kind.options)}[name]
    return OTHERS[name] if name in OTHERS else (default or 0) + 3


@pytest.mark.parametrize(("name", "called"), UNREAD)
def test_what_one_part_alone_reads_is_refused_without_it(name, called):
    given = {name: other(name, BERT)}
    with pytest.raises(InputError, match=f"{flag_of(name)} .*: this model has no {called} "):
        build("bert_plain_tiny", **given)
    arch = HAVING[called]
    BERT.plan(Namespace(_name=arch, **given)).check_read(BERT.architectures[arch])


@pytest.mark.parametrize("arch", [*BERT.architectures, *MATCHING.architectures])
def test_what_an_architecture_says_itself_is_no_fault(arch):
    kind = text_kinds.kind_of(arch)
    kind.plan(Namespace(_name=arch)).check_read(kind.architectures[arch])


@pytest.mark.parametrize("arch", matching_options.KINDS)
def test_a_matcher_takes_its_own_options_alone(arch):
    methods = MATCHING.plan(Namespace(_name=arch)).methods
    names = {name for method in methods for _, own in method.unread() for name in own}
    for name in names:
        given = Namespace(_name=arch, **{name: other(name, MATCHING)})
        with pytest.raises(InputError, match=f"{flag_of(name)} .*: this model has no "):
            MATCHING.plan(given).check_read(MATCHING.architectures[arch])
    own = {"esim": 0, "bimpm": 1, "cafe": 1, "pair_transformer": 4}[arch]
    assert len(names) == 3 + 6 - own  # those of features, and those of the matchers


@pytest.mark.parametrize("kind", [BERT, MATCHING], ids=lambda kind: kind.family)
def test_every_option_of_a_method_has_one_owner_and_what_is_read_around_exists(kind):
    flags = {one.name for one in fields(kind.options)}
    own = [one.name for method in kind.methods for one in fields(method) if one.metadata]
    assert len(own) == len({*own})
    assert {one.name for method in kind.methods for one in fields(method)} <= flags


def test_two_methods_at_one_place_are_refused():
    plan = BERT.plan(Namespace(_name="bert_sgnet_tiny"))
    twice = replace(plan, methods=(*plan.methods, *plan.methods))
    with pytest.raises(InputError, match="--ancestor-layers 1 and --ancestor-layers 1: a model"):
        twice.made(lambda one: one.top(BertShape(12, 16, 1, 2, 24)))


@pytest.mark.parametrize("name", ["dual_layers", "similarity_layers"])
def test_layers_that_are_empty_text_are_no_layers_that_are_named(name):
    with pytest.raises(InputError, match=f"{flag_of(name)} '': say 'all', or numbers"):
        BERT.plan(Namespace(_name="bert_plain_tiny", **{name: ""}))


@pytest.fixture
def own_architecture(monkeypatch):
    """A user's architecture, in fairseq's tables for this test alone."""
    for table in ("ARCH_MODEL_REGISTRY", "ARCH_MODEL_NAME_REGISTRY", "ARCH_CONFIG_REGISTRY"):
        monkeypatch.setattr(models, table, dict(getattr(models, table)))
    monkeypatch.setattr(texts, "ARCH_CONFIG_REGISTRY", models.ARCH_CONFIG_REGISTRY)

    def own(args: Any) -> None:
        args.local_attention = "sla"

    models.ARCH_CONFIG_REGISTRY["bert_own"] = own
    return "bert_own"


def test_a_users_architecture_is_applied_and_its_options_are_not_judged(own_architecture):
    cfg = OmegaConf.structured(BertConfig(_name=own_architecture, **SMALL))
    assert BertModel.complete_config(cfg, manifest()).needs.layers == ("heads",)
    BertModel.check_options({"arch": own_architecture, "tree_threshold": 3})
    with pytest.raises(InputError, match="--tree-threshold 3: this model has no sla"):
        BertModel.check_options({"arch": "bert_plain", "tree_threshold": 3})


def test_a_model_of_ones_own_says_what_to_override():
    with pytest.raises(TypeError, match="Own: override of_plan in place of build_model"):
        type("Own", (BertModel,), {"build_model": classmethod(lambda cls, cfg, task: None)})


def test_every_control_is_known_where_runs_are_compared():
    flags = {one.name for one in fields(BERT.options)}
    assert {name for name in flags if name.endswith(("_source", "_control"))} == {*CONTROLS}


def test_a_start_merges_once_and_reads_and_asks_each_method_once(monkeypatch):
    seen: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        @wraps(real)
        def counted(*args: Any, **how: Any) -> Any:
            seen[name] += 1
            return real(*args, **how)

        monkeypatch.setattr(owner, name, counted)

    count(text_kinds, "merged")
    count(plan, "controls_of")
    count(text_kinds.TextKind, "resolve")
    read = Method.of.__func__

    def of(cls: type[Method], args: Any) -> Method:
        seen[cls.__name__] += 1
        return read(cls, args)

    monkeypatch.setattr(Method, "of", classmethod(of))
    made = BertModel.complete_config(options("bert_sla_tiny"), manifest())
    BertModel.of_plan(made, text_task(VOCABULARY))
    once = ("merged", "controls_of", "resolve", *(method.__name__ for method in METHODS))
    assert seen == Counter(once)

"""``bert_sla`` and its rivals: options become parts, parts combine, checkpoints carry them."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import torch
from bert_models import (
    QUIET,
    SMALL,
    VOCABULARY,
    added,
    build,
    loud,
    manifest,
    net_input,
    options,
    text_task,
)
from fairseq.models import ARCH_MODEL_REGISTRY
from trees import Row, on_an_accelerator, random_heads

from fairseq_plugins.architectures.bert_options import KINDS, SIZES
from fairseq_plugins.errors import InputError
from fairseq_plugins.models.bert import BertModel
from fairseq_plugins.nn.attention import GlobalMixer
from fairseq_plugins.nn.local_attention import LocalMixer
from fairseq_plugins.nn.tree_masks import AncestorRule, TreeRule, WindowRule
from fairseq_plugins.syntax.needs import Needs

KINDS_OF_SYNTAX = ["bert_sla", "bert_sla_released", "bert_wla", "bert_lisa", "bert_sgnet"]
KINDS_OF_SYNTAX += ["bert_syntax_masks"]
SIGNS = VOCABULARY.replace(b"b\nc\n", b".\n,\n")  # two letters become signs
ROWS = [Row(list(range(12))), Row([0, 1], [2, 0])]  # a chain is longer than any default reaches


@pytest.mark.parametrize("kind", KINDS_OF_SYNTAX)
def test_every_kind_has_every_size(kind):
    assert {kind, *(f"{kind}_{size}" for size in SIZES)} <= set(ARCH_MODEL_REGISTRY)
    others = {"bert_plain", "bert_pos", "bert_sembert", "bert_uer", "dabert", "dabert_literal"}
    others |= {"bertqa", "bertqa_literal", "bert_mrc", "bert_mrc_released"}
    assert set(KINDS) == {*others, *KINDS_OF_SYNTAX}


@pytest.mark.parametrize(
    ("kind", "base", "large"),
    [
        ("bert_sla", 9_228, 24_600),
        ("bert_sla_released", 9_228, 24_600),
        ("bert_wla", 9_228, 24_600),
        ("bert_lisa", 0, 0),
        ("bert_sgnet", 7_087_875, 12_596_227),
        ("bert_syntax_masks", 3 * 9_228, 3 * 24_600),
    ],
)
def test_added_parameters_are_the_papers(kind, base, large):
    assert added(f"{kind}_base") == base
    assert added(f"{kind}_large") == large


def test_architectures_are_values_of_one_model():
    spelled = build(local_attention="sla", tree_threshold=2)
    named = build("bert_sla", tree_threshold=2)
    inputs = net_input(ROWS)
    assert torch.equal(spelled(**inputs)[0], named(**inputs)[0])
    window = build(local_attention="wla", window=2)
    rules = [m.encoder.layers[0].attention.mixer.rules for m in (named, window)]
    assert rules == [(TreeRule(2),), (WindowRule(2),)]


def test_what_a_model_reads_follows_from_its_parts():
    needs = {kind: build(kind).needs for kind in ["bert_plain", *KINDS_OF_SYNTAX]}
    assert [kind for kind, found in needs.items() if found.words] == KINDS_OF_SYNTAX
    learnt = {kind for kind, found in needs.items() if found.reads(training=True) == ("heads",)}
    assert needs.keys() - learnt == {"bert_plain", "bert_wla"}
    answered = {kind for kind, found in needs.items() if found.reads(training=False)}
    assert learnt - answered == {"bert_lisa"}


def test_every_option_reaches_its_part():
    values = {"tree_threshold": 2, "tree_neighbours": "none", "window": 3, "window_unit": "words"}
    values |= {"gate_bias_init": -1.5, "attention_dropout": 0.3, "ancestor_layers": 2}
    values |= {"local_dropout": "mixture"}
    values |= {
        "tree_open": "punctuation",
        "ancestor_mask": "released",
        "ancestor_pairs": "open",
        "ancestor_mix": "fixed",
    }
    encoder = build(local_attention="wla,sla", **values).encoder
    mixers = [layer.attention.mixer for layer in [*encoder.layers, *encoder.top.layers]]
    assert mixers[0].rules == (
        WindowRule(3, "words"),
        TreeRule(2, "none", "punctuation"),
    )
    assert mixers[0].gate.bias.tolist() == [-1.5, -1.5]
    assert [mixer.rules for mixer in mixers[3:]] == [(AncestorRule("released", "open"),)] * 2
    assert {mixer.dropout.p for mixer in mixers} == {0.3}
    assert [mixer.separate for mixer in mixers[:3]] == [False] * 3
    assert build("bert_sla").encoder.layers[0].attention.mixer.separate
    assert [mixer.layer for mixer in mixers[:3]] == [0, 1, 2]
    assert encoder.top.mix is None
    top = build("bert_sgnet").encoder.top
    assert top.mix is not None
    assert top.layers[0].attention.mixer.rules == (AncestorRule(),)


def test_the_released_architecture_is_its_options(caplog):
    """Given options count; where Hydra has filled in defaults, the log names them."""
    model = build("bert_sla_released", vocabulary=SIGNS)
    mixer = model.encoder.layers[0].attention.mixer
    assert mixer.rules == (TreeRule(3, "asymmetric", "punctuation"),)
    assert mixer.separate
    spelled = build("bert_sla", tree_threshold=3, tree_open="punctuation", vocabulary=SIGNS)
    inputs = net_input(ROWS)
    assert torch.equal(model(**inputs)[0], spelled(**inputs)[0])
    assert not torch.equal(model(**inputs)[0], build("bert_sla")(**inputs)[0])
    assert "presets" not in caplog.text
    other = build("bert_sla_released", tree_threshold=2, tree_open="none")
    assert other.encoder.layers[0].attention.mixer.rules == (TreeRule(2),)
    assert "bert_sla_released presets --tree-threshold 3, this model has 2" in caplog.text
    assert "bert_sla_released presets --tree-open punctuation, this model has none" in caplog.text


@pytest.mark.parametrize("kind", ["sla", "sla,wla"])
def test_open_punctuation_is_that_of_the_vocabulary(kind):
    """Nothing changes where there is none, and nothing of it is in the weights."""
    inputs, answers = net_input(ROWS), {}
    words = {"word_rows": torch.arange(1, 13)}
    tagging = manifest(target="word_labels")
    for name, vocabulary in (("signs", SIGNS), ("letters", VOCABULARY)):
        for value in ("none", "punctuation"):
            given = {"local_attention": kind, "tree_threshold": 1, "tree_open": value}
            model = loud(build(about=tagging, vocabulary=vocabulary, **given))
            answers[name, value] = model(**inputs, **words)[0]
            assert not any("punctuation" in key for key in model.state_dict())
    assert torch.equal(answers["letters", "none"], answers["letters", "punctuation"])
    assert torch.equal(answers["letters", "none"], answers["signs", "none"])
    assert not torch.allclose(answers["signs", "none"], answers["signs", "punctuation"], atol=1e-3)


def test_open_punctuation_is_the_same_in_padded_batches(monkeypatch):
    """Alone, without padding, and in one padded block, as on an accelerator."""
    model = loud(build("bert_sla_released", vocabulary=SIGNS, tree_threshold=1, **QUIET))
    plain = loud(build("bert_sla", vocabulary=SIGNS, tree_threshold=1, **QUIET))
    inputs = net_input(ROWS)
    wanted = model(**inputs)[0]
    assert not torch.allclose(wanted, plain(**inputs)[0], atol=1e-3)
    for number, row in enumerate(ROWS):
        alone = net_input([row])
        alone["src_tokens"] = inputs["src_tokens"][number : number + 1, : len(row.words)]
        torch.testing.assert_close(model(**alone)[0], wanted[number : number + 1])
    on_an_accelerator(monkeypatch)
    torch.testing.assert_close(model(**inputs)[0], wanted)
    half = model.bfloat16()
    assert half.encoder.punctuation.dtype == torch.bool


@pytest.mark.parametrize(("layers", "changes"), [(2, True), (1, False)])
def test_ancestor_pairs_change_what_pairs_are_told(layers, changes):
    """Not by one layer what [CLS] says, which sees all tokens and no word's new state."""
    pairs, singles = [Row(random_heads(4, 1), random_heads(5, 2))], [Row(random_heads(9, 3))]
    for rows, differ in ((pairs, changes), (singles, False)):
        found = [
            loud(build("bert_sgnet", ancestor_layers=layers, ancestor_pairs=value))(
                **net_input(rows)
            )[0]
            for value in ("closed", "open")
        ]
        assert torch.equal(*found) is not differ


def test_local_attention_in_some_layers_leaves_the_others_plain():
    model = build("bert_sla", local_layers="0,2")
    kinds = [type(layer.attention.mixer) for layer in model.encoder.layers]
    assert kinds == [LocalMixer, GlobalMixer, LocalMixer]
    gates = model(**net_input(ROWS))[1]["gates"]
    assert sorted(gates) == [0, 2]


@pytest.mark.parametrize("kind", KINDS_OF_SYNTAX)
def test_every_new_parameter_learns_and_every_kind_differs_from_plain_bert(kind):
    tagging = manifest(target="word_labels")
    model, plain = loud(build(kind, tagging, **QUIET)), loud(build("bert_plain", tagging, **QUIET))
    state = plain.state_dict()
    inputs = {**net_input(ROWS), "word_rows": torch.arange(1, 13)}
    logits, extra = model(**inputs)
    alike = torch.allclose(logits, plain(**inputs)[0])
    assert alike is (kind == "bert_lisa")  # a loss alone
    (logits.square().sum() + sum(extra["losses"].values())).backward()
    new = {name: p for name, p in model.named_parameters() if name not in state}
    assert bool(new) is (kind != "bert_lisa")
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in new.values()), new.keys()


def test_the_last_gate_learns_nothing_where_only_cls_is_read():
    """[CLS] sees all tokens locally as well, so there its two attentions are one."""
    model = loud(build("bert_sla", **QUIET))
    model(**net_input(ROWS))[0].square().sum().backward()
    gates = [layer.attention.mixer.gate for layer in model.encoder.layers]
    assert [bool(gate.weight.grad.abs().sum() > 0) for gate in gates] == [True, True, False]


def test_a_gate_that_starts_closed_is_plain_bert():
    plain = loud(build(**QUIET))
    model = loud(build("bert_sla", **QUIET), gate_bias=float("-inf"))
    inputs = net_input(ROWS)
    torch.testing.assert_close(model(**inputs)[0], plain(**inputs)[0], atol=1e-6, rtol=0)
    tables = [m(**inputs, need_weights=True)[1]["attention"] for m in (model, plain)]
    assert all(torch.equal(a, b) for a, b in zip(*tables))
    half = loud(build("bert_sla", **QUIET), gate_bias=0.0)
    assert not torch.allclose(half(**inputs)[0], plain(**inputs)[0], atol=1e-3)


def test_features_trees_windows_supervision_and_ancestors_meet_in_one_encoder():
    model = build(
        "bert_sla",
        features="pos",
        local_attention="sla,wla,child",
        parent_loss_weight=0.5,
        ancestor_layers=2,
        **QUIET,
    )
    inputs = net_input(ROWS, factors=True)
    logits, extra = model(**inputs, need_weights=True)
    assert len(extra["attention"]) == SMALL["num_hidden_layers"] + 2
    assert extra["gates"][0].shape == (int(inputs["src_tokens"].ne(0).sum()), 3)
    (logits.sum() + extra["losses"]["parent"]).backward()
    frozen = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert not frozen


def test_the_parent_loss_is_weighed_and_averaged_over_layers():
    inputs = net_input(ROWS)
    once, twice = (
        build("bert_lisa", parent_loss_weight=w, **QUIET)(**inputs)[1]["losses"]["parent"]
        for w in (1.0, 2.0)
    )
    torch.testing.assert_close(twice, 2 * once)
    del inputs["heads"]
    assert build("bert_lisa", **QUIET)(**inputs)[1]["losses"] == {}


@pytest.mark.parametrize("kind", KINDS_OF_SYNTAX)
def test_batch_equals_single(kind):
    model, inputs = build(kind), net_input(ROWS)
    width = len(ROWS[0].words)
    alone = net_input([ROWS[0]])
    alone["src_tokens"] = inputs["src_tokens"][:1, :width]
    wanted = model(**alone)[0]
    torch.testing.assert_close(model(**inputs)[0][:1], wanted)


@pytest.mark.parametrize("kind", KINDS_OF_SYNTAX)
def test_saved_and_loaded_models_agree(kind, tmp_path):
    model = build(kind)
    torch.save(model.state_dict(), tmp_path / "model.pt")
    other = build(kind)
    for parameter in other.parameters():
        parameter.data.normal_()
    other.load_state_dict(torch.load(tmp_path / "model.pt", weights_only=True))
    assert torch.equal(model(**net_input(ROWS))[0], other(**net_input(ROWS))[0])


def test_gates_of_frozen_layers_learn():
    model = build("bert_sla", manifest(target="word_labels"), freeze_layers=3, **QUIET)
    model(**net_input(ROWS), word_rows=torch.arange(1, 13))[0].square().sum().backward()
    layers = dict(model.encoder.layers.named_parameters())
    learning = {name for name, p in layers.items() if p.grad is not None}
    assert learning == {name for name in layers if ".gate." in name}
    assert len(learning) == 2 * 3


@pytest.mark.parametrize("arch", [*KINDS_OF_SYNTAX, "bert_pos"])
def test_a_plain_checkpoint_starts_any_kind(arch, caplog):
    """New parts start as they are; a checkpoint that has a part must have it whole."""
    model, plain = build(arch), loud(build())
    own = {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(plain.state_dict())  # as --finetune-from-model does
    for name, value in model.state_dict().items():
        assert torch.equal(value, plain.state_dict().get(name, own[name])), name
    assert ("they start anew" in caplog.text) is (arch != "bert_lisa")
    for name in own.keys() - plain.state_dict().keys():
        damaged = {key: value for key, value in own.items() if key != name}
        if name.startswith("encoder.embeddings.features"):
            continue  # of one tensor
        with pytest.raises(RuntimeError, match=name):
            model.load_state_dict(damaged)


def test_a_checkpoint_of_a_tree_reader_knows_its_parser():
    cfgs = {kind: options(kind, **SMALL) for kind in ["bert_plain", "bert_wla", "bert_sla"]}
    for cfg in cfgs.values():
        BertModel.complete_config(cfg, manifest())
    assert cfgs["bert_sla"].annotator == "en_small 1 abc"
    assert cfgs["bert_plain"].annotator is None
    assert cfgs["bert_wla"].annotator is None


def test_options_survive_a_checkpoint():
    cfg = options("bert_sla", **SMALL, tree_threshold=3, local_layers="1", gate_bias_init=-4)
    BertModel.complete_config(cfg, manifest())
    again = json.loads(json.dumps(vars(cfg), default=str))
    task = text_task(VOCABULARY)
    model = BertModel.build_model(SimpleNamespace(**again), task)
    mixers = [layer.attention.mixer for layer in model.encoder.layers]
    assert mixers[1].rules == (TreeRule(3),)
    assert mixers[1].gate.bias.item() == -4
    assert isinstance(mixers[0], GlobalMixer)


def test_an_older_checkpoint_without_these_options_is_plain():
    cfg = options("bert_plain", **SMALL)
    BertModel.complete_config(cfg, manifest())
    for name in ("local_attention", "parent_loss_weight", "ancestor_layers"):
        delattr(cfg, name)
    task = text_task(VOCABULARY)
    assert BertModel.build_model(cfg, task).needs == Needs()


@pytest.mark.parametrize("kind", ["bert_sla", "bert_lisa", "bert_sgnet", "bert_syntax_masks"])
def test_a_folder_without_parses_is_refused(kind):
    with pytest.raises(InputError, match="prepare it with --layers pos,heads"):
        build(kind, manifest(annotations=["pos"]))
    build("bert_wla", manifest(annotations=[]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tree_threshold": -1}, "--tree-threshold -1: must be at least 0"),
        ({"window": -1}, "--window -1: must be at least 0"),
        ({"local_attention": "tree"}, "'tree': choices are sla, wla, parent, child, sibling, none"),
        ({"local_attention": "sla,sla"}, "names 'sla' twice"),
        ({"local_layers": "0,3"}, "there is no layer 3"),
        ({"local_layers": "first"}, "numbers from 0"),
        ({"parent_loss_weight": -0.5}, "--parent-loss-weight -0.5: must be at least 0"),
        ({"ancestor_layers": -1}, "--ancestor-layers -1: must be at least 0"),
    ],
)
def test_wrong_options_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        build("bert_sla", **given)
